import { boundedSeconds, printGoTime } from '../../ground/clock.ts';
import { turn } from '../../ground/pause.ts';
import type { Engine } from '../engine.ts';
import type { NamedKeyDocument, VersionDocument } from '../key-document.ts';
import type { KeyType } from '../key-types/key-type.ts';
import { changeKey, NamedKey, requireNotSoftDeleted } from '../named-key.ts';
import { closeBackupBlob } from './blob.ts';
import { isRelative } from './consistency.ts';
import {
  type BackupEntry,
  type BackupPolicy,
  EMPTY_ENTRY,
  KEPT_MEMBERS,
  NANOSECONDS_PER_SECOND,
  type OwnMembers,
  printBackupDocument,
} from './document.ts';
import { backupRefusal } from './refusal.ts';

/**
 * Backs up a key as one text, private keys included, in the format of OpenBao (and, for the types it has, Vault). The
 * time of the backup is recorded in the key, and so in the text.
 * @throws `not-found`; `conflict` unless the key is exportable and allows plaintext backups
 */
export async function backupKey(engine: Engine, name: string): Promise<string> {
  const key = await changeKey(engine, name, `key "${name}" not found`, (current) => {
    requireBackupAllowed(current);
    const { document } = current;
    const backupInfo = { time: printGoTime(engine.clock.now()), version: document.latestVersion };
    return { ...document, backupInfo };
  });
  return writeBackup(key.document);
}

function requireBackupAllowed(key: NamedKey): void {
  requireNotSoftDeleted(key);
  const refusal = backupRefusal(key.document);
  if (refusal !== undefined) throw refusal;
}

/** Prints the backup of a key as OpenBao would: everything, readable by anyone who has the text. */
export async function writeBackup(document: NamedKeyDocument): Promise<string> {
  const key = NamedKey.open(document);
  const { type } = key;
  const { latestVersion, minAvailableVersion, minDecryptionVersion } = document;
  const keys = new Map<string, BackupEntry>();
  const archivedKeys: BackupEntry[] = [];
  for (let number = minAvailableVersion; number <= latestVersion; number++) {
    const version = document.versions[String(number)];
    const entry = version === undefined ? EMPTY_ENTRY : await entryOf(version, type);
    archivedKeys.push(entry);
    // Parsing RSA keys adds up over thousands of versions.
    await turn();
    if (version !== undefined && number >= minDecryptionVersion) keys.set(String(number), entry);
  }
  const policy = policyOf(key, keys);
  return closeBackupBlob(
    printBackupDocument({ policy, archivedKeys, ...(await ownMembers(document, type)) }),
  );
}

/**
 * Returns the members that only Coffer reads. A revoked version is stored only there, so that a Vault or OpenBao server
 * that restores the key cannot use it either.
 */
async function ownMembers(document: NamedKeyDocument, type: KeyType): Promise<{ readonly own?: OwnMembers }> {
  const { revokedVersions = {}, keepVersions = 0, autoTrim = false, minAvailableVersion } = document;
  const revoked = new Map<string, BackupEntry | undefined>();
  for (const [number, version] of Object.entries(revokedVersions)) {
    // An earlier release, when it trims, trims only the versions that it knows.
    if (Number(number) < minAvailableVersion) continue;
    revoked.set(number, version === null ? undefined : await entryOf(version, type));
    await turn();
  }
  if (revoked.size === 0 && keepVersions === 0) return {};
  return { own: { revokedVersions: revoked, keepVersions, autoTrim } };
}

function policyOf(
  { document, type, familyName }: NamedKey,
  keys: ReadonlyMap<string, BackupEntry>,
): BackupPolicy {
  // Earlier releases accepted prefixes that cannot be restored.
  const storagePrefix = String(document.passthrough?.[KEPT_MEMBERS.storagePrefix] ?? '');
  return {
    ...document,
    keySize: document.keyBytes,
    keys,
    archiveVersion: document.latestVersion,
    archiveMinVersion: document.minAvailableVersion,
    type: type.backup.openbao ?? type.name,
    storagePrefix: isRelative(storagePrefix) ? '' : storagePrefix,
    autoRotatePeriodNanoseconds:
      BigInt(boundedSeconds(document.autoRotatePeriodSeconds)) * NANOSECONDS_PER_SECOND,
    openBaoLayout: true,
    calledType:
      type.familyNames === undefined
        ? undefined
        : { name: familyName?.name ?? type.name, parameterSet: familyName?.parameterSet ?? '' },
  };
}

async function entryOf(version: VersionDocument, type: KeyType): Promise<BackupEntry> {
  const material = await type.backup.write(version);
  const hmacKey = type.hmacKeyOf?.(version) ?? version.hmacKey;
  const showsPublicRsa = version.passthrough?.[KEPT_MEMBERS.rsaPublicKey] === true;
  return {
    ...material,
    rsaPublic: showsPublicRsa && material.rsa ? material.rsa : material.rsaPublic,
    hmacKey: hmacKey === undefined ? undefined : Buffer.from(hmacKey, 'base64'),
    time: version.createdAt,
    convergentVersion: version.convergentVersion,
    creationTime: version.createdAtSeconds,
    certificateChain: version.certificateChain?.map((der) => Buffer.from(der, 'base64')),
    externalKeyRef: '',
    managedKeyId: '',
  };
}
