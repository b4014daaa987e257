import { decodeBase64 } from '../../ground/base64.ts';
import { wipe } from '../../ground/bytes.ts';
import { CofferError, invalid, unsupported } from '../../ground/errors.ts';
import type { Engine } from '../engine.ts';
import type { KeyType, StoredMaterial } from '../key-types/key-type.ts';
import { requireWrappingHash, unwrapFromTransport } from './wrapping.ts';
import { wrappingKey } from './wrapping-key.ts';

/** Key material from outside. When both are given, the wrapped key counts, as it does for peers. */
export interface Incoming {
  /** Base64 of the key, wrapped under the mount's wrapping key. */
  readonly ciphertext?: string;
  /** Name of the OAEP hash under which it is wrapped, in any case. */
  readonly hashFunction: string;
  /** A public key alone, SubjectPublicKeyInfo in PEM. */
  readonly publicKey?: string;
}

/**
 * Unwraps and parses what was brought in.
 * @param derived the key is one that contexts are derived from, for which a public key alone is of no use.
 * @throws `invalid` or `unsupported` in the words of peers.
 */
export async function importedMaterial(
  engine: Engine,
  type: KeyType,
  incoming: Incoming,
  derived: boolean,
): Promise<StoredMaterial> {
  requireWrappingHash(incoming.hashFunction, 'hash_function');
  const { importing } = type;
  if (importing === undefined) throw unsupported(`unknown key type: ${type.name}`, { field: 'type' });
  if (incoming.ciphertext) {
    const blob = decodeBase64(incoming.ciphertext, 'ciphertext');
    const secret = unwrapFromTransport(await wrappingKey(engine), incoming.hashFunction, blob);
    try {
      return await parsed(() => importing.secret(secret));
    } finally {
      wipe(secret);
    }
  }
  const { publicKey = '' } = incoming;
  const readPublicKey = importing.publicKey;
  if (readPublicKey === undefined) {
    throw unsupported('provided type does not support public_key import', {
      field: 'public_key',
      hint: 'give the wrapped key as ciphertext',
    });
  }
  if (derived) {
    throw refusedImport(
      'unable to import only public key for derived Ed25519 key: imported key should not be an Ed25519 key pair but is instead an HKDF key',
      { field: 'public_key', hint: 'give the wrapped private key as ciphertext' },
    );
  }
  return parsed(() => readPublicKey(publicKey));
}

const refusedImport = (message: string, details: ConstructorParameters<typeof CofferError>[2]): CofferError =>
  invalid(`error importing key: ${message}`, details);

/** Peers say of every key that a type does not take that it could not be imported, and then why. */
async function parsed(read: () => StoredMaterial | Promise<StoredMaterial>): Promise<StoredMaterial> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof CofferError)) throw error;
    const { field, hint } = error;
    throw refusedImport(error.message, {
      ...(field === undefined ? {} : { field }),
      ...(hint === undefined ? {} : { hint }),
    });
  }
}
