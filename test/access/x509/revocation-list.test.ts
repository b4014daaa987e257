import { describe, expect, it } from 'vitest';
import { parseRevocationList } from '../../../src/access/x509/revocation-list.ts';
import { der, TAG } from '../../../src/ground/der.ts';
import { refusal } from '../../refusal.ts';

/** Lists of revoked certificates (RFC 5280, 5.1), with a signature of nobody. */

const UTC = 0x17;
const GENERALIZED = 0x18;
const oid = (octets: string): Buffer => der(TAG.objectIdentifier, Buffer.from(octets, 'hex'));
const time = (tag: number, text: string): Buffer => der(tag, Buffer.from(text));

const ED25519 = der(TAG.sequence, oid('2b6570'));
const ISSUER = der(
  TAG.sequence,
  der(TAG.set, der(TAG.sequence, oid('550403'), der(0x0c, Buffer.from('ca')))),
);
const SINCE = time(UTC, '260301000000Z');
const SIGNATURE = der(TAG.bitString, Buffer.alloc(65));

const entry = (...more: readonly Buffer[]): Buffer =>
  der(TAG.sequence, der(TAG.integer, Buffer.of(7)), SINCE, ...more);
const signed = (...members: readonly Buffer[]): Buffer => der(TAG.sequence, ED25519, ISSUER, ...members);
const read = (...parts: readonly Buffer[]) =>
  parseRevocationList(der(TAG.sequence, ...parts).toString('base64'));
const list = (...members: readonly Buffer[]) => read(signed(...members), ED25519, SIGNATURE);

describe('a list of revoked certificates', () => {
  it.each([
    ['two digits of a year of this century', UTC, '491231235959Z', Date.UTC(2049, 11, 31, 23, 59, 59)],
    ['two digits of a year of the last century', UTC, '500101000000Z', Date.UTC(1950, 0, 1)],
    ['four digits of a year', GENERALIZED, '20500101000000Z', Date.UTC(2050, 0, 1)],
  ])('has times with %s', (_, tag, text, ms) => {
    expect(list(SINCE, time(tag, text))).toMatchObject({ sinceMs: Date.UTC(2026, 2, 1), nextMs: ms });
    expect(list(time(tag, text)).sinceMs).toBe(ms);
  });

  it.each([
    ['four digits of a year where two belong', UTC, '20260301000000Z'],
    ['two digits of a year where four belong', GENERALIZED, '260301000000Z'],
    ['no seconds', UTC, '2603010000Z'],
    ['another zone', UTC, '260301000000+0100'],
    ['no time at all', TAG.integer, '260301000000Z'],
  ])('is refused for a time with %s, wherever it stands', (_, tag, text) => {
    const refused = { kind: 'invalid', message: 'asn1: expected a time' };
    expect(refusal(() => list(time(tag, text)))).toMatchObject(refused);
    const revoked = der(TAG.sequence, der(TAG.integer, Buffer.of(7)), time(tag, text));
    expect(refusal(() => list(SINCE, der(TAG.sequence, revoked)))).toMatchObject(refused);
  });

  it('is what was signed, how, and the signature, and nothing else', () => {
    expect(list(SINCE, der(TAG.sequence, entry())).serials).toEqual(['7']);
    for (const parts of [
      [signed(SINCE), ED25519],
      [signed(SINCE), ED25519, der(0x04, Buffer.alloc(65))],
      [signed(SINCE), ED25519, SIGNATURE, SIGNATURE],
    ]) {
      expect(refusal(() => read(...parts))).toMatchObject({
        kind: 'invalid',
        message: 'asn1: not a certificate revocation list',
      });
    }
  });

  it('names certificates of its own issuer alone, since others would be taken for those', () => {
    const extended = (octets: string): Buffer =>
      entry(der(TAG.sequence, der(TAG.sequence, oid(octets), der(0x04, Buffer.of(0x30, 0)))));
    expect(list(SINCE, der(TAG.sequence, extended('551d15'))).serials).toEqual(['7']);
    expect(refusal(() => list(SINCE, der(TAG.sequence, entry(), extended('551d1d'))))).toMatchObject({
      kind: 'invalid',
      message: 'indirect CRLs are not supported',
    });
  });
});
