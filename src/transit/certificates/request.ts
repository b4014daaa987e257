import { encodeBase64 } from '../../ground/base64.ts';
import { type DerValue, der, membersOf, readDer, requireWellFormed, TAG } from '../../ground/der.ts';
import { invalid, unsupported } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';
import { pemBlocks, printPem } from '../../ground/pem.ts';
import type { Engine } from '../engine.ts';
import type { KeyVersion, NamedKey } from '../named-key.ts';
import { attempting, namedVersion, requireCertifiableKey, requireReasonableLength } from './certifiable.ts';

/** What a request says beside the key: DER, with tag and length. */
interface Requested {
  /** A `Name`. */
  readonly subject: Uint8Array;
  /** The `[0]` of attributes, in which the extensions are. */
  readonly attributes: Uint8Array;
}

const NOTHING: Requested = { subject: der(TAG.sequence), attributes: der(TAG.context0) };
const VERSION_1 = der(TAG.integer, Buffer.from([0]));
const LABEL = 'CERTIFICATE REQUEST';
/** Older programs put a word in front. */
const LABELS = [LABEL, `NEW ${LABEL}`];

/**
 * A certificate request (PKCS #10, RFC 2986) for one version of a key, signed with it.
 * @param version undefined for the latest; 0 is none.
 * @param template a request in PEM whose subject and attributes are taken over, byte for byte; empty for a request that names
 * nobody. Its key and signature don't matter.
 * @returns PEM, with a newline at the end.
 * @throws `not-found`, `unsupported`; `invalid` for the template, or when there is no such version.
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

/** @throws `unsupported` when only the public key is there. */
function requirePrivate(version: KeyVersion): KeyVersion {
  if (version.hasSecret) return version;
  throw unsupported(ownWords('private key not imported for key version selected'), {
    hint: 'only the public key of this version was imported; import its private key',
  });
}

/** The kind of a public key, which is that of its signatures as well (RFC 8410, RFC 9881, RFC 9909). */
const algorithmOf = (publicKeyInfo: Buffer): Uint8Array => {
  const [algorithm] = membersOf(readDer(publicKeyInfo), TAG.sequence);
  if (algorithm === undefined) throw new TypeError('a public key without an algorithm');
  return algorithm.bytes;
};

const TEMPLATE_HINT = 'give a certificate request in PEM, as "openssl req -new" makes it';

function readTemplate(text: string): Requested {
  requireReasonableLength(text, 'csr');
  const [block] = pemBlocks(text).blocks;
  if (block === undefined || !LABELS.includes(block.label)) {
    throw invalid(ownWords('could not decode PEM CSR'), { field: 'csr', hint: TEMPLATE_HINT });
  }
  return attempting('could not parse the csr', 'csr', () => readRequest(block.bytes));
}

/** @throws `invalid` when it is no request. Its signature is not looked at: it is that of another key. */
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
  if (!fits) throw invalid(ownWords('asn1: it is no certificate request'));
  requireName(subject);
  // Some programs leave the attributes out where there are none.
  if (attributes === undefined) return { ...NOTHING, subject: subject.bytes };
  requireAttributes(attributes);
  return { subject: subject.bytes, attributes: attributes.bytes };
}

/** `SEQUENCE OF SET OF SEQUENCE { type, value }` (RFC 5280, 4.1.2.4). */
function requireName(name: DerValue): void {
  for (const relative of membersOf(name, TAG.sequence)) {
    for (const pair of membersOf(relative, TAG.set)) requireTyped(pair);
  }
}

/** `[0] SET OF SEQUENCE { type, values SET }`. */
function requireAttributes(attributes: DerValue): void {
  for (const attribute of membersOf(attributes, TAG.context0)) {
    if (requireTyped(attribute).tag !== TAG.set)
      throw invalid(ownWords('asn1: an attribute has no set of values'));
  }
}

/** An object identifier and what it says. */
function requireTyped(pair: DerValue): DerValue {
  const [type, value, ...more] = membersOf(pair, TAG.sequence);
  if (type?.tag !== TAG.objectIdentifier || value === undefined || more.length > 0) {
    throw invalid(ownWords('asn1: expected an object identifier and a value'));
  }
  requireWellFormed(value);
  return value;
}
