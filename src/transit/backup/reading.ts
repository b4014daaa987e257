import type { BackupMaterial, RsaNumbers } from '../key-types/key-type.ts';
import type { BackupDocument, BackupEntry, BackupPolicy, BackupRecord } from './document.ts';
import { GoFields } from './go-fields.ts';
import { type GoJsonLimits, readGoJson } from './go-json.ts';

/** RSA-8192 would need 2467 digits; a version of RSA-4096 takes about 30 values, twice. */
const LIMITS: GoJsonLimits = { depth: 16, values: 1_000_000, digits: 2_500 };

/**
 * Reads the document; members that only Vault writes, and those of older releases that are missing, are understood.
 * @throws `invalid` or `too-large`, naming the path and never the content.
 */
export function readBackupDocument(json: string): BackupDocument {
  const document = GoFields.of(readGoJson(json, LIMITS), '');
  const archive = document.object('archived_keys')?.list('keys');
  const entries = archive?.map((entry, index) =>
    readEntry(GoFields.of(entry, `archived_keys.keys.${index}`)),
  );
  const policy = readPolicy(document.object('policy') ?? GoFields.of(undefined, 'policy'));
  return entries === undefined ? { policy } : { policy, archivedKeys: entries };
}

function readPolicy(fields: GoFields): BackupPolicy {
  const entries = fields.entries('keys').map(([version, value]) => {
    return [version, GoFields.of(value, `policy.keys.${shownVersion(version)}`)] as const;
  });
  return {
    name: fields.text('name'),
    ...optional('key', fields.bytes('key')),
    keySize: fields.integer('key_size'),
    keys: new Map(entries.map(([version, entry]) => [version, readEntry(entry)])),
    derived: fields.flag('derived'),
    kdf: fields.integer('kdf'),
    convergentEncryption: fields.flag('convergent_encryption'),
    exportable: fields.flag('exportable'),
    minDecryptionVersion: fields.integer('min_decryption_version'),
    minEncryptionVersion: fields.integer('min_encryption_version'),
    latestVersion: fields.integer('latest_version'),
    archiveVersion: fields.integer('archive_version'),
    archiveMinVersion: fields.integer('archive_min_version'),
    minAvailableVersion: fields.integer('min_available_version'),
    deletionAllowed: fields.flag('deletion_allowed'),
    convergentVersion: fields.integer('convergent_version'),
    type: fields.integerOrText('type'),
    ...optional('backupInfo', readRecord(fields.object('backup_info'))),
    ...optional('restoreInfo', readRecord(fields.object('restore_info'))),
    allowPlaintextBackup: fields.flag('allow_plaintext_backup'),
    versionTemplate: fields.text('version_template'),
    storagePrefix: fields.text('storage_prefix'),
    autoRotatePeriodNanoseconds: fields.big('auto_rotate_period') ?? 0n,
    imported: fields.flag('Imported'),
    allowImportedKeyRotation: fields.flag('AllowImportedKeyRotation'),
    softDeleted: fields.flag('soft_deleted'),
    openBaoLayout: fields.has('soft_deleted') || entries.some(([, entry]) => entry.has('external_key_ref')),
  };
}

/** Member names of a hostile document are not for terminals. */
const shownVersion = (name: string): string => (/^\d{1,15}$/.test(name) ? name : '?');

function readEntry(fields: GoFields): BackupEntry {
  return {
    ...optional('key', fields.bytes('key')),
    ...optional('hmacKey', fields.bytes('hmac_key')),
    time: fields.time('time'),
    ...optional('ec', readPoint(fields)),
    ...optional('rsa', readRsa(fields.object('rsa_key'))),
    ...optional('rsaPublic', readRsaPublic(fields.object('rsa_public_key'))),
    ...optional('publicKey', fields.text('public_key') || undefined),
    convergentVersion: fields.integer('convergent_version'),
    creationTime: fields.integer('creation_time'),
    ...optional('certificateChain', fields.bytesList('certificate_chain')),
    externalKeyRef: fields.text('external_key_ref'),
    managedKeyId: fields.text('managed_key_id'),
  };
}

function readRecord(fields: GoFields | undefined): BackupRecord | undefined {
  return fields && { time: fields.time('time'), version: fields.integer('version') };
}

function readPoint(fields: GoFields): BackupMaterial['ec'] {
  const x = fields.big('ec_x');
  const y = fields.big('ec_y');
  if (x === undefined && y === undefined) return undefined;
  return { x: x ?? 0n, y: y ?? 0n, ...optional('d', fields.big('ec_d')) };
}

function readRsaPublic(fields: GoFields | undefined): BackupMaterial['rsaPublic'] {
  return fields && { n: fields.big('N') ?? 0n, e: fields.big('E') ?? 0n };
}

function readRsa(fields: GoFields | undefined): RsaNumbers | undefined {
  return (
    fields && {
      n: fields.big('N') ?? 0n,
      e: fields.big('E') ?? 0n,
      d: fields.big('D') ?? 0n,
      primes: fields.bigList('Primes'),
    }
  );
}

const optional = <N extends string, T>(name: N, value: T | undefined): { readonly [K in N]?: T } =>
  (value === undefined ? {} : { [name]: value }) as { readonly [K in N]?: T };
