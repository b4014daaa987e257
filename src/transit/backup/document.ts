import type { BackupMaterial } from '../key-types/key-type.ts';

/**
 * The document inside a backup, member for member as OpenBao writes it: `{"policy": …, "archived_keys": {"keys": […]}}`.
 * This file knows the layout alone; what the values mean, and whether they fit each other, is for others.
 */

/** One version; what a type does not have is undefined. */
export interface BackupEntry extends BackupMaterial {
  readonly hmacKey?: Buffer;
  /** Creation, as Go writes times. */
  readonly time: string;
  readonly convergentVersion: number;
  /** Creation in Unix seconds, from before `time` existed. */
  readonly creationTime: number;
  /** DER, the leaf first. */
  readonly certificateChain?: readonly Buffer[];
  readonly externalKeyRef: string;
  /** Vault only; the key is held by something else. */
  readonly managedKeyId: string;
}

/** When, and at which latest version, something happened. */
export interface BackupRecord {
  readonly time: string;
  readonly version: number;
}

/** The key with its configuration. */
export interface BackupPolicy {
  readonly name: string;
  /** A single key from before there were versions. */
  readonly key?: Buffer;
  /** Bytes; type hmac. */
  readonly keySize: number;
  /** By version, those not below `minDecryptionVersion`. */
  readonly keys: ReadonlyMap<string, BackupEntry>;
  readonly derived: boolean;
  readonly kdf: number;
  readonly convergentEncryption: boolean;
  readonly exportable: boolean;
  readonly minDecryptionVersion: number;
  readonly minEncryptionVersion: number;
  readonly latestVersion: number;
  readonly archiveVersion: number;
  readonly archiveMinVersion: number;
  readonly minAvailableVersion: number;
  readonly deletionAllowed: boolean;
  readonly convergentVersion: number;
  /** A number of the peers' register; the name of a type that is in none of their registers. */
  readonly type: number | string;
  readonly backupInfo?: BackupRecord;
  readonly restoreInfo?: BackupRecord;
  readonly allowPlaintextBackup: boolean;
  readonly versionTemplate: string;
  readonly storagePrefix: string;
  readonly autoRotatePeriodNanoseconds: bigint;
  readonly imported: boolean;
  readonly allowImportedKeyRotation: boolean;
  readonly softDeleted: boolean;
  /** The document has members that only OpenBao writes, so type numbers are OpenBao's. */
  readonly openBaoLayout: boolean;
}

export interface BackupDocument {
  readonly policy: BackupPolicy;
  /** Every available version, and before version 1 an empty entry; absent when no archive was written. */
  readonly archivedKeys?: readonly BackupEntry[];
}
