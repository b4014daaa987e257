import { createHash, type KeyObject } from 'node:crypto';
import { wipe, wiping } from '../../../ground/bytes.ts';
import { invalid, ownWords } from '../../../ground/errors.ts';
import { raw, rawPublic } from '../raw-keys.ts';
import { expand, extract, openOnce, SECRET_BYTES, type SealedSecret, sealOnce, ZERO_NONCE } from './kem.ts';
import { ephemeralX25519, lowOrderRecipient, lowOrderShare, x25519 } from './x25519.ts';

/**
 * age's use of SSH Ed25519 keys (C2SP, age.md, "ssh-ed25519"): Diffie-Hellman with the same key on the Montgomery form
 * of the curve, bound to the SSH key by a factor derived from it.
 */

const INFO = 'age-encryption.org/v1/ssh-ed25519';

/**
 * Converts a public key to Curve25519 (RFC 7748, 4.1).
 * @throws `invalid` if the key is not a point of the curve
 */
async function pointOf(key: KeyObject): Promise<Uint8Array> {
  const { ed25519 } = await import('./noble-ed25519.ts');
  try {
    return ed25519.utils.toMontgomery(rawPublic(key));
  } catch (error) {
    throw invalid(ownWords('the Ed25519 key is not a point on the curve'), { cause: error });
  }
}

/** Returns the scalar of a private key (RFC 8032, 5.1.5); X25519 clamps it. */
function scalarOf(key: KeyObject): Buffer {
  const hash = wiping(raw(key, 'raw-private'), (seed) => createHash('sha512').update(seed).digest());
  return hash.subarray(0, SECRET_BYTES);
}

/**
 * Derives the wrapping key.
 * @param blob public key in SSH's encoding
 * @returns undefined for a point of low order
 */
function wrapKeyOf(shared: Buffer | undefined, share: Uint8Array, point: Uint8Array, blob: Uint8Array) {
  const factor = expand(extract(blob, Buffer.alloc(0)), INFO);
  const tied = shared && x25519(factor, shared);
  wipe(shared);
  const key = tied && expand(extract(Buffer.concat([share, point]), tied), INFO);
  wipe(tied);
  return key;
}

/**
 * Wraps a secret.
 * @param blob public key in SSH's encoding
 */
export async function sealForEd25519(
  key: KeyObject,
  blob: Uint8Array,
  plaintext: Uint8Array,
): Promise<SealedSecret> {
  const point = await pointOf(key);
  const { secret, share } = ephemeralX25519();
  const wrapKey = wiping(secret, () => wrapKeyOf(x25519(secret, point), share, point, blob));
  if (wrapKey === undefined) throw lowOrderRecipient();
  const body = wiping(wrapKey, () => sealOnce(wrapKey, ZERO_NONCE, plaintext));
  return { encapsulated: share, body };
}

/**
 * Unwraps a secret.
 * @returns undefined if it was not wrapped for this key, or was altered
 * @throws `inauthentic` for a point of low order
 */
export async function openWithEd25519(
  privateKey: KeyObject,
  publicKey: KeyObject,
  blob: Uint8Array,
  { encapsulated, body }: SealedSecret,
): Promise<Buffer | undefined> {
  const point = await pointOf(publicKey);
  const wrapKey = wiping(scalarOf(privateKey), (scalar) =>
    wrapKeyOf(x25519(scalar, encapsulated), encapsulated, point, blob),
  );
  if (wrapKey === undefined) throw lowOrderShare();
  return wiping(wrapKey, () => openOnce(wrapKey, ZERO_NONCE, body));
}
