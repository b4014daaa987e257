import { type KeyObject, verify, X509Certificate } from 'node:crypto';
import {
  booleanOf,
  type DerValue,
  identifierOf,
  integerOf,
  membersOf,
  readDer,
  TAG,
} from '../../ground/der.ts';
import { attempt, invalid, ownWords } from '../../ground/errors.ts';
import { modulusBitsOf } from '../../ground/foreign-keys.ts';

/**
 * Signature algorithms (RFC 3279, 4055, 5758, 8410, 9881) and their hashes; null if the algorithm has no separate hash.
 */
const HASHES: ReadonlyMap<string, string | null> = new Map([
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
  ['1.3.101.112', null], // Ed25519
  ['1.3.101.113', null], // Ed448
  ['2.16.840.1.101.3.4.3.17', null], // ML-DSA-44
  ['2.16.840.1.101.3.4.3.18', null],
  ['2.16.840.1.101.3.4.3.19', null],
]);

const RSA_PSS = '1.2.840.113549.1.1.10';
const SOUND_HASHES: ReadonlySet<string> = new Set([
  '2.16.840.1.101.3.4.2.1', // SHA-256
  '2.16.840.1.101.3.4.2.2',
  '2.16.840.1.101.3.4.2.3',
]);
const LEAST_RSA_BITS = 2048;

/**
 * Whether signatures of this algorithm are secure: not with SHA-1 or older hashes.
 * @throws `invalid`
 */
function isSound(algorithm: DerValue | undefined): boolean {
  const [type, parameters] = membersOf(algorithm, TAG.sequence);
  const identifier = identifierOf(type);
  if (identifier !== RSA_PSS) return HASHES.has(identifier);
  // The default hash is SHA-1 (RFC 4055, 3.1).
  const named = membersOf(parameters, TAG.sequence).find(({ tag }) => tag === TAG.context0);
  if (named === undefined) return false;
  const [hash] = membersOf(membersOf(named, TAG.context0)[0], TAG.sequence);
  return SOUND_HASHES.has(identifierOf(hash));
}

/** Whether a key is long enough for secure signatures. */
export const isStrong = (key: KeyObject): boolean => (modulusBitsOf(key) ?? LEAST_RSA_BITS) >= LEAST_RSA_BITS;

/**
 * Returns the hash of a signature algorithm, null if it has no separate hash; undefined for an unknown one.
 * @throws `invalid`
 */
export const hashOf = (algorithm: DerValue): string | null | undefined =>
  HASHES.get(identifierOf(membersOf(algorithm, TAG.sequence)[0]));

/** Signed data. */
interface SignedBytes {
  readonly bytes: Buffer;
  readonly signature: Buffer;
  /** Hash, as returned by `hashOf`. */
  readonly hash: string | null | undefined;
}

/** Verifies a signature; false as well if the algorithm is not supported. */
export const isSignedBy = (
  { x509 }: { readonly x509: X509Certificate },
  { bytes, signature, hash }: SignedBytes,
): boolean =>
  // Fails for a key of another type, or of one that OpenSSL does not know.
  attempt(() => {
    const key = x509.publicKey;
    return hash !== undefined && isStrong(key) && verify(hash, bytes, key, signature);
  }, false);

/** Attribute of a distinguished name (RFC 5280, 4.1.2.4). */
interface NameAttribute {
  /** Object identifier: `2.5.4.3` for a common name. */
  readonly type: string;
  readonly value: string;
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATIONAL_UNIT = '2.5.4.11';

/**
 * Parses a name.
 * @throws `invalid` if it is malformed
 */
export const attributesOf = (name: DerValue | undefined): readonly NameAttribute[] =>
  membersOf(name, TAG.sequence).flatMap((relative) =>
    membersOf(relative, TAG.set).map((pair) => {
      const [type, value] = membersOf(pair, TAG.sequence);
      return { type: identifierOf(type), value: (value && textOf(value)) ?? '' };
    }),
  );

/** Returns the last common name, as Vault does; empty if there is none. */
const commonNameOf = (name: readonly NameAttribute[]): string =>
  name.findLast(({ type }) => type === COMMON_NAME)?.value ?? '';

const organizationalUnitsOf = (name: readonly NameAttribute[]): readonly string[] =>
  name.filter(({ type }) => type === ORGANIZATIONAL_UNIT).map(({ value }) => value);

/**
 * Returns the same text for names that are equal by RFC 5280, 7.1: case, white space and the string type are ignored.
 * Some different names get the same text, too, so a revocation list may apply to too many certificates, never to too
 * few. The signer of a certificate is determined by its signature, not by this text.
 */
export const canonicalName = (name: readonly NameAttribute[]): string =>
  JSON.stringify(name.map(({ type, value }) => [type, value.trim().replaceAll(/\s+/g, ' ').toLowerCase()]));

/** String types, and the encodings of their octets. */
const ENCODINGS: ReadonlyMap<number, BufferEncoding> = new Map([
  [0x0c, 'utf8'], // UTF8String
  [0x12, 'latin1'], // NumericString
  [0x13, 'latin1'], // PrintableString
  [0x14, 'latin1'], // T61String
  [0x16, 'latin1'], // IA5String
  [0x1b, 'latin1'], // GeneralString
]);
const BMP_STRING = 0x1e;

/** Returns the text of a string; undefined for any other value. */
export function textOf({ tag, content }: DerValue): string | undefined {
  if (tag === BMP_STRING && content.length % 2 === 0)
    return Buffer.from(content).swap16().toString('utf16le');
  const encoding = ENCODINGS.get(tag);
  return encoding === undefined ? undefined : content.toString(encoding);
}

const EMAIL = 0x81;
const DNS = 0x82;
const URI = 0x86;

/**
 * Parses `SEQUENCE OF GeneralName` (RFC 5280, 4.2.1.6), of the types that roles check.
 * @throws `invalid`
 */
function alternativeNamesOf(names: DerValue | undefined) {
  const members = names === undefined ? [] : membersOf(names, TAG.sequence);
  const ofKind = (kind: number) =>
    members.filter(({ tag }) => tag === kind).map(({ content }) => content.toString('latin1'));
  return { emails: ofKind(EMAIL), dns: ofKind(DNS), uris: ofKind(URI) };
}

interface Extension {
  readonly isCritical: boolean;
  readonly value: Buffer;
}

/**
 * Parses the extensions of a certificate or CRL (RFC 5280, 4.1 and 5.1), by object identifier.
 * @param value element that contains them, with the tag `tag`; undefined for none
 * @throws `invalid`
 */
export function extensionsOf(value: DerValue | undefined, tag: number): ReadonlyMap<string, Extension> {
  const found = new Map<string, Extension>();
  if (value === undefined) return found;
  const [list] = membersOf(value, tag);
  for (const extension of membersOf(list, TAG.sequence)) {
    const [type, second, third] = membersOf(extension, TAG.sequence);
    const isSaid = second?.tag === TAG.boolean;
    const octets = isSaid ? third : second;
    if (octets?.tag !== TAG.octetString) throw invalid(ownWords('asn1: an extension has no value'));
    const identifier = identifierOf(type);
    // RFC 5280, 4.2: parsers would disagree on which of the two applies.
    if (found.has(identifier)) throw invalid(ownWords('asn1: duplicate extension'));
    found.set(identifier, { isCritical: isSaid && booleanOf(second), value: octets.content });
  }
  return found;
}

/**
 * Certificate (RFC 5280), as parsed by OpenSSL, which is used for everything about keys and signatures; and in addition
 * its extensions and names, of which Node returns only some, in a single text.
 * @see docs/decisions/0181
 */
export type Certificate = Readonly<ReturnType<typeof readCertificate>>;

export const EXTENSION = {
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** Tag of the extensions. */
const EXTENSIONS_TAG = 0xa3;
const VERSION_TAG = TAG.context0;
const KEY_ID_TAG = 0x80;

/**
 * Parses a certificate.
 * @throws `invalid` if it is malformed, or OpenSSL and this parser disagree
 */
export function readCertificate(der: Buffer) {
  const x509 = parsedByOpenSsl(der);
  const [tbs, algorithm] = membersOf(readDer(der), TAG.sequence);
  const members = membersOf(tbs, TAG.sequence);
  if (members[0]?.tag === VERSION_TAG) members.shift();
  const [serial, , issuer, , subject] = members;
  const extensions = extensionsOf(
    members.find(({ tag }) => tag === EXTENSIONS_TAG),
    EXTENSIONS_TAG,
  );
  const names = attributesOf(subject);
  const constraints = extensionIn(extensions, EXTENSION.basicConstraints);
  const { isAuthority, pathLength } = readConstraints(constraints);
  const purposes = extensionIn(extensions, EXTENSION.extendedKeyUsage);
  return {
    x509,
    /** Decimal. */
    serial: String(integerOf(serial)),
    /** In the form of `canonicalName`. */
    issuer: canonicalName(attributesOf(issuer)),
    subject: canonicalName(names),
    commonName: commonNameOf(names),
    organizationalUnits: organizationalUnitsOf(names),
    ...alternativeNamesOf(extensionIn(extensions, EXTENSION.alternativeNames)),
    /** Extensions by object identifier. */
    extensions,
    /** Whether the certificate may sign other certificates (basicConstraints CA). */
    isAuthority: isAuthority && x509.ca,
    /** Maximum number of intermediates between it and a leaf; undefined for unlimited. */
    pathLength,
    /** Extended key usages; undefined for any. */
    purposes: purposes === undefined ? undefined : membersOf(purposes, TAG.sequence).map(identifierOf),
    /** Whether its signature algorithm is secure. */
    isSoundlySigned: isSound(algorithm),
    /** Subject key identifier, hexadecimal with colons; empty if there is none. */
    subjectKeyId: hexOf(extensionIn(extensions, EXTENSION.subjectKeyId)?.content),
    authorityKeyId: hexOf(authorityKeyOf(extensionIn(extensions, EXTENSION.authorityKeyId))),
  };
}

function parsedByOpenSsl(der: Buffer): X509Certificate {
  try {
    const x509 = new X509Certificate(der);
    const times = [x509.validFromDate, x509.validToDate].map((date) => date.getTime());
    if (x509.raw.equals(der) && !times.some(Number.isNaN)) return x509;
  } catch {
    // Reported below.
  }
  throw invalid(ownWords('not a certificate'));
}

function extensionIn(extensions: ReadonlyMap<string, Extension>, type: string): DerValue | undefined {
  const found = extensions.get(type);
  return found === undefined ? undefined : readDer(found.value);
}

function readConstraints(value: DerValue | undefined): {
  isAuthority: boolean;
  pathLength?: bigint | undefined;
} {
  if (value === undefined) return { isAuthority: false };
  const members = membersOf(value, TAG.sequence);
  const isAuthority = members[0]?.tag === TAG.boolean && booleanOf(members[0]);
  const length = members.find(({ tag }) => tag === TAG.integer);
  return { isAuthority, pathLength: length === undefined ? undefined : integerOf(length) };
}

const authorityKeyOf = (value: DerValue | undefined): Buffer | undefined =>
  value === undefined
    ? undefined
    : membersOf(value, TAG.sequence).find(({ tag }) => tag === KEY_ID_TAG)?.content;

const hexOf = (bytes: Buffer | undefined): string =>
  bytes?.toString('hex').replaceAll(/(..)(?=.)/g, '$1:') ?? '';
