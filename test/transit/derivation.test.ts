import { hkdfSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counterMode, hkdfExpand, hkdfExtract } from '../../src/transit/context-keys.ts';
import { KEY_16, KEY_32, QUICK_FOX } from './known-key.ts';

const context = Buffer.from('my-context');

describe('the counter mode', () => {
  it('gives what another implementation gives', () => {
    const key = Buffer.from(Array.from({ length: 16 }, (_, i) => i + 1));
    expect(counterMode(key, QUICK_FOX).toString('hex')).toBe(
      'db19ee06b9ecb440f898fb994f058dde42c8428f280365ddcea3665058ea579d',
    );
    expect(counterMode(KEY_32, context).toString('hex')).toBe(
      'ccc7f29489db3c07f210b4e50bfe8b66a25a27c04c669500e3223ec9c2851788',
    );
  });
});

describe('HKDF', () => {
  const expand = (key: Uint8Array, bytes: number): string =>
    hkdfExpand(hkdfExtract(key), context, bytes).toString('hex');

  it('gives what another implementation gives for a cipher key, alone and with a nonce key', () => {
    const cipherKey = '4a10e0dd7750402d5d67a8babd31aaaceee6a194780140dcb6bf3bcc29da533d';
    const nonceKey = 'ec02d160886b7bc2000b3e8b5a37b1634c2a53cbbf624b8874111dc86fd5e964';
    expect(expand(KEY_32, 32)).toBe(cipherKey);
    expect(expand(KEY_32, 64)).toBe(cipherKey + nonceKey);
    expect(expand(KEY_16, 48)).toBe(
      'b14d2f40868a2256203e0a18cf0057947348e92aff568507ae115575f3261a9865880d7731cb499ea82b35b7fdf59c45',
    );
  });

  it('agrees with RFC 5869, test case 3: no salt, no info', () => {
    const inputKey = Buffer.alloc(22, 0x0b);
    expect(hkdfExpand(hkdfExtract(inputKey), Buffer.alloc(0), 42).toString('hex')).toBe(
      '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8',
    );
  });

  it('agrees with the one of Node wherever that one takes the context', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 64 }),
        fc.uint8Array({ maxLength: 1024 }),
        fc.integer({ min: 1, max: 64 }),
        (key, info, bytes) => {
          const expected = Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), info, bytes));
          expect(hkdfExpand(hkdfExtract(key), info, bytes).equals(expected)).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('takes contexts that are longer than Node allows', () => {
    expect(hkdfExpand(hkdfExtract(KEY_32), Buffer.alloc(100_000, 7), 64)).toHaveLength(64);
  });
});
