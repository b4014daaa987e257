import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { BackupMaterial } from '../../../src/transit/key-types/key-type.ts';
import { rsaFromBackup, rsaToBackup } from '../../../src/transit/key-types/rsa.ts';
import { rejectionOf } from '../../reference/thrown.ts';

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
const material = rsaToBackup(pair.privateKey);
const numbers = material.rsa ?? expect.fail('no private numbers');
const [p = 0n, q = 0n] = numbers.primes;

/** Read from OpenSSL's own text of the key, not from the code under test. */
const bigEndian = (base64url: string | undefined): bigint =>
  BigInt(`0x${Buffer.from(base64url ?? '', 'base64url').toString('hex')}`);

describe('an RSA key in a backup', () => {
  it('is the numbers of RFC 8017', () => {
    const jwk = pair.privateKey.export({ format: 'jwk' });
    expect(numbers).toEqual({
      n: bigEndian(jwk.n),
      e: 65537n,
      d: bigEndian(jwk.d),
      primes: [bigEndian(jwk.p), bigEndian(jwk.q)],
      precomputed: {
        dp: numbers.d % (p - 1n),
        dq: numbers.d % (q - 1n),
        qInv: bigEndian(jwk.qi),
      },
    });
  });

  it('comes back as the same key, with or without its public half beside it', async () => {
    const publicKey = { n: numbers.n, e: numbers.e };
    expect((await rsaFromBackup(material, 2048)).equals(pair.privateKey)).toBe(true);
    const both = await rsaFromBackup({ rsa: numbers, rsaPublic: publicKey }, 2048);
    expect(both.equals(pair.privateKey)).toBe(true);
    const half = await rsaFromBackup(rsaToBackup(pair.publicKey), 2048);
    expect(half.equals(createPublicKey(pair.privateKey))).toBe(true);
  });

  it('has a public exponent from 3 to 2^31 - 1', async () => {
    for (const e of [3n, 2n ** 31n - 1n]) {
      const half = await rsaFromBackup({ rsaPublic: { n: numbers.n, e } }, 2048);
      expect(bigEndian(half.export({ format: 'jwk' }).e)).toBe(e);
    }
  });

  it('does not need, and does not believe, what follows from the other numbers', async () => {
    const lying = { ...numbers, precomputed: { dp: 1n, dq: 1n, qInv: 1n } };
    expect((await rsaFromBackup({ rsa: lying }, 2048)).equals(pair.privateKey)).toBe(true);
  });

  const altered = (change: Partial<typeof numbers>): BackupMaterial => ({
    rsa: { ...numbers, ...change },
  });
  const apart = 'has an RSA private key that does not match its public key';
  const composite = 3n * 5n;

  it.each<[string, string, BackupMaterial, number]>([
    ['nothing is there', 'has no RSA key', {}, 2048],
    ['a longer one is wanted', 'has an RSA modulus that is not of 4096 bits', material, 4096],
    ['a shorter one is wanted', 'has an RSA modulus that is not of 2047 bits', material, 2047],
    ['n is 0', 'has an RSA modulus that is not of 2048 bits', altered({ n: 0n }), 2048],
    ['n is negative', 'has an RSA modulus that is not of 2048 bits', altered({ n: -numbers.n }), 2048],
    ['n is a power of 2', 'has an even RSA modulus', altered({ n: 2n ** 2047n }), 2048],
    ['e is 1', 'has an RSA public exponent that is not usable', altered({ e: 1n }), 2048],
    ['e is even', 'has an RSA public exponent that is not usable', altered({ e: 65536n }), 2048],
    ['e is too large', 'has an RSA public exponent that is not usable', altered({ e: 2n ** 31n + 1n }), 2048],
    ['e is negative', 'has an RSA public exponent that is not usable', altered({ e: -3n }), 2048],
    ['primes are three', 'has an RSA key of more than two primes', altered({ primes: [p, q, 3n] }), 2048],
    ['primes are missing', apart, altered({ primes: [] }), 2048],
    ['one prime is missing', apart, altered({ primes: [p] }), 2048],
    ['both primes are one', apart, altered({ primes: [p, p] }), 2048],
    ['one prime is 1', apart, altered({ primes: [1n, numbers.n] }), 2048],
    ['primes are negative', apart, altered({ primes: [-p, -q] }), 2048],
    ['a prime is none', apart, altered({ primes: [composite, numbers.n / composite] }), 2048],
    ['d is another number', apart, altered({ d: numbers.d + 2n }), 2048],
    ['d is 0', apart, altered({ d: 0n }), 2048],
    ['d is larger by n', apart, altered({ d: numbers.d + numbers.n }), 2048],
    ['e is that of another d', apart, altered({ e: 3n }), 2048],
    ['d fits one prime alone', apart, altered({ d: numbers.d % (p - 1n) }), 2048],
    ['d fits the other prime alone', apart, altered({ d: numbers.d % (q - 1n) }), 2048],
    ['the public key has another e', apart, { rsa: numbers, rsaPublic: { n: numbers.n, e: 3n } }, 2048],
    ['the public key is of another pair', apart, { rsa: numbers, ...rsaToBackup(other.publicKey) }, 2048],
  ])('is refused when %s: the backup %s', async (_, what, hostile, bits) => {
    expect(await rejectionOf(rsaFromBackup(hostile, bits))).toMatchObject({
      kind: 'invalid',
      message: `backup ${what}`,
      field: 'backup',
    });
  });

  it('is refused when a factor is not prime although every equation holds', async () => {
    const a = 2n ** 1024n - 105n;
    /** Divisible by 3. */
    const b = 2n ** 1024n - 1n;
    const hostile = {
      n: a * b,
      e: 65537n,
      d: inverse(65537n, (a - 1n) * (b - 1n)),
      primes: [a, b],
    };
    expect(await rejectionOf(rsaFromBackup({ rsa: hostile }, 2048))).toMatchObject({
      message: `backup ${apart}`,
    });
  });
});

/** Extended Euclid. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [value % modulus, modulus, 1n, 0n];
  while (b > 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  expect(a).toBe(1n);
  return ((x % modulus) + modulus) % modulus;
}
