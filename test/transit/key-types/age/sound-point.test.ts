import { describe, expect, it } from 'vitest';
import { isSoundP256, isSoundX25519 } from '../../../../src/transit/key-types/age/sound-point.ts';
import { agreedWith } from '../../../../src/transit/key-types/age/tagged.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const P256_PRIME = 'ffffffff00000001000000000000000000000000ffffffffffffffffffffffff';
/** The base point of P-256 (FIPS 186-4, D.1.2.3). */
const X = '6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296';
const Y = '4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5';
/** A number that is lower by one. */
const below = (number: string): string =>
  (BigInt(`0x${number}`) - 1n).toString(16).padStart(number.length, '0');

describe('a public key on P-256', () => {
  it.each([
    ['compressed, even', `02${X}`, true],
    ['compressed, odd', `03${X}`, true],
    ['uncompressed', `04${X}${Y}`, true],
    ['hybrid', `07${X}${Y}`, false],
    ['without a form', `00${X}${Y}`, false],
    ['uncompressed by its sign, without y', `04${X}`, false],
    ['compressed by its sign, with y', `02${X}${Y}`, false],
    ['cut', `04${X}${Y}`.slice(0, -2), false],
    ['too long', `02${X}00`, false],
    ['nothing', '', false],
    ['with the largest x', `02${below(P256_PRIME)}`, true],
    ['with an x that is the prime', `02${P256_PRIME}`, false],
    ['with the largest y', `04${X}${below(P256_PRIME)}`, true],
    ['with a y that is the prime', `04${X}${P256_PRIME}`, false],
  ])('has one way to be written: %s: %j', (_, text, isSound) => {
    expect(isSoundP256(hex(text))).toBe(isSound);
  });

  it('agrees on a secret only in the form without compression', () => {
    const scalar = hex(`${'00'.repeat(31)}02`);
    expect(agreedWith(scalar, hex(`04${X}${Y}`))?.secret).toHaveLength(32);
    for (const share of [`02${X}`, `07${X}${Y}`, `04${X}${Y}00`, `04${X}`, `04${X}${below(Y)}`, '']) {
      expect(agreedWith(scalar, hex(share))).toBeUndefined();
    }
  });
});

describe('a public key on Curve25519', () => {
  const LARGEST = `ec${'ff'.repeat(30)}7f`;
  it.each([
    ['32 bytes', `09${'00'.repeat(31)}`, true],
    ['31 bytes', `09${'00'.repeat(30)}`, false],
    ['33 bytes', `09${'00'.repeat(32)}`, false],
    ['no bytes', '', false],
    ['2', `02${'00'.repeat(31)}`, true],
    ['1', `01${'00'.repeat(31)}`, false],
    ['0', '00'.repeat(32), false],
    ['-1', LARGEST, false],
    ['-2', LARGEST.replace('ec', 'eb'), true],
    ['the prime', LARGEST.replace('ec', 'ed'), false],
    ['more than the prime', LARGEST.replace('ec', 'f6'), false],
  ])('is no point of low order, and has one way to be written: %s: %j', (_, text, isSound) => {
    expect(isSoundX25519(hex(text))).toBe(isSound);
  });
});
