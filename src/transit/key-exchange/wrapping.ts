/** Wraps keys for transport between services, so that they are never in the clear in between. */

import {
  constants,
  createCipheriv,
  createDecipheriv,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
} from 'node:crypto';
import { wiping } from '../../ground/bytes.ts';
import { type CofferError, failingAs, invalid, ownWords } from '../../ground/errors.ts';
import type { Random } from '../../ground/random.ts';
import type { DocumentRef } from '../../store/store.ts';
import type { Engine } from '../engine.ts';
import { keyOf, newPrivateKey, storedKey } from '../key-types/key-pair.ts';
import type { StoredMaterial } from '../key-types/key-type.ts';

/**
 * Transport wrapping (PKCS #11 `CKM_RSA_AES_KEY_WRAP`): a fresh AES-256 key under RSA-OAEP, then the key itself under
 * that AES key by AES-KWP (RFC 5649), concatenated without a separator.
 * @see docs/decisions/0024
 */

/** Initial value defined by RFC 5649, section 3. */
const KWP_INITIAL_VALUE = Buffer.from('a65959a6', 'hex');
const KWP_CIPHER = 'id-aes256-wrap-pad';
const EPHEMERAL_KEY_BYTES = 32;
/** One block in addition to the initial value. OpenSSL would unwrap an empty input to an empty output. */
const LEAST_WRAPPED_BYTES = 16;

/** Hashes for both OAEP and its MGF1, by their names in the API, upper case. */
const OAEP_HASHES: Readonly<Record<string, string>> = {
  SHA1: 'sha1',
  SHA224: 'sha224',
  SHA256: 'sha256',
  SHA384: 'sha384',
  SHA512: 'sha512',
};

export const wrappingHashNames: readonly string[] = Object.keys(OAEP_HASHES);

function oaepHash(name: string, field: string): string {
  const hash = OAEP_HASHES[name.toUpperCase()];
  if (hash === undefined || !Object.hasOwn(OAEP_HASHES, name.toUpperCase())) {
    throw invalid(`unknown hash function: ${name}`, {
      field,
      hint: `use one of ${wrappingHashNames.join(', ')}`,
    });
  }
  return hash;
}

/**
 * Checks the name of a hash.
 * @throws `invalid` if it is unknown
 */
export const requireWrappingHash = (name: string, field: string): void => void oaepHash(name, field);

const oaep = (key: KeyObject, hash: string) => ({
  key,
  padding: constants.RSA_PKCS1_OAEP_PADDING,
  oaepHash: hash,
});

/** AES key wrap with padding, RFC 5649; `key` has 32 bytes. */
export function wrapPadded(key: Uint8Array, target: Uint8Array): Buffer {
  const cipher = createCipheriv(KWP_CIPHER, key, KWP_INITIAL_VALUE);
  return Buffer.concat([cipher.update(target), cipher.final()]);
}

/**
 * Unwraps, the counterpart of {@link wrapPadded}.
 * @throws `invalid` if the wrapped key was changed or is malformed
 */
export function unwrapPadded(key: Uint8Array, wrapped: Uint8Array): Buffer {
  if (wrapped.length < LEAST_WRAPPED_BYTES) throw integrityFailed();
  return failingAs(integrityFailed, () => {
    const decipher = createDecipheriv(KWP_CIPHER, key, KWP_INITIAL_VALUE);
    return Buffer.concat([decipher.update(wrapped), decipher.final()]);
  });
}

const integrityFailed = (): CofferError =>
  invalid(ownWords('unwrapping the key failed: integrity check failed'), {
    field: 'ciphertext',
    hint: 'wrap the key with AES-KWP, which RFC 5649 defines, using the AES key that is wrapped with RSA-OAEP',
  });

/**
 * Wraps `target` for the holder of the private key.
 * @param hashName name of the OAEP hash, case-insensitive
 */
export function wrapForTransport(
  publicKey: KeyObject,
  hashName: string,
  target: Uint8Array,
  random: Random,
): Buffer {
  const hash = oaepHash(hashName, 'hash');
  return wiping(random.bytes(EPHEMERAL_KEY_BYTES), (ephemeral) =>
    Buffer.concat([publicEncrypt(oaep(publicKey, hash), ephemeral), wrapPadded(ephemeral, target)]),
  );
}

/**
 * Unwraps, the counterpart of {@link wrapForTransport}. The caller owns the returned key and wipes it. All OAEP
 * failures have the same message, so that they reveal nothing to an attacker.
 * @throws `invalid`
 */
export function unwrapFromTransport(privateKey: KeyObject, hashName: string, blob: Uint8Array): Buffer {
  const hash = oaepHash(hashName, 'hash_function');
  const modulusBytes = Math.ceil((privateKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
  if (blob.length <= modulusBytes) {
    throw invalid(ownWords('provided ciphertext is too short'), {
      field: 'ciphertext',
      hint: 'give the wrapped AES key, followed by the key that it wraps',
    });
  }
  return wiping(openEphemeral(privateKey, hash, blob.subarray(0, modulusBytes)), (ephemeral) => {
    if (ephemeral.length !== EPHEMERAL_KEY_BYTES) {
      throw invalid(ownWords('expected ephemeral AES key to be 256-bit'), { field: 'ciphertext' });
    }
    return unwrapPadded(ephemeral, blob.subarray(modulusBytes));
  });
}

function openEphemeral(privateKey: KeyObject, hash: string, wrapped: Uint8Array): Buffer {
  try {
    return privateDecrypt(oaep(privateKey, hash), wrapped);
  } catch {
    throw invalid(ownWords('crypto/rsa: decryption error'), {
      field: 'ciphertext',
      hint: 'wrap with the current wrapping key and the same hash function',
    });
  }
}

/** Size of Vault's wrapping key; importers check the length of a wrapped key against it. */
const MODULUS_BITS = 4096;

const refOf = (engine: Engine): DocumentRef => ({ collection: engine.settings, id: 'wrapping-key' });

/**
 * Returns the mount's wrapping key, under which clients wrap keys to import. It is created on first use and never
 * changes; it is not a named key, so that it does not appear in lists of keys.
 * @see docs/decisions/0024
 */
export async function wrappingKey(engine: Engine): Promise<KeyObject> {
  const ref = refOf(engine);
  const stored = await engine.store.read((view) => view.get<StoredMaterial>(ref));
  return keyOf(stored ?? (await makeWrappingKey(engine, ref)));
}

/** Returns the public wrapping key: SubjectPublicKeyInfo in PEM, with a newline at the end. */
export async function wrappingPublicKey(engine: Engine): Promise<string> {
  const ref = refOf(engine);
  const stored = await engine.store.read((view) => view.get<StoredMaterial>(ref));
  const { publicKey = '' } = stored ?? (await makeWrappingKey(engine, ref));
  return keyOf({ publicKey }).export({ format: 'pem', type: 'spki' }).toString();
}

/**
 * Generates the wrapping key: seconds of work on another thread, then one transaction; if another caller was faster,
 * its key is used.
 */
async function makeWrappingKey(engine: Engine, ref: DocumentRef): Promise<StoredMaterial> {
  const privateKey = await newPrivateKey('rsa', { modulusLength: MODULUS_BITS });
  return engine.store.transact(async (tx) => {
    const meanwhile = await tx.get<StoredMaterial>(ref);
    if (meanwhile !== undefined) return meanwhile;
    const made = storedKey(privateKey);
    tx.put(ref, made);
    return made;
  });
}
