import { createPublicKey, type KeyObject } from 'node:crypto';
import { membersOf, readDer, TAG } from './der.ts';

/** Numbers of an RSA key, big-endian without leading zeros. */
interface RsaNumbers {
  readonly modulus: Buffer;
  readonly exponent: Buffer;
}

/**
 * Returns the public numbers of an RSA key, from its SubjectPublicKeyInfo (RFC 3279, 2.3.1). For keys that others give:
 * when Node itself tells a number of more than 2048 bytes (`asymmetricKeyDetails`, or as JSON Web Key), it leaves an
 * error in OpenSSL's queue, and the next operation of the process fails with that.
 * @returns undefined for a key of another type
 */
export function rsaNumbers(key: KeyObject): RsaNumbers | undefined {
  if (key.asymmetricKeyType?.startsWith('rsa') !== true) return undefined;
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const [, bits] = membersOf(readDer(publicKey.export({ format: 'der', type: 'spki' })), TAG.sequence);
  // The first octet counts the unused bits, of which there are none.
  const numbers = readDer(bits?.content.subarray(1) ?? Buffer.alloc(0));
  const [modulus = Buffer.alloc(0), exponent = Buffer.alloc(0)] = membersOf(numbers, TAG.sequence).map(
    ({ content }) => (content[0] === 0 ? content.subarray(1) : content),
  );
  return { modulus, exponent };
}

/** Length of an RSA key's modulus in bits, of a key that others may have given; undefined for a key of another type. */
export function modulusBitsOf(key: KeyObject): number | undefined {
  const numbers = rsaNumbers(key);
  if (numbers === undefined) return undefined;
  const [first = 0] = numbers.modulus;
  return 8 * numbers.modulus.length - (Math.clz32(first) - 24);
}
