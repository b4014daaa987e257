import type { KeyObject } from 'node:crypto';
import type { DocumentRef } from '../../store/store.ts';
import type { Engine } from '../engine.ts';
import type { StoredMaterial } from '../key-types/key-type.ts';
import { newPrivateKey } from '../key-types/new-private-key.ts';
import { keyOf, storedKey } from '../key-types/stored-key.ts';

/** What peers wrap under; importers check the length of a wrapped key against it. */
const MODULUS_BITS = 4096;

const refOf = (engine: Engine): DocumentRef => ({ collection: engine.settings, id: 'wrapping-key' });

/**
 * The mount's key under which others wrap the keys that they bring here. It is made on first use and stays the same; it is no
 * named key, so that lists of keys hold keys only.
 */
export async function wrappingKey(engine: Engine): Promise<KeyObject> {
  const ref = refOf(engine);
  const stored = await engine.store.read((view) => view.get<StoredMaterial>(ref));
  return keyOf(stored ?? (await makeWrappingKey(engine, ref)));
}

/** SubjectPublicKeyInfo in PEM, with a newline at the end. */
export async function wrappingPublicKey(engine: Engine): Promise<string> {
  const ref = refOf(engine);
  const stored = await engine.store.read((view) => view.get<StoredMaterial>(ref));
  const { publicKey = '' } = stored ?? (await makeWrappingKey(engine, ref));
  return keyOf({ publicKey }).export({ format: 'pem', type: 'spki' }).toString();
}

/** Seconds of work on another thread, then one transaction; who comes second takes the first one's key. */
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
