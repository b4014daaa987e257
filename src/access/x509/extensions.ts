import { booleanOf, type DerValue, identifierOf, membersOf, TAG } from '../../ground/der.ts';
import { invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';

export interface Extension {
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
