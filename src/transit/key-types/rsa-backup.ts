import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { type CofferError, invalid } from '../../errors.ts';
import type { BackupMaterial, RsaPrivateNumbers, RsaPublicNumbers } from '../backup-document.ts';
import { bitLength, fromBase64Url, toBase64Url } from './big-numbers.ts';

/** Go's own bound on public exponents. */
const MAX_EXPONENT = 2n ** 31n - 1n;

const publicJwk = ({ modulus, exponent }: RsaPublicNumbers) => ({
  kty: 'RSA',
  n: toBase64Url(modulus),
  e: toBase64Url(exponent),
});

/** The numbers of an RSA key; of its public half when that is all there is. */
export function rsaToBackup(key: KeyObject): BackupMaterial {
  const jwk = key.export({ format: 'jwk' });
  const modulus = fromBase64Url(jwk.n);
  const exponent = fromBase64Url(jwk.e);
  if (key.type === 'public') return { rsaPublicKey: { modulus, exponent } };
  const rsaKey: RsaPrivateNumbers = {
    modulus,
    exponent,
    privateExponent: fromBase64Url(jwk.d),
    primes: [fromBase64Url(jwk.p), fromBase64Url(jwk.q)],
    precomputed: {
      exponent1: fromBase64Url(jwk.dp),
      exponent2: fromBase64Url(jwk.dq),
      coefficient: fromBase64Url(jwk.qi),
    },
  };
  return { rsaKey };
}

/**
 * The key that a backup's numbers make, private if they are all there.
 * @throws `invalid` when the numbers do not make one working key of `modulusBits`.
 */
export async function rsaFromBackup(material: BackupMaterial, modulusBits: number): Promise<KeyObject> {
  const { rsaKey, rsaPublicKey } = material;
  const numbers = rsaKey ?? rsaPublicKey;
  if (numbers === undefined) throw refusal('has no RSA key');
  checkPublic(numbers, modulusBits);
  if (rsaKey === undefined) return createPublicKey({ key: publicJwk(numbers), format: 'jwk' });
  if (rsaPublicKey && !sameKey(rsaKey, rsaPublicKey)) throw mismatch();
  return privateKeyFrom(rsaKey);
}

const sameKey = (a: RsaPublicNumbers, b: RsaPublicNumbers): boolean =>
  a.modulus === b.modulus && a.exponent === b.exponent;

function checkPublic({ modulus, exponent }: RsaPublicNumbers, modulusBits: number): void {
  if (modulus <= 0n || bitLength(modulus) !== modulusBits) {
    throw refusal(`has an RSA modulus that is not of ${modulusBits} bits`);
  }
  if (modulus % 2n === 0n) throw refusal('has an even RSA modulus');
  if (exponent < 3n || exponent > MAX_EXPONENT || exponent % 2n === 0n) {
    throw refusal('has an RSA public exponent that is not usable');
  }
}

async function privateKeyFrom(numbers: RsaPrivateNumbers): Promise<KeyObject> {
  const [p = 0n, q = 0n, ...more] = numbers.primes;
  const { modulus, exponent, privateExponent: d } = numbers;
  if (more.length > 0) throw refusal('has an RSA key of more than two primes');
  const consistent =
    p > 2n &&
    q > 2n &&
    p !== q &&
    p * q === modulus &&
    d > 1n &&
    d < modulus &&
    (d * exponent) % (p - 1n) === 1n &&
    (d * exponent) % (q - 1n) === 1n;
  if (!consistent) throw mismatch();
  const { invert } = await import('@noble/curves/abstract/modular.js');
  const jwk = {
    ...publicJwk(numbers),
    d: toBase64Url(d),
    p: toBase64Url(p),
    q: toBase64Url(q),
    dp: toBase64Url(d % (p - 1n)),
    dq: toBase64Url(d % (q - 1n)),
    qi: toBase64Url(invertOrRefuse(invert, q, p)),
  };
  return working(() => createPrivateKey({ key: jwk, format: 'jwk' }));
}

function invertOrRefuse(
  invert: (value: bigint, modulus: bigint) => bigint,
  value: bigint,
  modulus: bigint,
): bigint {
  try {
    return invert(value, modulus);
  } catch {
    throw mismatch();
  }
}

const PROBE = Buffer.from('does this key work');

/** Numbers can satisfy every equation and still be no key (a factor that is not prime); then what it signs is wrong. */
function working(make: () => KeyObject): KeyObject {
  try {
    const key = make();
    if (verify('sha256', PROBE, createPublicKey(key), sign('sha256', PROBE, key))) return key;
  } catch {
    // OpenSSL refused it; its reasons would quote numbers of the key.
  }
  throw mismatch();
}

const refusal = (what: string): CofferError =>
  invalid(`backup ${what}`, { field: 'backup', hint: 'the backup is damaged or was altered' });

const mismatch = (): CofferError => refusal('has an RSA private key that does not match its public key');
