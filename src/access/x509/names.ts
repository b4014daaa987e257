import { type DerValue, identifierOf, membersOf, TAG } from '../../ground/der.ts';

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
export const commonNameOf = (name: readonly NameAttribute[]): string =>
  name.findLast(({ type }) => type === COMMON_NAME)?.value ?? '';

export const organizationalUnitsOf = (name: readonly NameAttribute[]): readonly string[] =>
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

/** Alternative names of the types that roles check. */
export interface AlternativeNames {
  readonly emails: readonly string[];
  readonly dns: readonly string[];
  readonly uris: readonly string[];
}

const EMAIL = 0x81;
const DNS = 0x82;
const URI = 0x86;

/**
 * Parses `SEQUENCE OF GeneralName` (RFC 5280, 4.2.1.6).
 * @throws `invalid`
 */
export function alternativeNamesOf(names: DerValue | undefined): AlternativeNames {
  const members = names === undefined ? [] : membersOf(names, TAG.sequence);
  const ofKind = (kind: number) =>
    members.filter(({ tag }) => tag === kind).map(({ content }) => content.toString('latin1'));
  return { emails: ofKind(EMAIL), dns: ofKind(DNS), uris: ofKind(URI) };
}
