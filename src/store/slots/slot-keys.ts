import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { lengthPrefixed, wipe } from '../../ground/bytes.ts';
import { attempt } from '../../ground/errors.ts';
import type { Random } from '../../ground/random.ts';
import { openOnce, type SealContext, sealOnce } from '../single-use-seal.ts';
import type { Kdf } from './key-encryption.ts';
import type { SlotIdentity, WrappedRootKey } from './slot-file.ts';

/**
 * Keys of a slot, between its secret and the root key: an X25519 pair, and a random pairing key. The root key is
 * wrapped to the public key, so that a rekey can wrap it for every slot without knowing any secret. The pairing key
 * enters that wrap too. It is known only under the slot's secret and in the store's sealed list of slots, so an
 * attacker who can merely write to the disk cannot wrap a root key of their choice; one who also had a root key of the
 * slot's time can.
 * @see docs/decisions/0001
 */
export interface SlotKeys {
  readonly privateKey: KeyObject;
  readonly pairingKey: Buffer;
}

const KEY_BYTES = 32;

export function newSlotKeys(random: Random): { keys: SlotKeys; publicKey: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  return { keys: { privateKey, pairingKey: random.bytes(KEY_BYTES) }, publicKey: exportPublic(publicKey) };
}

interface SlotSeal {
  readonly kdf: Kdf;
  readonly storeId: string;
  readonly slot: SlotIdentity;
}

/**
 * Seals the keys of a slot.
 * @param secret output of `keyEncryptionSecret`
 */
export function sealSlotKeys(keys: SlotKeys, secret: Uint8Array, { kdf, storeId, slot }: SlotSeal): Buffer {
  const privateKey = keys.privateKey.export({ format: 'raw-private' });
  const plaintext = Buffer.concat([privateKey, keys.pairingKey]);
  const sealed = sealOnce(keysContext(secret, kdf, storeId, slot), plaintext);
  wipe(privateKey, plaintext);
  return sealed;
}

/** Opens the keys of a slot; undefined if the secret is not the slot's. */
export function openSlotKeys(
  sealed: Uint8Array,
  secret: Uint8Array,
  { kdf, storeId, slot }: SlotSeal,
): SlotKeys | undefined {
  const plaintext = openOnce(keysContext(secret, kdf, storeId, slot), sealed);
  if (plaintext === undefined) return undefined;
  const privateKey = createPrivateKey({
    key: plaintext.subarray(0, KEY_BYTES),
    // Raw keys avoid OpenSSL's decoders, whose first use costs half a millisecond.
    format: 'raw-private',
    asymmetricKeyType: 'x25519',
  });
  const pairingKey = Buffer.from(plaintext.subarray(KEY_BYTES));
  wipe(plaintext);
  return { privateKey, pairingKey };
}

interface SlotBinding {
  readonly storeId: string;
  readonly generation: number;
  readonly slot: SlotIdentity;
}

/** Wraps a root key for a slot; needs no secret of the slot except its pairing key. */
export function wrapRootKey(
  rootKey: Uint8Array,
  pairingKey: Uint8Array,
  { storeId, generation, slot }: SlotBinding,
): WrappedRootKey {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const ephemeralKey = exportPublic(publicKey);
  const shared = diffieHellman({ privateKey, publicKey: importPublic(slot.publicKey) });
  const context = wrapContext(shared, pairingKey, ephemeralKey, { storeId, generation, slot });
  const sealed = sealOnce(context, rootKey);
  wipe(shared, context.secret);
  return { ephemeralKey, sealed };
}

/**
 * Unwraps the root key, which the caller wipes; undefined if it was not wrapped for this slot by a holder of its
 * pairing key.
 */
export function unwrapRootKey(
  { ephemeralKey, sealed }: WrappedRootKey,
  keys: SlotKeys,
  { storeId, generation, slot }: SlotBinding,
): Buffer | undefined {
  const shared = tryAgree(keys.privateKey, ephemeralKey);
  if (shared === undefined) return undefined;
  const context = wrapContext(shared, keys.pairingKey, ephemeralKey, { storeId, generation, slot });
  const rootKey = openOnce(context, sealed);
  wipe(shared, context.secret);
  return rootKey;
}

/** Whether two public keys are equal. */
export const samePublicKey = (a: Buffer, b: Buffer): boolean =>
  a.length === b.length && timingSafeEqual(a, b);

function keysContext(secret: Uint8Array, kdf: Kdf, storeId: string, slot: SlotIdentity): SealContext {
  const purpose = 'coffer/1/slot keys';
  return {
    secret,
    salt: kdf.salt,
    purpose,
    associatedData: lengthPrefixed(purpose, ...bound(storeId, slot)),
  };
}

function wrapContext(
  shared: Uint8Array,
  pairingKey: Uint8Array,
  ephemeralKey: Buffer,
  { storeId, generation, slot }: SlotBinding,
): SealContext & { secret: Uint8Array } {
  const purpose = 'coffer/1/root key';
  return {
    secret: Buffer.concat([shared, pairingKey]),
    salt: Buffer.concat([ephemeralKey, slot.publicKey]),
    purpose,
    associatedData: lengthPrefixed(purpose, ...bound(storeId, slot), String(generation)),
  };
}

/** Returns all public fields of a slot, for authentication. */
const bound = (
  storeId: string,
  { id, kind, created, shares, publicKey }: SlotIdentity,
): (string | Buffer)[] => [
  storeId,
  id,
  kind,
  created,
  shares === undefined ? '' : `${shares.threshold} of ${shares.count}`,
  publicKey,
];

const exportPublic = (key: KeyObject): Buffer => key.export({ format: 'raw-public' });

const importPublic = (key: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.from(key), format: 'raw-public', asymmetricKeyType: 'x25519' });

/** Runs X25519; undefined for invalid public keys: a wrong length, or a point of low order. */
const tryAgree = (privateKey: KeyObject, publicKey: Uint8Array): Buffer | undefined =>
  attempt(() => diffieHellman({ privateKey, publicKey: importPublic(publicKey) }));
