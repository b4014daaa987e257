import { decodeBase64 } from '../../ground/base64.ts';
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
import { pemBlocks } from '../../ground/pem.ts';
import {
  attributesOf,
  type Certificate,
  canonicalName,
  extensionsOf,
  hashOf,
  isSignedBy,
} from './certificate.ts';

/** Certificate revocation list (RFC 5280, 5). */
export type RevocationList = Readonly<ReturnType<typeof readRevocationList>>;

const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;
const BIT_STRING_UNUSED = 1;
/** Tag of the extensions of the whole list. */
const EXTENSIONS_TAG = TAG.context0;
/** Delta CRL indicator (RFC 5280, 5.2.4). */
const DELTA_INDICATOR = '2.5.29.27';
/** Issuing distribution point (RFC 5280, 5.2.5). */
const DISTRIBUTION_POINT = '2.5.29.28';
/**
 * Supported extensions: these two, the CRL number and the authority key identifier, which do not change the meaning.
 */
const UNDERSTOOD = new Set([DELTA_INDICATOR, DISTRIBUTION_POINT, '2.5.29.20', '2.5.29.35']);
/** Tags within a distribution point: its full name, and a URL in that. */
const FULL_NAME_TAG = TAG.context0;
const ADDRESS_TAG = 0x86;
/** Tags for some reasons only, for other issuers (indirect CRL), and for attribute certificates only. */
const UNUSUAL_TAGS: readonly number[] = [0x83, 0x84, 0x85];
/** Extension of an entry for a certificate of another issuer than that of the list. */
const CERTIFICATE_ISSUER = '2.5.29.29';

/**
 * Parses a list.
 * @param text PEM, or base64 of DER
 * @throws `invalid` with Vault's messages
 */
export function parseRevocationList(text: string): RevocationList {
  const block = pemBlocks(text).blocks.find(({ label }) => label === 'X509 CRL');
  return readRevocationList(block?.bytes ?? decodedOr(text));
}

/** Decodes base64; other text is passed on, and fails as a malformed list. */
const decodedOr = (text: string): Buffer => attempt(() => decodeBase64(text.trim())) ?? Buffer.from(text);

/**
 * Parses a list.
 * @param bytes DER, or PEM
 * @throws `invalid`
 */
export function revocationListIn(bytes: Buffer): RevocationList {
  return bytes[0] === TAG.sequence
    ? readRevocationList(bytes)
    : parseRevocationList(bytes.toString('latin1'));
}

function readRevocationList(bytes: Buffer) {
  const [tbs, algorithm, signature, ...more] = membersOf(readDer(bytes), TAG.sequence);
  const members = membersOf(tbs, TAG.sequence);
  if (members[0]?.tag === TAG.integer) members.shift();
  const [, issuer, since, ...rest] = members;
  if (tbs === undefined || algorithm === undefined || signature?.tag !== TAG.bitString || more.length > 0) {
    throw invalid(ownWords('asn1: not a certificate revocation list'));
  }
  const extensions = extensionsOf(
    rest.find(({ tag }) => tag === EXTENSIONS_TAG),
    EXTENSIONS_TAG,
  );
  const point = extensions.get(DISTRIBUTION_POINT);
  const next = isTime(rest[0]) ? rest.shift() : undefined;
  const entries = rest[0]?.tag === TAG.sequence ? membersOf(rest[0], TAG.sequence) : [];
  const signed = {
    bytes: tbs.bytes,
    signature: signature.content.subarray(BIT_STRING_UNUSED),
    hash: hashOf(algorithm),
  };
  return {
    /** In the form of `canonicalName`. */
    issuer: canonicalName(attributesOf(issuer)),
    /** Decimal. */
    serials: entries.map(serialOf),
    /** Whether it only contains changes since another list. */
    isDelta: extensions.has(DELTA_INDICATOR),
    /** Certificates of the issuer that it covers; undefined for all of them. */
    scope: point === undefined ? undefined : scopeOf(readDer(point.value)),
    /** Unsupported critical extensions by object identifier: they could change the meaning of the list. */
    notUnderstood: [...extensions].flatMap(([type, { isCritical }]) =>
      isCritical && !UNDERSTOOD.has(type) ? [type] : [],
    ),
    /** Issue time (thisUpdate), in milliseconds since the epoch. */
    sinceMs: timeOf(since),
    /** Time of the next list (nextUpdate), in milliseconds since the epoch. */
    nextMs: next === undefined ? undefined : timeOf(next),
    /** Whether it is signed by that authority. */
    isSignedBy: (authority: Certificate): boolean => isSignedBy(authority, signed),
  };
}

/** Parses an issuing distribution point (RFC 5280, 5.2.5). */
function scopeOf(value: DerValue) {
  const members = membersOf(value, TAG.sequence);
  const point = members.find(({ tag }) => tag === TAG.context0);
  const [name] = point === undefined ? [] : membersOf(point, TAG.context0);
  const names = name?.tag === FULL_NAME_TAG ? membersOf(name, FULL_NAME_TAG) : [];
  const isSaid = (member: DerValue): boolean => member.tag === UNUSUAL_TAGS[0] || booleanOf(member);
  return {
    /** URLs of the list, which distinguish it from the other parts; empty if not given. */
    addresses: names.flatMap(({ tag, content }) => (tag === ADDRESS_TAG ? [content.toString('latin1')] : [])),
    /** Whether it omits reasons, or covers attribute certificates or other issuers. */
    isUnusual: members.some((member) => UNUSUAL_TAGS.includes(member.tag) && isSaid(member)),
  };
}

function serialOf(entry: DerValue): string {
  const [serial, since, extensions] = membersOf(entry, TAG.sequence);
  timeOf(since);
  for (const extension of extensions === undefined ? [] : membersOf(extensions, TAG.sequence)) {
    if (identifierOf(membersOf(extension, TAG.sequence)[0]) === CERTIFICATE_ISSUER) {
      throw invalid(ownWords('indirect CRLs are not supported'));
    }
  }
  return String(integerOf(serial));
}

const isTime = (value: DerValue | undefined): boolean =>
  value?.tag === UTC_TIME || value?.tag === GENERALIZED_TIME;

const TIME = /^(\d{2}|\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/;

/** Parses a time (RFC 5280, 4.1.2.5), in milliseconds since the epoch. */
function timeOf(value: DerValue | undefined): number {
  const found = isTime(value) ? TIME.exec(value?.content.toString('latin1') ?? '') : null;
  const [year = Number.NaN, ...rest] = (found ?? []).slice(1).map(Number);
  if (Number.isNaN(year) || found?.[1]?.length !== (value?.tag === UTC_TIME ? 2 : 4)) {
    throw invalid(ownWords('asn1: expected a time'));
  }
  const [month = 0, day = 0, hours = 0, minutes = 0, seconds = 0] = rest;
  const fullYear = value?.tag === UTC_TIME ? year + (year < 50 ? 2000 : 1900) : year;
  return Date.UTC(fullYear, month - 1, day, hours, minutes, seconds);
}
