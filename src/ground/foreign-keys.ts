import { createPublicKey, type KeyObject } from 'node:crypto';
import { membersOf, readDer, TAG } from './der.ts';

// Keys that others give are asked about here only. Some questions that Node passes on to OpenSSL leave an error in
// OpenSSL's queue, and the next key that the process opens fails with that.

/** Numbers of an RSA key, big-endian without leading zeros. */
interface RsaNumbers {
  readonly modulus: Buffer;
  readonly exponent: Buffer;
}

/**
 * Returns the public numbers of an RSA key, from its SubjectPublicKeyInfo (RFC 3279, 2.3.1). Node itself leaves an error
 * behind when it tells a number of more than 2048 bytes (`asymmetricKeyDetails`, or as JSON Web Key).
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

/** Whether two keys are the same. OpenSSL compares keys of different types with an error that stays behind. */
export const isSameKey = (key: KeyObject, other: KeyObject): boolean =>
  key.asymmetricKeyType === other.asymmetricKeyType && key.equals(other);
