import { invalid, ownWords } from '../ground/errors.ts';
import type { DerivationMode, StoredMaterial } from './key-types/key-type.ts';

/** Named keys as stored. */

/** Time of a backup or restore, and the latest version then. */
export interface VersionStamp {
  /** RFC 3339, up to nine digits of fraction. */
  readonly time: string;
  readonly version: number;
}

/** Scalars of a backup that have no meaning in Coffer; stored for the next backup. */
type Passthrough = Readonly<Record<string, string | number | boolean>>;

/** Version of a named key, as stored. */
export interface VersionDocument extends StoredMaterial {
  /** RFC 3339, up to nine digits of fraction; Go's zero time in very old entries. */
  readonly createdAt: string;
  /** Creation time in whole seconds since the Unix epoch; the only one in very old entries. */
  readonly createdAtSeconds: number;
  /** Base64. Independent of the key itself. Absent in some very old versions, which cannot compute HMACs. */
  readonly hmacKey?: string;
  /** 3 for today's convergent keys; 0 means that the named key's value applies. */
  readonly convergentVersion: number;
  /** Base64 DER, leaf first. */
  readonly certificateChain?: readonly string[] | undefined;
  readonly passthrough?: Passthrough | undefined;
}

/** Settings of a named key that its backups have as well. */
export interface KeySettings {
  readonly name: string;
  readonly derived: boolean;
  readonly convergentEncryption: boolean;
  /** -1: see the versions; 1 or 2: old keys, for versions with 0; 0: not convergent. */
  readonly convergentVersion: number;
  readonly exportable: boolean;
  readonly allowPlaintextBackup: boolean;
  readonly deletionAllowed: boolean;
  readonly softDeleted: boolean;
  /** Oldest version that may be used, at least 1. */
  readonly minDecryptionVersion: number;
  /** Oldest version that may encrypt and sign; 0: the same as `minDecryptionVersion`. */
  readonly minEncryptionVersion: number;
  /** Oldest version that still exists; 0 until the first trim. */
  readonly minAvailableVersion: number;
  readonly latestVersion: number;
  readonly imported: boolean;
  readonly allowImportedKeyRotation: boolean;
  /** Empty for the mount's own prefix; else the template of a restored key, with `{{version}}` in it. */
  readonly versionTemplate: string;
  readonly backupInfo?: VersionStamp | undefined;
  readonly restoreInfo?: VersionStamp | undefined;
}

/**
 * Named key, as stored: a JSON document with the key's name as its ID. Each version that exists is stored once;
 * `minDecryptionVersion` only determines which of them may be used.
 * @see docs/decisions/0010
 */
export interface NamedKeyDocument extends KeySettings {
  /** Name of the key type. */
  readonly type: string;
  /** Vault's name for the type, if the key was created by that name; shown to Vault clients. */
  readonly familyName?: string | undefined;
  /** Chosen length in bytes, for types with a variable length; else 0. */
  readonly keyBytes: number;
  /** Key derivation function of contexts: 0 counter mode, 1 HKDF. Meaningless if `derived` is false. */
  readonly kdf: DerivationMode;
  /** 0: no automatic rotation. */
  readonly autoRotatePeriodSeconds: number;
  readonly passthrough?: Passthrough | undefined;
  /** Versions by decimal number, from 1. */
  readonly versions: Readonly<Record<string, VersionDocument>>;
  /**
   * Revoked versions: not usable, although never trimmed. They are separate from `versions`, so that all code,
   * including earlier releases, treats them as gone. null for a destroyed one. Absent if there are none.
   * @see docs/decisions/0300
   */
  readonly revokedVersions?: Readonly<Record<string, VersionDocument | null>> | undefined;
  /** ID under which another module stores data about the key; absent if none does. Not used by transit. */
  readonly knownAs?: string;
  /** Number of latest versions that are usable; absent for all. */
  readonly keepVersions?: number | undefined;
  /** Present if rotation deletes versions that are not usable any more. */
  readonly autoTrim?: true | undefined;
}

/** ASCII letters, digits and `_`; inside also `-` and `.`. Vault's rule for names in paths. */
export const KEY_NAME = /^\w(?:[\w.-]*\w)?$/;

/** Maximum length of a new key's name; existing keys keep their names. */
const MAX_KEY_NAME_LENGTH = 512;

/**
 * Checks the length of a name.
 * @throws `invalid` naming `field`
 */
export function checkNameLength(name: string, field: string): void {
  if (name.length <= MAX_KEY_NAME_LENGTH) return;
  throw invalid(`key names must have at most ${MAX_KEY_NAME_LENGTH} characters, not ${name.length}`, {
    field,
  });
}

/**
 * Checks a key name that comes from outside.
 * @throws `invalid` naming `field`
 */
export function requireKeyName(name: string, field: string): string {
  checkNameLength(name, field);
  if (KEY_NAME.test(name)) return name;
  const shown = JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);
  throw invalid(
    name.includes('/') ? ownWords('key names cannot be paths') : `key name ${shown} is not allowed`,
    {
      field,
      hint: 'use letters, digits, "_", "-" and "."; the name must begin and end with a letter, a digit or "_"',
    },
  );
}
