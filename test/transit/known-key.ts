import type { Engine } from '../../src/transit/engine.ts';
import type { NamedKeyDocument, VersionDocument } from '../../src/transit/key-document.ts';
import { keyRef } from '../../src/transit/named-key.ts';

/** Bytes 00 to 1f, and the first half of them: the keys of the published vectors. */
export const KEY_32 = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
export const KEY_16 = KEY_32.subarray(0, 16);

export const QUICK_FOX = Buffer.from('the quick brown fox');
export const QUICK_FOX_BASE64 = 'dGhlIHF1aWNrIGJyb3duIGZveA==';
export const MY_CONTEXT = 'bXktY29udGV4dA==';

export const HMAC_KEY = Buffer.from('01234567890123456789012345678901');

export function knownVersion(secret: Uint8Array, overrides: Partial<VersionDocument> = {}): VersionDocument {
  return {
    secret: Buffer.from(secret).toString('base64'),
    hmacKey: HMAC_KEY.toString('base64'),
    createdAt: '2026-02-03T10:20:30.123456789Z',
    createdAtSeconds: 1_770_114_030,
    convergentVersion: 0,
    ...overrides,
  };
}

/** A named key that holds `versions`, as a restore would leave it. */
export function knownKey(
  type: string,
  versions: readonly VersionDocument[],
  overrides: Partial<NamedKeyDocument> = {},
): NamedKeyDocument {
  return {
    name: 'known',
    type,
    keyBytes: 0,
    derived: false,
    kdf: 0,
    convergentEncryption: false,
    convergentVersion: 0,
    exportable: true,
    allowPlaintextBackup: false,
    deletionAllowed: false,
    softDeleted: false,
    minDecryptionVersion: 1,
    minEncryptionVersion: 0,
    minAvailableVersion: 0,
    latestVersion: versions.length,
    autoRotatePeriodSeconds: 0,
    imported: false,
    allowImportedKeyRotation: false,
    versionTemplate: '',
    versions: Object.fromEntries(versions.map((version, index) => [String(index + 1), version])),
    ...overrides,
  };
}

export const storeKey = (engine: Engine, document: NamedKeyDocument): Promise<void> =>
  engine.store.transact((tx) => tx.put(keyRef(engine, document.name), document));
