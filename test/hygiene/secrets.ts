import { hkdfSync } from 'node:crypto';
import { openStore } from '../../src/store/open.ts';
import { keyEncryptionSecret } from '../../src/store/slots/key-encryption.ts';
import { openSlotKeys, parseSlot, slotRef } from '../../src/store/slots/slot-keys.ts';
import type { Credential } from '../../src/store/slots/unlock.ts';

/** Bytes to look for, by the name that a finding is told with. */
export type Needles = Readonly<Record<string, Uint8Array>>;

/** A secret in the forms in which a process may hold it, under `name`, `name in base64` and so on. */
export function formsOf(name: string, secret: string | Uint8Array): Needles {
  const bytes = Buffer.from(secret);
  return { [name]: bytes, ...textFormsOf(name, bytes), ...wideForm(name, secret) };
}

/** The forms that only a text has. */
export function textFormsOf(name: string, bytes: Uint8Array): Needles {
  const buffer = Buffer.from(bytes);
  return {
    [`${name} in base64`]: Buffer.from(buffer.toString('base64')),
    [`${name} in base64url`]: Buffer.from(buffer.toString('base64url')),
    [`${name} in hexadecimal`]: Buffer.from(buffer.toString('hex')),
  };
}

/** How V8 and terminals' libraries may keep a text: two bytes a character. */
const wideForm = (name: string, secret: string | Uint8Array): Needles =>
  typeof secret === 'string' ? { [`${name} in UTF-16`]: Buffer.from(secret, 'utf16le') } : {};

/** The keys of a store that lie between what unlocks it and its documents. */
export interface StoreKeys {
  readonly rootKey: Buffer;
  readonly sealingKey: Buffer;
  readonly namingKey: Buffer;
  readonly slotPrivateKey: Buffer;
  readonly pairingKey: Buffer;
  /** What the slot's keys are sealed under. */
  readonly slotSecret: Buffer;
}

/** @param credential of a slot, a key of 32 bytes or a passphrase. Derivations: docs/format.md. */
export async function storeKeys(directory: string, credential: Unlocking): Promise<StoreKeys> {
  const store = await openStore({ location: directory, credentials: [credentialOf(credential)] });
  try {
    const { generation } = await store.backend.state();
    const { slotId } = store.keyring;
    const file = await store.backend.read(generation, slotRef(slotId));
    if (file === undefined) throw new Error('the slot is missing');
    const slot = parseSlot(slotId, file, { file: slotId });
    const slotSecret = await keyEncryptionSecret(slot.kdf, {
      kind: 'key' in credential ? 'key' : 'passphrase',
      bytes: 'key' in credential ? Buffer.from(credential.key) : Buffer.from(credential.passphrase),
    });
    const keys = openSlotKeys(slot.sealedKeys, slotSecret, { kdf: slot.kdf, storeId: store.id, slot });
    if (keys === undefined) throw new Error('the slot does not open');
    const rootKey = (await store.keyring.root(store.backend, generation)).export();
    const subkey = (purpose: string): Buffer =>
      Buffer.from(hkdfSync('sha256', rootKey, store.id, purpose, 32));
    return {
      rootKey,
      sealingKey: subkey('coffer/1/sealing key'),
      namingKey: subkey('coffer/1/naming key'),
      slotPrivateKey: keys.privateKey.export({ format: 'raw-private' }),
      pairingKey: keys.pairingKey,
      slotSecret,
    };
  } finally {
    store.close();
  }
}

export type Unlocking = { readonly key: Uint8Array } | { readonly passphrase: string };

function credentialOf(unlocking: Unlocking): Credential {
  if ('passphrase' in unlocking) {
    return { source: 'the test', kind: 'passphrase', reveal: () => unlocking.passphrase };
  }
  return { source: 'the test', kind: 'raw', reveal: () => Buffer.from(unlocking.key) };
}
