import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asCofferError } from '../../../src/ground/errors.ts';
import {
  parsePrefix,
  parseSealedHeader,
  printSealedHeader,
  type SealedHeader,
} from '../../../src/transit/envelope/header.ts';
import { rounds } from '../../long.ts';
import { thrownBy } from '../../reference/thrown.ts';

const header: SealedHeader = {
  mount: 'transit',
  name: 'backups',
  chunkBytes: 65_536,
  wrappedKeyBytes: 192,
  salt: Buffer.alloc(32, 7),
  metadata: {},
};

/** Fields by hand: each text behind its length. */
const fields = (...texts: (string | Buffer)[]): Buffer =>
  Buffer.concat(
    texts.map((text) => {
      const bytes = Buffer.from(text);
      return Buffer.concat([Buffer.of(bytes.length >> 8, bytes.length & 0xff), bytes]);
    }),
  );

function withFields(bytes: Buffer): Buffer {
  const prefix = printSealedHeader(header).subarray(0, 48);
  prefix.writeUInt16BE(bytes.length, 14);
  return Buffer.concat([prefix, bytes]);
}

const printable = fc
  .string({ unit: 'grapheme' })
  .filter((text) => !/\p{Cc}/u.test(text) && text.isWellFormed());
const anyHeader: fc.Arbitrary<SealedHeader> = fc.record({
  mount: printable,
  name: printable,
  chunkBytes: fc.integer({ min: 12, max: 20 }).map((bits) => 2 ** bits),
  wrappedKeyBytes: fc.integer({ min: 64, max: 8192 }),
  salt: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
  metadata: fc.dictionary(
    printable.filter((key) => key !== ''),
    printable,
  ),
});

describe('a sealed header', () => {
  it('is read back as it was written, whatever is in it', () => {
    fc.assert(
      fc.property(anyHeader, (written) => {
        const read = parseSealedHeader(printSealedHeader(written));
        expect({ ...read, metadata: Object.entries(read.metadata).sort() }).toEqual({
          ...written,
          metadata: Object.entries(written.metadata).sort(),
        });
      }),
    );
  });

  it('has one spelling: what is read prints to the same bytes, and everything else is refused', () => {
    const bytes = printSealedHeader({ ...header, metadata: { b: '2', a: '1', é: 'ü' } });
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (place, change) => {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(place) ^ change, place);
        try {
          const read = parseSealedHeader(changed);
          expect(printSealedHeader(read).equals(changed)).toBe(true);
        } catch (error) {
          expect(['corrupt', 'inauthentic']).toContain(asCofferError(error)?.kind);
        }
      }),
      { numRuns: rounds(2000) },
    );
  });

  it('keeps a metadata key that means something to JavaScript', () => {
    const metadata = Object.fromEntries([['__proto__', 'x']]);
    const read = parseSealedHeader(printSealedHeader({ ...header, metadata }));
    expect(Object.entries(read.metadata)).toEqual([['__proto__', 'x']]);
  });

  it.each([
    ['a metadata value', { metadata: { note: 'two\nlines' } }],
    ['a metadata key', { metadata: { 'a\u001b[2J': '' } }],
    ['a half surrogate', { metadata: { note: '\ud800' } }],
  ])('is not written with a control character or broken text: %s', (_, change) => {
    expect(thrownBy(() => printSealedHeader({ ...header, ...change }))).toMatchObject({
      kind: 'invalid',
      field: 'metadata',
      message: expect.stringContaining('holds a control character or is not valid text'),
    });
  });

  it('is not written with an empty metadata key', () => {
    expect(thrownBy(() => printSealedHeader({ ...header, metadata: { '': 'x' } }))).toMatchObject({
      kind: 'invalid',
      message: 'a metadata key is empty',
    });
  });

  it.each([
    ['one value', { note: 'x'.repeat(65_536) }],
    ['all together', { a: 'x'.repeat(40_000), b: 'x'.repeat(40_000) }],
  ])('is not written when the metadata is too long: %s', (_, metadata) => {
    expect(thrownBy(() => printSealedHeader({ ...header, metadata }))).toMatchObject({
      kind: 'invalid',
      message: 'the metadata is too long',
    });
  });

  it('has up to 65,535 bytes of mount, name and metadata, and as many in one of them', () => {
    const printed = (note: number) =>
      printSealedHeader({ ...header, mount: '', name: '', metadata: { n: 'x'.repeat(note) } });
    // Four lengths of two bytes, and the key of one.
    expect(parseSealedHeader(printed(65_535 - 9)).metadata['n']).toHaveLength(65_526);
    for (const note of [65_535 - 8, 65_535])
      expect(thrownBy(() => printed(note))).toMatchObject({
        kind: 'invalid',
        message: 'the metadata is too long',
      });
    for (const wrappedKeyBytes of [64, 8192])
      expect(parseSealedHeader(printSealedHeader({ ...header, wrappedKeyBytes }))).toMatchObject({
        wrappedKeyBytes,
      });
    const beyond = printSealedHeader({ ...header, wrappedKeyBytes: 8193 });
    expect(thrownBy(() => parsePrefix(beyond))).toMatchObject({
      message: 'the envelope is damaged: a size in its header is impossible',
    });
  });

  it.each([
    ['no name', fields('transit')],
    ['a key without its value', fields('transit', 'k', 'key')],
    ['a text that is cut off', fields('transit', 'k').subarray(0, -1)],
    ['half a length', Buffer.concat([fields('transit', 'k'), Buffer.of(0)])],
    ['keys in the wrong order', fields('transit', 'k', 'b', '', 'a', '')],
    ['a key twice', fields('transit', 'k', 'a', '1', 'a', '2')],
    ['an empty key', fields('transit', 'k', '', 'x')],
    ['bytes that are no UTF-8', fields('transit', Buffer.of(0xff))],
    ['an overlong spelling', fields('transit', Buffer.of(0xc0, 0xaf))],
    ['a control character', fields('transit', 'k\u009b31m')],
  ])('is refused with broken fields: %s', (_, bytes) => {
    expect(thrownBy(() => parseSealedHeader(withFields(bytes)))).toMatchObject({
      kind: 'inauthentic',
      message: 'the envelope is damaged: the fields of its header are broken',
    });
  });

  it.each([
    ['chunks of 2 KiB', 10, 11],
    ['chunks of 2 MiB', 10, 21],
    ['a reserved byte in use', 11, 1],
    ['wrapped keys of 63 bytes', 13, 63],
    ['wrapped keys of 8448 bytes', 12, 33],
  ])('is refused with an impossible size: %s', (_, place, value) => {
    const bytes = printSealedHeader({ ...header, wrappedKeyBytes: place === 13 ? 64 : 8192 });
    bytes.writeUInt8(value, place);
    expect(thrownBy(() => parsePrefix(bytes))).toMatchObject({
      kind: 'inauthentic',
      message: 'the envelope is damaged: a size in its header is impossible',
    });
  });

  it.each([
    ['format 2', 8],
    ['algorithm 2', 9],
  ])('asks for a newer version of the program for %s', (what, place) => {
    const bytes = printSealedHeader(header);
    bytes.writeUInt8(2, place);
    expect(thrownBy(() => parsePrefix(bytes))).toMatchObject({
      kind: 'corrupt',
      message: `this envelope has ${what}, which this version of Coffer does not support`,
      hint: 'install a newer Coffer',
    });
  });

  it.each([
    ['nothing', ''],
    ['a few bytes of the magic', '\x89COF'],
    ['a text', 'PK and other things that are no envelope, long enough for one'],
    ['line ends that were converted', `\x89COFFER\r\n${'\0'.repeat(48)}`],
  ])('is told from other files: %s', (_, text) => {
    expect(thrownBy(() => parsePrefix(Buffer.from(text, 'latin1')))).toMatchObject({
      kind: 'corrupt',
      message: 'this is not a Coffer envelope',
    });
  });
});
