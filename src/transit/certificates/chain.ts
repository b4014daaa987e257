import type { X509Certificate } from 'node:crypto';
import { encodeBase64 } from '../../ground/base64.ts';
import { type CofferError, invalid, ownWords } from '../../ground/errors.ts';
import { pemBlocks } from '../../ground/pem.ts';
import type { Engine } from '../engine.ts';
import type { NamedKeyDocument } from '../key-document.ts';
import { certifiedAlgorithm } from '../key-types/key-pair.ts';
import { changeKey, type NamedKey } from '../named-key.ts';
import {
  attempting,
  certificationOf,
  missingKey,
  namedVersion,
  requireCertifiableKey,
  requireReasonableLength,
} from './certifiable.ts';
import { OTHER_KEY, publicKeyOf, readCertificate, UNREADABLE } from './certificate.ts';

const FIELD = 'certificate_chain';

/**
 * Sets the certificate chain of a version, replacing the previous one. Signatures and validity periods are left to
 * relying parties.
 * @param version undefined for the latest; 0 does not exist
 * @param pem leaf first, then authorities up to a trusted one; other text is skipped
 * @throws `not-found`, `unsupported`; `invalid` for malformed certificates, or ones for another version
 */
export async function setCertificateChain(
  engine: Engine,
  name: string,
  { version, pem }: { readonly version: number | undefined; readonly pem: string },
): Promise<NamedKey> {
  await requireCertifiableKey(engine, name);
  const chain = readChain(pem);
  return changeKey(engine, name, missingKey(name), (key) =>
    attempting('failed to persist certificate chain', FIELD, () => withChain(key, version, chain)),
  );
}

function readChain(pem: string): X509Certificate[] {
  requireReasonableLength(pem, FIELD);
  const { blocks, junkAfter } = pemBlocks(pem);
  if (junkAfter) {
    throw refusal(
      ownWords('could not decode a PEM block in the certificate chain'),
      pem.includes('-----BEGIN ')
        ? 'check that the last PEM block is complete, and that no text follows it'
        : 'use PEM blocks of type CERTIFICATE',
    );
  }
  const chain = blocks
    .filter(({ label }) => label === 'CERTIFICATE')
    .map(({ bytes }) => {
      const certificate = readCertificate(bytes);
      if (certificate === undefined) throw refusal(UNREADABLE, 'it is truncated or damaged');
      return certificate;
    });
  if (chain.length > 0) return chain;
  throw refusal(
    ownWords('provided certificate chain did not contain any valid PEM encoded certificate'),
    'use PEM blocks of type CERTIFICATE',
  );
}

function withChain(
  key: NamedKey,
  wanted: number | undefined,
  chain: readonly X509Certificate[],
): NamedKeyDocument {
  const certification = certificationOf(key);
  requireOrder(chain);
  const version = namedVersion(key, wanted);
  const certified = chain[0] && publicKeyOf(chain[0]);
  const own = certification.publicKey(version.material);
  if (certified === undefined || certified.asymmetricKeyType !== own.asymmetricKeyType) {
    throw refusal(
      `could not validate key match between leaf certificate key and key entry in transit: provided leaf certificate public key algorithm '${certifiedAlgorithm(certified)}' does not match the transit key type '${key.type.name}'`,
      'use a certificate that was issued for this key',
    );
  }
  if (!certified.equals(own)) {
    throw refusal(OTHER_KEY, `use a certificate that was issued for version ${version.number} of this key`);
  }
  const certificateChain = chain.map(({ raw }) => encodeBase64(raw));
  const { document } = key;
  const versions = { ...document.versions, [version.number]: { ...version.document, certificateChain } };
  return { ...document, versions };
}

/** Requires the leaf first, and only authorities after it. */
function requireOrder(chain: readonly X509Certificate[]): void {
  const [leaf, ...authorities] = chain;
  const hint = 'put the certificate of the key first, then that of its issuer, and so on';
  if (leaf?.ca !== false) {
    throw refusal(ownWords('certificate in the first element is not a valid leaf certificate'), hint);
  }
  const last = authorities.at(-1);
  if (last !== undefined && !last.ca) {
    throw refusal(ownWords('certificate in the last element is not a valid CA certificate'), hint);
  }
  if (authorities.some(({ ca }) => !ca)) {
    throw refusal(
      ownWords('could not validate if there is only one leaf certificate in the provided chain'),
      hint,
    );
  }
}

const refusal = (message: string, hint: string): CofferError => invalid(message, { field: FIELD, hint });
