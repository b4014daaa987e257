import { encapsulate, type KeyObject } from 'node:crypto';
import { wipe } from '../../../ground/bytes.ts';
import { invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import { rawKeys } from '../raw-keys.ts';

/** ML-KEM-768 (FIPS 203), the post-quantum half of hybrid recipients. */

const ML_KEM = 'ml-kem-768';
export const ML_KEM_PUBLIC_BYTES = 1184;
export const ML_KEM_CIPHERTEXT_BYTES = 1088;
export const ML_KEM_SEED_BYTES = 64;

/** Derives the private key from a seed, which is overwritten. */
export function mlKemOf(seed: Buffer): KeyObject {
  const key = rawKeys.createPrivateKey({ key: seed, format: 'raw-seed', asymmetricKeyType: ML_KEM });
  wipe(seed);
  return key;
}

function publicMlKem(publicKey: Uint8Array): KeyObject {
  try {
    return rawKeys.createPublicKey({
      key: publicKey.subarray(0, ML_KEM_PUBLIC_BYTES),
      format: 'raw-public',
      asymmetricKeyType: ML_KEM,
    });
  } catch (error) {
    throw invalid(ownWords('the recipient is not a valid ML-KEM public key'), { cause: error });
  }
}

/**
 * Encapsulates a secret for the holder of a key.
 * @param publicKey begins with the ML-KEM public key
 * @throws `invalid`
 */
export function encapsulated(publicKey: Uint8Array): { readonly shared: Buffer; readonly sent: Buffer } {
  const { sharedKey, ciphertext } = encapsulate(publicMlKem(publicKey));
  return { shared: Buffer.from(sharedKey), sent: Buffer.from(ciphertext) };
}
