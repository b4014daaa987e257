import { encodeBase64 } from '../../ground/base64.ts';
import { wipe } from '../../ground/bytes.ts';
import { boundedSeconds, printGoTime } from '../../ground/clock.ts';
import { exists, invalid, ownWords, unsupported } from '../../ground/errors.ts';
import { turn } from '../../ground/pause.ts';
import type { Random } from '../../ground/random.ts';
import type { Engine } from '../engine.ts';
import { type NamedKeyDocument, requireKeyName, type VersionDocument } from '../key-document.ts';
import { keyTypeOfBackup } from '../key-types/backup-types.ts';
import type { CalledType } from '../key-types/index.ts';
import type { KeyType } from '../key-types/key-type.ts';
import { keyIn, keyRef, NamedKey } from '../named-key.ts';
import { openBackupBlob } from './blob.ts';
import {
  availableVersions,
  checkCertificateChain,
  checkSettings,
  checkWork,
  damagedVersion,
  entriesOf,
  kdfOf,
  revokedVersions,
} from './consistency.ts';
import {
  type BackupDocument,
  type BackupEntry,
  type BackupPolicy,
  EMPTY_ENTRY,
  KEPT_MEMBERS,
  NANOSECONDS_PER_SECOND,
  readBackupDocument,
} from './document.ts';

interface Restoring {
  /** Text of the backup. */
  readonly backup: string;
  /** New name of the key; absent to use its name in the backup. */
  readonly name?: string | undefined;
  /** Whether to replace an existing key of that name, with all its versions. */
  readonly force: boolean;
}

/**
 * Restores a key from a backup of Coffer, OpenBao or Vault. Atomic: nothing is changed on an error.
 * @throws `invalid`, `unsupported` or `too-large` for an unacceptable backup; `exists` if the name is taken
 */
export async function restoreKey(engine: Engine, { backup, name, force }: Restoring): Promise<NamedKey> {
  if (backup === '') {
    throw invalid(ownWords("'backup' must be supplied"), {
      field: 'backup',
      hint: 'use the output of "coffer transit backup NAME"',
    });
  }
  const read = await readBackup(backup, name, engine.random);
  const restored: NamedKeyDocument = {
    ...read,
    restoreInfo: { time: printGoTime(engine.clock.now()), version: read.latestVersion },
  };
  return engine.store.transact(async (tx) => {
    // A damaged key can be replaced as well, so `force` does not read it.
    if (!force && (await keyIn(tx, engine, restored.name)) !== undefined) {
      throw exists(`key "${restored.name}" already exists`, {
        field: 'name',
        hint: 'use another name, or set force (--force) to overwrite the key and all its versions',
      });
    }
    tx.put(keyRef(engine, restored.name), restored);
    if (force) tx.forgetReplaced();
    return NamedKey.open(restored);
  });
}

const HMAC_KEY_BYTES = 32;

/**
 * Parses the named key in a backup, fully checked. Nothing is stored.
 * @param name new name of the key; undefined to use its name in the backup
 * @throws `invalid`, `unsupported` or `too-large`, with `field` `backup` or `name`
 * @see docs/decisions/0023
 */
export async function readBackup(
  backup: string,
  name: string | undefined,
  random: Random,
): Promise<NamedKeyDocument> {
  const document = upgradedBackup(readBackupDocument(openBackupBlob(backup)), random);
  try {
    return await checkedKey(document, name, backup.length);
  } finally {
    for (const { key, hmacKey } of entriesOf(document)) wipe(key, hmacKey);
  }
}

async function checkedKey(
  document: BackupDocument,
  name: string | undefined,
  characters: number,
): Promise<NamedKeyDocument> {
  const { policy } = document;
  const finalName = requireKeyName(name ?? policy.name, name === undefined ? 'backup' : 'name');
  const called = typeOf(document);
  const { type } = called;
  checkSettings({ ...document, policy: { ...policy, name: finalName } }, type);
  const available = [...availableVersions(document, finalName)];
  const inUse = new Set(available.map(([number]) => number));
  const revoked = [...revokedVersions(document, inUse, finalName)];
  checkWork(available.length + revoked.length, type, characters);
  const versions: Record<string, VersionDocument> = {};
  for (const [number, entry] of available) {
    versions[String(number)] = await versionOf(entry, type, number);
    // Checking an RSA key takes milliseconds, and there may be thousands.
    await turn();
  }
  const latest = versions[String(policy.latestVersion)];
  if (latest !== undefined) await type.backup.probe?.(latest);
  const stopped: Record<string, VersionDocument | null> = {};
  for (const [number, entry] of revoked) {
    stopped[String(number)] = entry === undefined ? null : await versionOf(entry, type, number);
    await turn();
  }
  const { keepVersions = 0, autoTrim = false } = document.own ?? {};
  return {
    ...documentOf(policy, finalName, called, versions),
    revokedVersions: revoked.length > 0 ? stopped : undefined,
    keepVersions: keepVersions > 0 ? keepVersions : undefined,
    autoTrim: autoTrim || undefined,
  };
}

function typeOf(document: BackupDocument): CalledType {
  const { policy } = document;
  const entries = entriesOf(document);
  if (entries.some(({ externalKeyRef, managedKeyId }) => externalKeyRef !== '' || managedKeyId !== '')) {
    throw unsupported(ownWords('the backup contains a managed or external key'), {
      field: 'backup',
      hint: 'managed and external keys cannot leave the system that holds them',
    });
  }
  return keyTypeOfBackup({
    type: policy.type,
    makesHmacsItself:
      policy.keySize > 0 || entries.some(({ key, hmacKey }) => key !== undefined && isEqual(key, hmacKey)),
    openBaoLayout: policy.openBaoLayout,
    parameterSet: policy.parameterSet,
    calledType: policy.calledType,
    hasKeyPairs: entries.every(({ key, publicKey }) => (key === undefined) === (publicKey === undefined)),
  });
}

const isEqual = (a: Uint8Array, b: Uint8Array | undefined): boolean =>
  b !== undefined && Buffer.compare(a, b) === 0;

async function versionOf(entry: BackupEntry, type: KeyType, number: number): Promise<VersionDocument> {
  const { certificateChain } = entry;
  const material = await type.backup.read(entry);
  checkHmacKey(entry, type, number);
  if (certificateChain !== undefined) checkCertificateChain(certificateChain, material, number);
  const keepsPublicRsa = entry.rsa !== undefined && entry.rsaPublic !== undefined;
  return {
    ...material,
    createdAt: entry.time,
    createdAtSeconds: entry.creationTime,
    ...hmacKeyOf(entry, type.hmacKeyOf?.(material)),
    convergentVersion: entry.convergentVersion,
    certificateChain: certificateChain?.map(encodeBase64),
    passthrough: keepsPublicRsa ? { [KEPT_MEMBERS.rsaPublicKey]: true } : undefined,
  };
}

function checkHmacKey({ key, hmacKey }: BackupEntry, type: KeyType, number: number): void {
  if (hmacKey === undefined) return;
  if (type.hmacKeyOf !== undefined) {
    if (key !== undefined && !isEqual(key, hmacKey)) throw damagedVersion(number, 'two different HMAC keys');
  } else if (hmacKey.length !== HMAC_KEY_BYTES) {
    throw damagedVersion(number, `HMAC key of ${hmacKey.length} bytes, not ${HMAC_KEY_BYTES}`);
  }
}

function hmacKeyOf({ hmacKey }: BackupEntry, own: string | undefined): { hmacKey?: string } {
  if (own !== undefined) return { hmacKey: own };
  return hmacKey === undefined ? {} : { hmacKey: encodeBase64(hmacKey) };
}

function documentOf(
  policy: BackupPolicy,
  name: string,
  { type, familyName }: CalledType,
  versions: Readonly<Record<string, VersionDocument>>,
): NamedKeyDocument {
  return {
    name,
    type: type.name,
    familyName: familyName?.name,
    keyBytes: type.size === undefined ? 0 : keyBytesOf(policy, versions),
    derived: policy.derived,
    kdf: kdfOf(policy),
    convergentEncryption: policy.convergentEncryption,
    convergentVersion: policy.convergentVersion,
    exportable: policy.exportable,
    allowPlaintextBackup: policy.allowPlaintextBackup,
    deletionAllowed: policy.deletionAllowed,
    softDeleted: policy.softDeleted,
    minDecryptionVersion: policy.minDecryptionVersion,
    minEncryptionVersion: policy.minEncryptionVersion,
    minAvailableVersion: policy.minAvailableVersion,
    latestVersion: policy.latestVersion,
    autoRotatePeriodSeconds: boundedSeconds(
      Number(policy.autoRotatePeriodNanoseconds / NANOSECONDS_PER_SECOND),
    ),
    imported: policy.imported,
    allowImportedKeyRotation: policy.allowImportedKeyRotation,
    versionTemplate: policy.versionTemplate,
    backupInfo: policy.backupInfo,
    restoreInfo: policy.restoreInfo,
    passthrough:
      policy.storagePrefix === '' ? undefined : { [KEPT_MEMBERS.storagePrefix]: policy.storagePrefix },
    versions,
  };
}

/** Returns the length of new versions; old documents lack it, so use the latest version's. */
function keyBytesOf(policy: BackupPolicy, versions: Readonly<Record<string, VersionDocument>>): number {
  if (policy.keySize > 0) return policy.keySize;
  return Buffer.from(versions[String(policy.latestVersion)]?.secret ?? '', 'base64').length;
}

const CALLER_NONCES = 1;

/**
 * Upgrades old backups like Vault and OpenBao do when they load a key; done before the checks, so that old backups pass
 * them.
 */
function upgradedBackup(document: BackupDocument, random: Random): BackupDocument {
  const policy = withHmacKey(withVersions(withNumberedKey(document.policy)), random);
  return { ...document, policy };
}

/** Converts a key from before versions existed: it becomes version 1. */
function withNumberedKey(policy: BackupPolicy): BackupPolicy {
  const { key, ...rest } = policy;
  if (key === undefined) return policy;
  return { ...rest, keys: new Map([['1', { ...EMPTY_ENTRY, key }]]) };
}

function withVersions(policy: BackupPolicy): BackupPolicy {
  const { convergentEncryption, convergentVersion } = policy;
  const latestVersion = policy.latestVersion === 0 ? policy.keys.size : policy.latestVersion;
  return {
    ...policy,
    latestVersion,
    minDecryptionVersion: policy.minDecryptionVersion === 0 ? 1 : policy.minDecryptionVersion,
    convergentVersion: convergentEncryption && convergentVersion === 0 ? CALLER_NONCES : convergentVersion,
  };
}

/** Adds the HMAC key of the latest version; older ones never computed an HMAC. */
function withHmacKey(policy: BackupPolicy, random: Random): BackupPolicy {
  const number = String(policy.latestVersion);
  const latest = policy.keys.get(number);
  if (latest === undefined || latest.hmacKey !== undefined || policy.keySize > 0) return policy;
  const entry = { ...latest, hmacKey: random.bytes(HMAC_KEY_BYTES) };
  return { ...policy, keys: new Map(policy.keys).set(number, entry) };
}
