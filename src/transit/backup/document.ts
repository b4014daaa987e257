/** Reads and writes the document inside a backup, which Vault and OpenBao share. */

import { encodeBase64 } from '../../ground/base64.ts';
import type { KeySettings, VersionStamp } from '../key-document.ts';
import type { BackupMaterial, RsaNumbers } from '../key-types/key-type.ts';
import { GO_ZERO_TIME, GoFields } from './go-fields.ts';
import { type GoJsonLimits, type GoWritable, readGoJson, writeGoJson } from './go-json.ts';

/**
 * Document inside a backup, member for member as OpenBao writes it: `{"policy": …, "archived_keys": {"keys": […]}}`.
 * This file handles only the layout; meaning and consistency of the values are checked elsewhere.
 */

/** One version; members that a type does not have are undefined. */
export interface BackupEntry extends BackupMaterial {
  readonly hmacKey?: Buffer | undefined;
  /** Creation time, in Go's format. */
  readonly time: string;
  readonly convergentVersion: number;
  /** Creation time in Unix seconds, from before `time` existed. */
  readonly creationTime: number;
  /** DER, leaf first. */
  readonly certificateChain?: readonly Buffer[] | undefined;
  readonly externalKeyRef: string;
  /** Vault only: ID of an external key (managed key). */
  readonly managedKeyId: string;
}

/** Key with its configuration. */
export interface BackupPolicy extends KeySettings {
  /** Single key from before versions existed. */
  readonly key?: Buffer | undefined;
  /** Key length in bytes, for type hmac. */
  readonly keySize: number;
  /** Versions from `minDecryptionVersion` on, by number. */
  readonly keys: ReadonlyMap<string, BackupEntry>;
  readonly kdf: number;
  readonly archiveVersion: number;
  readonly archiveMinVersion: number;
  /** Type number of Vault or OpenBao; a type name for types that neither has a number for. */
  readonly type: number | string;
  readonly storagePrefix: string;
  readonly autoRotatePeriodNanoseconds: bigint;
  /** Whether the document has members that only OpenBao writes, so that type numbers are OpenBao's. */
  readonly openBaoLayout: boolean;
  /** Vault's parameter set, which distinguishes types that share a number. */
  readonly parameterSet?: string;
  /** Name of the type under which the key was created, in Coffer's spelling. */
  readonly calledType?: { readonly name: string; readonly parameterSet: string } | undefined;
}

/** Members that only Coffer writes; Vault and OpenBao ignore them. */
export interface OwnMembers {
  /** Revoked versions by number; undefined for one that was destroyed. */
  readonly revokedVersions: ReadonlyMap<string, BackupEntry | undefined>;
  /** Number of latest versions kept; 0 for all. */
  readonly keepVersions: number;
  readonly autoTrim: boolean;
}

export interface BackupDocument {
  readonly policy: BackupPolicy;
  /** Coffer's own members; absent if there are none, so that the backup looks like one of Vault or OpenBao. */
  readonly own?: OwnMembers | undefined;
  /** Every available version, preceded by an empty entry for version 0; absent if no archive was written. */
  readonly archivedKeys?: readonly BackupEntry[] | undefined;
}

/** Placeholder for version 0, and for versions that the key came without. */
export const EMPTY_ENTRY: BackupEntry = {
  time: GO_ZERO_TIME,
  convergentVersion: 0,
  creationTime: 0,
  externalKeyRef: '',
  managedKeyId: '',
};

/** Name of the member with Coffer's own members. */
const OWN = 'coffer';

/** Members without a meaning in Coffer, kept only for the next backup. */
export const KEPT_MEMBERS = { storagePrefix: 'storage_prefix', rsaPublicKey: 'rsa_public_key' } as const;

/** Unit of `auto_rotate_period`, which is a Go `time.Duration`. */
export const NANOSECONDS_PER_SECOND = 1_000_000_000n;

/** Limits of the parser: RSA-8192 would need 2467 digits; a version of RSA-4096 takes about 30 values, twice. */
const LIMITS: GoJsonLimits = { depth: 16, values: 1_000_000, digits: 2_500 };

/**
 * Parses the document, including members that only Vault writes, and documents of older releases that lack members.
 * @throws `invalid` or `too-large`, naming the path and never the content
 */
export function readBackupDocument(json: string): BackupDocument {
  const document = GoFields.of(readGoJson(json, LIMITS), '');
  const archive = document.object('archived_keys')?.list('keys');
  const entries = archive?.map((entry, index) =>
    readEntry(GoFields.of(entry, `archived_keys.keys.${index}`)),
  );
  const policy = readPolicy(document.object('policy') ?? GoFields.of(undefined, 'policy'));
  return {
    policy,
    archivedKeys: entries,
    own: readOwn(document.object(OWN)),
  };
}

function readOwn(fields: GoFields | undefined): OwnMembers | undefined {
  return (
    fields && {
      revokedVersions: new Map(
        fields.entries('revoked_versions').map(([version, value]) => {
          const path = `${OWN}.revoked_versions.${shownVersion(version)}`;
          return [version, value === null ? undefined : readEntry(GoFields.of(value, path))];
        }),
      ),
      keepVersions: fields.integer('keep_versions'),
      autoTrim: fields.flag('auto_trim'),
    }
  );
}

function readPolicy(fields: GoFields): BackupPolicy {
  const entries = fields.entries('keys').map(([version, value]) => {
    return [version, GoFields.of(value, `policy.keys.${shownVersion(version)}`)] as const;
  });
  return {
    name: fields.text('name'),
    key: fields.bytes('key'),
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
    backupInfo: readRecord(fields.object('backup_info')),
    restoreInfo: readRecord(fields.object('restore_info')),
    allowPlaintextBackup: fields.flag('allow_plaintext_backup'),
    versionTemplate: fields.text('version_template'),
    storagePrefix: fields.text('storage_prefix'),
    autoRotatePeriodNanoseconds: fields.big('auto_rotate_period') ?? 0n,
    imported: fields.flag('Imported'),
    allowImportedKeyRotation: fields.flag('AllowImportedKeyRotation'),
    softDeleted: fields.flag('soft_deleted'),
    openBaoLayout: fields.has('soft_deleted') || entries.some(([, entry]) => entry.has('external_key_ref')),
    ...readParameterSet(fields.objectOrText('ParameterSet')),
  };
}

function readParameterSet(
  value: GoFields | string | undefined,
): Pick<BackupPolicy, 'parameterSet' | 'calledType'> {
  if (typeof value !== 'object') return value ? { parameterSet: value } : {};
  return { calledType: { name: value.text('name'), parameterSet: value.text('parameter_set') } };
}

/** Returns a printable version number: member names of a hostile document must not reach terminals. */
const shownVersion = (name: string): string => (/^\d{1,15}$/.test(name) ? name : '?');

function readEntry(fields: GoFields): BackupEntry {
  return {
    key: fields.bytes('key'),
    hmacKey: fields.bytes('hmac_key'),
    time: fields.time('time'),
    ec: readPoint(fields),
    rsa: readRsa(fields.object('rsa_key')),
    rsaPublic: readRsaPublic(fields.object('rsa_public_key')),
    publicKey: fields.text('public_key') || undefined,
    convergentVersion: fields.integer('convergent_version'),
    creationTime: fields.integer('creation_time'),
    certificateChain: fields.bytesList('certificate_chain'),
    externalKeyRef: fields.text('external_key_ref'),
    managedKeyId: fields.text('managed_key_id'),
  };
}

function readRecord(fields: GoFields | undefined): VersionStamp | undefined {
  return fields && { time: fields.time('time'), version: fields.integer('version') };
}

function readPoint(fields: GoFields): BackupMaterial['ec'] {
  const x = fields.big('ec_x');
  const y = fields.big('ec_y');
  if (x === undefined && y === undefined) return undefined;
  return { x: x ?? 0n, y: y ?? 0n, d: fields.big('ec_d') };
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
/** Prints the document as OpenBao does, including its final newline. */
export function printBackupDocument({ policy, archivedKeys, own }: BackupDocument): string {
  const archive = archivedKeys === undefined ? null : { keys: archivedKeys.map(writableEntry) };
  const document = { policy: writablePolicy(policy), archived_keys: archive };
  return `${writeGoJson(own === undefined ? document : { ...document, [OWN]: writableOwn(own) })}\n`;
}

const writableOwn = ({ revokedVersions, keepVersions, autoTrim }: OwnMembers): GoWritable => ({
  revoked_versions: new Map(
    [...revokedVersions].map(([version, entry]) => [
      version,
      entry === undefined ? null : writableEntry(entry),
    ]),
  ),
  keep_versions: keepVersions,
  auto_trim: autoTrim,
});

function writablePolicy(policy: BackupPolicy): GoWritable {
  const versions = [...policy.keys].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    name: policy.name,
    key: policy.key === undefined ? undefined : base64(policy.key),
    key_size: policy.keySize === 0 ? undefined : policy.keySize,
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
    ParameterSet: policy.calledType && writableCalledType(policy.calledType),
  };
}

/**
 * Prints the type name of the key. OpenBao ignores it. Vault expects text there, so it refuses the backup as a whole,
 * instead of misinterpreting OpenBao's numbers for these types.
 * @see docs/decisions/0022
 */
const writableCalledType = ({ name, parameterSet }: NonNullable<BackupPolicy['calledType']>): GoWritable => ({
  name,
  parameter_set: parameterSet === '' ? undefined : parameterSet,
});

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

const writableRecord = (record: VersionStamp | undefined): GoWritable =>
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
