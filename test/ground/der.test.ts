import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  booleanOf,
  der,
  identifierOf,
  integerOf,
  membersOf,
  readDer,
  requireWellFormed,
  TAG,
} from '../../src/ground/der.ts';
import { CofferError } from '../../src/ground/errors.ts';
import { rounds } from '../long.ts';
import { refusal } from '../refusal.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** Lengths and their octets, X.690, 8.1.3. */
const LENGTHS: readonly [number, string][] = [
  [0, '00'],
  [1, '01'],
  [127, '7f'],
  [128, '8180'],
  [255, '81ff'],
  [256, '820100'],
  [65_535, '82ffff'],
  [65_536, '83010000'],
];

describe('a value in DER', () => {
  it.each(LENGTHS)('of %i octets says so in the fewest that do', (length, octets) => {
    const content = Buffer.alloc(length, 7);
    const written = der(TAG.sequence, content);
    expect(written.equals(Buffer.concat([hex('30'), hex(octets), content]))).toBe(true);
    expect(readDer(written)).toEqual({ tag: TAG.sequence, content, bytes: written });
  });

  it('has members', () => {
    const value = readDer(hex('30 07 0201 00 3102 0500'));
    expect(membersOf(value, TAG.sequence).map(({ bytes }) => bytes.toString('hex'))).toEqual([
      '020100',
      '31020500',
    ]);
    expect(refusal(() => membersOf(value, TAG.set))).toMatchObject({
      kind: 'invalid',
      message: 'asn1: expected the tag 49, found 48',
    });
    expect(refusal(() => membersOf(undefined, TAG.set))).toMatchObject({
      kind: 'invalid',
      message: 'asn1: expected the tag 49, found nothing',
    });
  });

  it.each([
    ['nothing', ''],
    ['two of them', '0500 0500'],
    ['a tag alone', '30'],
    ['less content than it says', '30 02 05'],
    ['a length that is cut off', '30 82 01'],
    ['a length for a short one', '30 81 01 00'],
    ['a length with a zero in front', `30 82 0080 ${'00'.repeat(128)}`],
    ['an indefinite length', '30 80 0000'],
    ['a length that nobody has', '30 84 01000000'],
    ['the length that is reserved', '30 ff 00'],
    ['a tag of two octets', '1f 81 00'],
  ])('is refused for %s', (_, text) => {
    expect(refusal(() => readDer(hex(text)))).toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(/^asn1: /),
    });
  });

  it('may be malformed within, which is found however deep it is', () => {
    const nested = (depth: number, innermost: string): Buffer =>
      depth === 0 ? hex(innermost) : der(TAG.sequence, nested(depth - 1, innermost));
    requireWellFormed(readDer(nested(30, '0201ff')));
    expect(refusal(() => requireWellFormed(readDer(nested(30, '0202ff'))))).toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(/unexpected end of a value/),
    });
    expect(refusal(() => requireWellFormed(readDer(nested(40, '0201ff'))))).toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(/too deeply/),
    });
    // What is primitive is nobody's business.
    requireWellFormed(readDer(hex('04 02 30ff')));
  });

  it('is the same when it is read and written again', () => {
    const leaf = fc.record({
      tag: fc.constantFrom<number>(TAG.integer, TAG.bitString, TAG.objectIdentifier, 0x04, 0x0c),
      content: fc.uint8Array({ maxLength: 300 }),
    });
    fc.assert(
      fc.property(fc.array(leaf, { maxLength: 20 }), (leaves) => {
        const written = der(TAG.set, ...leaves.map(({ tag, content }) => der(tag, content)));
        const members = membersOf(readDer(written), TAG.set);
        expect(members.map(({ tag, content }) => ({ tag, content: Uint8Array.from(content) }))).toEqual(
          leaves,
        );
        expect(der(TAG.set, ...members.map(({ bytes }) => bytes)).equals(written)).toBe(true);
      }),
    );
  });

  it('is no object identifier that goes on and on', () => {
    const arc = (octets: number) =>
      Buffer.concat([Buffer.from([0x2a]), Buffer.alloc(octets, 0xff), hex('7f')]);
    const identifier = (octets: number) => readDer(der(TAG.objectIdentifier, arc(octets)));
    expect(identifierOf(identifier(2))).toBe('1.2.2097151');
    expect(refusal(() => identifierOf(identifier(255))).message).toBe(
      'asn1: an object identifier is too long',
    );
  });

  it('is an object identifier of 256 octets at most, the last of which ends an arc', () => {
    const ones = (octets: number) => der(TAG.objectIdentifier, Buffer.alloc(octets, 1));
    expect(identifierOf(readDer(ones(256)))).toBe(`0${'.1'.repeat(256)}`);
    for (const [text, why] of [
      [ones(257).toString('hex'), 'an object identifier is too long'],
      ['06 02 2a81', 'unexpected end of an object identifier'],
      ['06 00', 'expected an object identifier'],
      ['02 01 2a', 'expected an object identifier'],
    ] as const) {
      expect(refusal(() => identifierOf(readDer(hex(text)))).message).toBe(`asn1: ${why}`);
    }
    expect(refusal(() => identifierOf(undefined)).message).toBe('asn1: expected an object identifier');
  });

  it('is a number from zero up, of an octet or more', () => {
    expect(integerOf(readDer(hex('02 01 7f')))).toBe(127n);
    expect(integerOf(readDer(hex('02 02 0080')))).toBe(128n);
    for (const [text, why] of [
      ['02 01 80', 'a number is negative'],
      ['02 00', 'expected a number'],
      ['04 01 01', 'expected a number'],
    ] as const) {
      expect(refusal(() => integerOf(readDer(hex(text)))).message).toBe(`asn1: ${why}`);
    }
  });

  it('is true or false in one octet', () => {
    const read = (text: string) => booleanOf(readDer(hex(text)));
    expect([read('01 01 00'), read('01 01 ff')]).toEqual([false, true]);
    for (const text of ['01 00', '01 02 ff00']) {
      expect(refusal(() => read(text)).message).toBe('asn1: expected true or false');
    }
  });

  it('is read or refused, and never anything else', () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.array(fc.constantFrom(0x30, 0x31, 0xa0, 0x02, 0x00, 0x80, 0x81, 0x82, 0x01, 0x05), {
        maxLength: 60,
      }),
    );
    fc.assert(
      fc.property(noise, (bytes) => {
        try {
          const value = readDer(Buffer.from(bytes));
          expect(value.bytes.length).toBe(bytes.length);
          requireWellFormed(value);
        } catch (error) {
          expect(error).toBeInstanceOf(CofferError);
        }
      }),
      { numRuns: rounds(2_000) },
    );
  });
});
