import { encodeBase64 } from '../../ground/base64.ts';
import { type DerValue, der, membersOf, readDer, requireWellFormed, TAG } from '../../ground/der.ts';
import { invalid, ownWords, unsupported } from '../../ground/errors.ts';
import { pemBlocks, printPem } from '../../ground/pem.ts';
import type { Engine } from '../engine.ts';
import type { KeyVersion, NamedKey } from '../named-key.ts';
import { attempting, namedVersion, requireCertifiableKey, requireReasonableLength } from './certifiable.ts';

/** Contents of a request besides the key: DER, with tag and length. */
interface Requested {
  /** Subject, an X.501 `Name`. */
  readonly subject: Uint8Array;
  /** The `[0]` attributes, which contain the extensions. */
  readonly attributes: Uint8Array;
}

const NOTHING: Requested = { subject: der(TAG.sequence), attributes: der(TAG.context0) };
const VERSION_1 = der(TAG.integer, Buffer.from([0]));
const LABEL = 'CERTIFICATE REQUEST';
/** Accepted PEM labels; older programs write the second one. */
const LABELS = [LABEL, `NEW ${LABEL}`];

/**
 * Creates a certificate request (PKCS #10, RFC 2986) for one version of a key, signed with it.
 * @param version undefined for the latest; 0 does not exist
 * @param template request in PEM whose subject and attributes are copied byte for byte; empty for an empty subject. Its
 * key and signature are ignored.
 * @returns PEM, with a newline at the end
 * @throws `not-found`, `unsupported`; `invalid` for the template, or if there is no such version
 * @see docs/decisions/0129
 */
export async function certificateRequest(
  engine: Engine,
  name: string,
  { version, template }: { readonly version: number | undefined; readonly template: string },
): Promise<{ readonly key: NamedKey; readonly version: number; readonly pem: string }> {
  const { key, certification } = await requireCertifiableKey(engine, name);
  const requested = template.trim() === '' ? NOTHING : readTemplate(template);
  const attempt = 'could not create the csr';
  const chosen = attempting(attempt, 'version', () => requirePrivate(namedVersion(key, version)));
  const { material } = chosen;
  const publicKey = certification.publicKey(material).export({ format: 'der', type: 'spki' });
  const info = der(TAG.sequence, VERSION_1, requested.subject, publicKey, requested.attributes);
  const algorithm = certification.algorithm ?? algorithmOf(publicKey);
  const signature = await certification.sign(material, info);
  const request = der(TAG.sequence, info, algorithm, der(TAG.bitString, Buffer.from([0]), signature));
  return { key, version: chosen.number, pem: `${printPem(LABEL, encodeBase64(request))}\n` };
}

/**
 * Requires the private key of a version.
 * @throws `unsupported` if only the public key was imported
 */
function requirePrivate(version: KeyVersion): KeyVersion {
  if (version.hasSecret) return version;
  throw unsupported(ownWords('private key not imported for key version selected'), {
    hint: 'only the public key of this version was imported; import its private key',
  });
}

/**
 * Returns the algorithm identifier of a public key, which is also that of its signatures (RFC 8410, RFC 9881, RFC
 * 9909).
 */
const algorithmOf = (publicKeyInfo: Buffer): Uint8Array => {
  const [algorithm] = membersOf(readDer(publicKeyInfo), TAG.sequence);
  if (algorithm === undefined) throw new TypeError('a public key without an algorithm');
  return algorithm.bytes;
};

const TEMPLATE_HINT = 'use a CSR in PEM, e.g. from "openssl req -new"';

function readTemplate(text: string): Requested {
  requireReasonableLength(text, 'csr');
  const [block] = pemBlocks(text).blocks;
  if (block === undefined || !LABELS.includes(block.label)) {
    throw invalid(ownWords('could not decode PEM CSR'), { field: 'csr', hint: TEMPLATE_HINT });
  }
  return attempting('could not parse the csr', 'csr', () => readRequest(block.bytes));
}

/**
 * Parses a request. Its signature is not verified: it is for another key.
 * @throws `invalid` if it is malformed
 */
function readRequest(bytes: Buffer): Requested {
  const [info, algorithm, signature, ...more] = membersOf(readDer(bytes), TAG.sequence);
  const [version, subject, publicKey, attributes, ...others] = membersOf(info, TAG.sequence);
  const fits =
    version !== undefined &&
    VERSION_1.equals(version.bytes) &&
    subject?.tag === TAG.sequence &&
    publicKey?.tag === TAG.sequence &&
    algorithm?.tag === TAG.sequence &&
    signature?.tag === TAG.bitString &&
    more.length + others.length === 0;
  if (!fits) throw invalid(ownWords('asn1: not a certificate request'));
  requireName(subject);
  // Some programs omit empty attributes.
  if (attributes === undefined) return { ...NOTHING, subject: subject.bytes };
  requireAttributes(attributes);
  return { subject: subject.bytes, attributes: attributes.bytes };
}

/** Requires a `Name`: `SEQUENCE OF SET OF SEQUENCE { type, value }` (RFC 5280, 4.1.2.4). */
function requireName(name: DerValue): void {
  for (const relative of membersOf(name, TAG.sequence)) {
    for (const pair of membersOf(relative, TAG.set)) requireTyped(pair);
  }
}

/** Requires attributes: `[0] SET OF SEQUENCE { type, values SET }`. */
function requireAttributes(attributes: DerValue): void {
  for (const attribute of membersOf(attributes, TAG.context0)) {
    if (requireTyped(attribute).tag !== TAG.set)
      throw invalid(ownWords('asn1: an attribute has no set of values'));
  }
}

/** Requires an object identifier followed by a value, and returns the value. */
function requireTyped(pair: DerValue): DerValue {
  const [type, value, ...more] = membersOf(pair, TAG.sequence);
  if (type?.tag !== TAG.objectIdentifier || value === undefined || more.length > 0) {
    throw invalid(ownWords('asn1: expected an object identifier and a value'));
  }
  requireWellFormed(value);
  return value;
}
