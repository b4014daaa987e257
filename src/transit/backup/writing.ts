import { turn } from '../../ground/pause.ts';
import type { NamedKeyDocument, VersionDocument } from '../key-document.ts';
import { keyTypeNamed } from '../key-types/index.ts';
import type { KeyType } from '../key-types/key-type.ts';
import { closeBackupBlob } from './blob.ts';
import type { BackupEntry, BackupPolicy } from './document.ts';
import { GO_ZERO_TIME } from './go-time.ts';
import { printBackupDocument } from './printing.ts';

const NANOSECONDS_PER_SECOND = 1_000_000_000n;

/** Members that mean nothing here and are only kept for the next backup. */
export const KEPT_MEMBERS = { storagePrefix: 'storage_prefix', rsaPublicKey: 'rsa_public_key' } as const;

/** Stands where a version would, in front of version 1 and for versions that the key came without. */
const EMPTY_ENTRY: BackupEntry = {
  time: GO_ZERO_TIME,
  convergentVersion: 0,
  creationTime: 0,
  externalKeyRef: '',
  managedKeyId: '',
};

/** The backup of a key as OpenBao would write it: everything, readable by whoever holds the text. */
export async function writeBackup(document: NamedKeyDocument): Promise<string> {
  const type = keyTypeNamed(document.type);
  if (type === undefined) throw new TypeError(`unknown key type ${document.type}`);
  const { latestVersion, minAvailableVersion, minDecryptionVersion } = document;
  const keys = new Map<string, BackupEntry>();
  const archivedKeys: BackupEntry[] = [];
  for (let number = minAvailableVersion; number <= latestVersion; number++) {
    const version = document.versions[String(number)];
    const entry = version === undefined ? EMPTY_ENTRY : await entryOf(version, type);
    archivedKeys.push(entry);
    // Taking RSA keys apart adds up over thousands of versions.
    await turn();
    if (version !== undefined && number >= minDecryptionVersion) keys.set(String(number), entry);
  }
  const policy = policyOf(document, type, keys);
  return closeBackupBlob(printBackupDocument({ policy, archivedKeys }));
}

function policyOf(
  document: NamedKeyDocument,
  type: KeyType,
  keys: ReadonlyMap<string, BackupEntry>,
): BackupPolicy {
  const { backupInfo, restoreInfo } = document;
  return {
    name: document.name,
    keySize: document.keyBytes,
    keys,
    derived: document.derived,
    kdf: document.kdf,
    convergentEncryption: document.convergentEncryption,
    exportable: document.exportable,
    minDecryptionVersion: document.minDecryptionVersion,
    minEncryptionVersion: document.minEncryptionVersion,
    latestVersion: document.latestVersion,
    archiveVersion: document.latestVersion,
    archiveMinVersion: document.minAvailableVersion,
    minAvailableVersion: document.minAvailableVersion,
    deletionAllowed: document.deletionAllowed,
    convergentVersion: document.convergentVersion,
    type: type.backup.openbao ?? type.name,
    ...(backupInfo === undefined ? {} : { backupInfo }),
    ...(restoreInfo === undefined ? {} : { restoreInfo }),
    allowPlaintextBackup: document.allowPlaintextBackup,
    versionTemplate: document.versionTemplate,
    storagePrefix: String(document.passthrough?.[KEPT_MEMBERS.storagePrefix] ?? ''),
    autoRotatePeriodNanoseconds: BigInt(document.autoRotatePeriodSeconds) * NANOSECONDS_PER_SECOND,
    imported: document.imported,
    allowImportedKeyRotation: document.allowImportedKeyRotation,
    softDeleted: document.softDeleted,
    openBaoLayout: true,
  };
}

async function entryOf(version: VersionDocument, type: KeyType): Promise<BackupEntry> {
  const material = await type.backup.write(version);
  const hmacKey = type.hmacKeyOf?.(version) ?? version.hmacKey;
  const showsPublicRsa = version.passthrough?.[KEPT_MEMBERS.rsaPublicKey] === true;
  return {
    ...material,
    ...(showsPublicRsa && material.rsa ? { rsaPublic: material.rsa } : {}),
    ...(hmacKey === undefined ? {} : { hmacKey: Buffer.from(hmacKey, 'base64') }),
    time: version.createdAt,
    convergentVersion: version.convergentVersion,
    creationTime: version.createdAtSeconds,
    ...(version.certificateChain === undefined
      ? {}
      : { certificateChain: version.certificateChain.map((der) => Buffer.from(der, 'base64')) }),
    externalKeyRef: '',
    managedKeyId: '',
  };
}
