import { encodeBase64 } from '../../ground/base64.ts';
import type { RsaNumbers } from '../key-types/key-type.ts';
import type { BackupDocument, BackupEntry, BackupPolicy, BackupRecord } from './document.ts';
import { type GoWritable, writeGoJson } from './go-json.ts';

/** The document as OpenBao writes it, with the newline that ends it. */
export function printBackupDocument({ policy, archivedKeys }: BackupDocument): string {
  const archive = archivedKeys === undefined ? null : { keys: archivedKeys.map(writableEntry) };
  return `${writeGoJson({ policy: writablePolicy(policy), archived_keys: archive })}\n`;
}

function writablePolicy(policy: BackupPolicy): GoWritable {
  const versions = [...policy.keys].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    name: policy.name,
    ...(policy.key === undefined ? {} : { key: base64(policy.key) }),
    ...(policy.keySize === 0 ? {} : { key_size: policy.keySize }),
    keys: new Map(versions.map(([version, entry]) => [version, writableEntry(entry)])),
    derived: policy.derived,
    kdf: policy.kdf,
    convergent_encryption: policy.convergentEncryption,
    exportable: policy.exportable,
    min_decryption_version: policy.minDecryptionVersion,
    min_encryption_version: policy.minEncryptionVersion,
    latest_version: policy.latestVersion,
    archive_version: policy.archiveVersion,
    archive_min_version: policy.archiveMinVersion,
    min_available_version: policy.minAvailableVersion,
    deletion_allowed: policy.deletionAllowed,
    convergent_version: policy.convergentVersion,
    type: policy.type,
    backup_info: writableRecord(policy.backupInfo),
    restore_info: writableRecord(policy.restoreInfo),
    allow_plaintext_backup: policy.allowPlaintextBackup,
    version_template: policy.versionTemplate,
    storage_prefix: policy.storagePrefix,
    auto_rotate_period: policy.autoRotatePeriodNanoseconds,
    Imported: policy.imported,
    AllowImportedKeyRotation: policy.allowImportedKeyRotation,
    soft_deleted: policy.softDeleted,
  };
}

function writableEntry(entry: BackupEntry): GoWritable {
  return {
    key: base64(entry.key),
    hmac_key: base64(entry.hmacKey),
    time: entry.time,
    ec_x: entry.ec?.x ?? null,
    ec_y: entry.ec?.y ?? null,
    ec_d: entry.ec?.d ?? null,
    rsa_key: writableRsa(entry.rsa),
    rsa_public_key: entry.rsaPublic ? { N: entry.rsaPublic.n, E: entry.rsaPublic.e } : null,
    public_key: entry.publicKey ?? '',
    convergent_version: entry.convergentVersion,
    creation_time: entry.creationTime,
    certificate_chain: entry.certificateChain?.map(base64) ?? null,
    external_key_ref: entry.externalKeyRef,
  };
}

const writableRecord = (record: BackupRecord | undefined): GoWritable =>
  record === undefined ? null : { time: record.time, version: record.version };

const base64 = (bytes: Uint8Array | undefined): string | null =>
  bytes === undefined ? null : encodeBase64(bytes);

function writableRsa(key: RsaNumbers | undefined): GoWritable {
  if (key === undefined) return null;
  const { dp = null, dq = null, qInv = null } = key.precomputed ?? {};
  return {
    N: key.n,
    E: key.e,
    D: key.d,
    Primes: key.primes,
    Precomputed: { Dp: dp, Dq: dq, Qinv: qInv, CRTValues: [] },
  };
}
