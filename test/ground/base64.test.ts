import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64, encodeBase64, lendDecoded } from '../../src/ground/base64.ts';

describe('decodeBase64', () => {
  it.each([
    ['', ''],
    ['Zg==', 'f'],
    ['Zm8=', 'fo'],
    ['Zm9v', 'foo'],
    ['Zm9vYg==', 'foob'],
    ['Zm9vYmE=', 'fooba'],
    ['Zm9vYmFy', 'foobar'],
  ])('decodes the vector of RFC 4648 %j', (encoded, plain) => {
    expect(decodeBase64(encoded).toString()).toBe(plain);
    expect(encodeBase64(Buffer.from(plain))).toBe(encoded);
  });

  it('skips line breaks anywhere, as Go does', () => {
    expect(decodeBase64('Zm9\nvYm\r\nFy\n').toString()).toBe('foobar');
    expect(decodeBase64('Zg=\n=').toString()).toBe('f');
    expect(decodeBase64('\n').length).toBe(0);
  });

  it('accepts non-zero trailing bits, as Go does', () => {
    expect(decodeBase64('YWJ=').toString()).toBe(decodeBase64('YWI=').toString());
  });

  it.each([
    ['foo bar', 3],
    ['foob-r==', 4],
    ['=AAA', 0],
    ['A===', 1],
    ['AA=', 3],
    ['AA=A', 2],
    ['AA==A', 4],
    ['AAA=AAAA', 4],
    ['foobar', 4],
    ['AAAAA', 4],
    ['AAAAAAA', 4],
    ['Zg', 0],
    ['AA-A', 2],
    ['AA_A', 2],
    // Node's decoder looks at the low byte of U+0141 alone, which is that of "A".
    ['AA\u0141A', 2],
  ])('refuses %j at byte %i', (text, position) => {
    expect(() => decodeBase64(text, 'plaintext')).toThrowError(
      expect.objectContaining({
        kind: 'invalid',
        field: 'plaintext',
        message: `illegal base64 data at input byte ${position}`,
      }),
    );
  });

  it('gives back what Node encoded', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(decodeBase64(encodeBase64(bytes)).equals(Buffer.from(bytes))).toBe(true);
      }),
    );
  });

  it('accepts only what Node decodes to the same bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'AZaz09+/=-_ \n') }), (text) => {
        let decoded: Buffer;
        try {
          decoded = decodeBase64(text);
        } catch {
          return;
        }
        const clean = text.replaceAll('\n', '');
        expect(clean.length % 4).toBe(0);
        expect(clean).not.toMatch(/[-_ ]/);
        expect(decoded.equals(Buffer.from(clean, 'base64'))).toBe(true);
      }),
    );
  });
});

describe('lendDecoded', () => {
  const copyOf = (text: string): Buffer => lendDecoded(text, (bytes) => Buffer.from(bytes));

  it('lends the bytes that decoding gives, of any length', () => {
    for (const length of [0, 1, 2, 3, 1000, 131_071, 131_072, 131_073, 400_000]) {
      const bytes = Buffer.alloc(length, length);
      expect(copyOf(encodeBase64(bytes)).equals(bytes)).toBe(true);
    }
    expect(copyOf('Zm9v\nYmFy').toString()).toBe('foobar');
  });

  it('overwrites them afterwards', () => {
    const lent = lendDecoded('Zm9vYmFy', (bytes) => bytes);
    expect(lent).toEqual(Buffer.alloc(6));
  });

  it('lends other memory while some is lent', () => {
    const both = lendDecoded('Zm9v', (outer) => {
      const inner = lendDecoded('YmFy', (bytes) => bytes.toString());
      return outer.toString() + inner;
    });
    expect(both).toBe('foobar');
  });

  it('refuses what decoding refuses', () => {
    for (const text of ['foobar', 'AA-A', 'AA=A', 'A\u0141AA']) {
      expect(() => copyOf(text)).toThrowError(/^illegal base64 data at input byte \d$/);
    }
  });
});
