import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** Functions of `node:crypto` that its declarations lack: keys as the bytes that their standards define. */
interface RawKeys {
  createPrivateKey(key: { key: Uint8Array; format: string; asymmetricKeyType: string }): KeyObject;
  createPublicKey(key: { key: Uint8Array; format: string; asymmetricKeyType: string }): KeyObject;
}

export const rawKeys: RawKeys = {
  createPrivateKey: createPrivateKey as unknown as RawKeys['createPrivateKey'],
  createPublicKey: createPublicKey as unknown as RawKeys['createPublicKey'],
};

/**
 * Exports a key.
 * @param format Node's name: `raw-public`, `raw-private`, `raw-seed`
 */
export const raw = (key: KeyObject, format: string): Buffer =>
  (key.export as unknown as (options: { format: string }) => Buffer).call(key, { format });

export const rawPublic = (key: KeyObject): Buffer => raw(key, 'raw-public');
