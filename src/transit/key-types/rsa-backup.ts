import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { CofferError } from '../../ground/errors.ts';
import { bitLength, fromBase64Url, keyOf, refusedBackup, storedKey, toBase64Url } from './key-pair.ts';
import type { BackupForm, BackupMaterial, RsaNumbers } from './key-type.ts';

type PublicNumbers = Pick<RsaNumbers, 'n' | 'e'>;

/** Maximum public exponent, the same as in Go. */
const MAX_EXPONENT = 2n ** 31n - 1n;

const publicJwk = ({ n, e }: PublicNumbers) => ({ kty: 'RSA', n: toBase64Url(n), e: toBase64Url(e) });

/**
 * Creates the backup form.
 * @param number type number, the same in Vault and OpenBao
 */
export const rsaBackup = (number: number, modulusBits: number): BackupForm => ({
  openbao: number,
  vault: number,
  readMs: (modulusBits / 1024) ** 2,
  read: async (entry) => storedKey(await rsaFromBackup(entry, modulusBits)),
  write: (stored) => rsaToBackup(keyOf(stored)),
});

/** Converts an RSA key to a backup's numbers; only the public ones if it is a public key. */
export function rsaToBackup(key: KeyObject): BackupMaterial {
  const jwk = key.export({ format: 'jwk' });
  const n = fromBase64Url(jwk.n);
  const e = fromBase64Url(jwk.e);
  if (key.type === 'public') return { rsaPublic: { n, e } };
  return {
    rsa: {
      n,
      e,
      d: fromBase64Url(jwk.d),
      primes: [fromBase64Url(jwk.p), fromBase64Url(jwk.q)],
      precomputed: { dp: fromBase64Url(jwk.dp), dq: fromBase64Url(jwk.dq), qInv: fromBase64Url(jwk.qi) },
    },
  };
}

/**
 * Converts a backup's numbers to a key, private if they are complete.
 * @throws `invalid` if the numbers are not a working key of `modulusBits`
 */
export async function rsaFromBackup(material: BackupMaterial, modulusBits: number): Promise<KeyObject> {
  const { rsa, rsaPublic } = material;
  const numbers = rsa ?? rsaPublic;
  if (numbers === undefined) throw refusedBackup('has no RSA key');
  checkPublic(numbers, modulusBits);
  if (rsa === undefined) return createPublicKey({ key: publicJwk(numbers), format: 'jwk' });
  if (rsaPublic && !sameKey(rsa, rsaPublic)) throw mismatch();
  return privateKeyFrom(rsa);
}

const sameKey = (a: PublicNumbers, b: PublicNumbers): boolean => a.n === b.n && a.e === b.e;

function checkPublic({ n, e }: PublicNumbers, modulusBits: number): void {
  if (n <= 0n || bitLength(n) !== modulusBits) {
    throw refusedBackup(`has an RSA modulus that is not of ${modulusBits} bits`);
  }
  if (n % 2n === 0n) throw refusedBackup('has an even RSA modulus');
  if (e < 3n || e > MAX_EXPONENT || e % 2n === 0n) {
    throw refusedBackup('has an RSA public exponent that is not usable');
  }
}

async function privateKeyFrom(numbers: RsaNumbers): Promise<KeyObject> {
  const [p = 0n, q = 0n, ...more] = numbers.primes;
  const { n, e, d } = numbers;
  if (more.length > 0) throw refusedBackup('has an RSA key of more than two primes');
  const consistent =
    p > 2n &&
    q > 2n &&
    p !== q &&
    p * q === n &&
    d > 1n &&
    d < n &&
    (d * e) % (p - 1n) === 1n &&
    (d * e) % (q - 1n) === 1n;
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

/**
 * Creates a key and tests it. Numbers can satisfy every equation without being a key (a factor that is not prime); its
 * signatures are wrong then.
 */
function working(make: () => KeyObject): KeyObject {
  try {
    const key = make();
    if (verify('sha256', PROBE, createPublicKey(key), sign('sha256', PROBE, key))) return key;
  } catch {
    // OpenSSL's reasons would quote numbers of the key.
  }
  throw mismatch();
}

const mismatch = (): CofferError =>
  refusedBackup('has an RSA private key that does not match its public key');
