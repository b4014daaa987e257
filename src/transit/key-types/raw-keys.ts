import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** What `node:crypto` can do and its declarations do not know yet: keys as the bytes that their standards define. */
interface RawKeys {
  createPrivateKey(key: { key: Uint8Array; format: string; asymmetricKeyType: string }): KeyObject;
  createPublicKey(key: { key: Uint8Array; format: string; asymmetricKeyType: string }): KeyObject;
}

export const rawKeys: RawKeys = {
  createPrivateKey: createPrivateKey as unknown as RawKeys['createPrivateKey'],
  createPublicKey: createPublicKey as unknown as RawKeys['createPublicKey'],
};

/** @param format Node's word: `raw-public`, `raw-private`, `raw-seed`. */
export const raw = (key: KeyObject, format: string): Buffer =>
  (key.export as unknown as (options: { format: string }) => Buffer).call(key, { format });

export const rawPublic = (key: KeyObject): Buffer => raw(key, 'raw-public');
