import { boundedSeconds, printGoTime, printTime } from '../../ground/clock.ts';
import { madeOnce } from '../../ground/objects.ts';
import { GO_ZERO_TIME } from '../../transit/backup/go-fields.ts';
import { decodeContextOrRefuse } from '../../transit/data-key.ts';
import { certificatesPem } from '../../transit/export.ts';
import type { NamedKeyDocument, VersionDocument, VersionStamp } from '../../transit/key-document.ts';
import { KDF_COUNTER } from '../../transit/key-types/key-type.ts';
import type { CallerDialect, KeyVersion, NamedKey } from '../../transit/named-key.ts';
import type { Cell, Table } from '../declaration/table.ts';
import type { KeyTagsData } from './key-tags.ts';

/** Version in the output of key read: its creation time, and the public key of an asymmetric one. */
type VersionData =
  | number
  | {
      readonly name: string;
      readonly public_key: string;
      readonly certificate_chain: string;
      readonly creation_time: string;
    };

/** Result of create, read, config, rotate and trim. */
export type KeyData = ReturnType<typeof keyData> & {
  /** Servers only: approximate number of messages that a version has encrypted, from a million on. */
  readonly messages?: Readonly<Record<string, number>> | undefined;
} & KeyTagsData;

const COUNTER_NAME = 'hmac-sha256-counter';
const HKDF_NAME = 'hkdf_sha256';

/**
 * Formats a named key for the API. Contains no key material: the public key of a derived key is half of the input from
 * which context keys are derived, so that only the public key of a given context is shown. Vault clients see the type's
 * name with which the key was created.
 * @param contextText base64
 * @throws `invalid` for a context that is not base64
 * @see docs/decisions/0016
 */
export function keyData(asking: CallerDialect, key: NamedKey, contextText?: string) {
  if (contextText !== undefined) return formatKey(asking, key, contextText);
  return madeOnce(asking.keepsFamilyRules ? formattedForVault : formatted, key, () => formatKey(asking, key));
}

/** Keys as they were formatted last, by callers: a key that has changed is another object. */
const formatted = new WeakMap<NamedKey, ReturnType<typeof formatKey>>();
const formattedForVault: typeof formatted = new WeakMap();

function formatKey(asking: CallerDialect, key: NamedKey, contextText?: string) {
  const { document, type } = key;
  return Object.freeze({
    name: document.name,
    type: key.typeNameFor(asking),
    parameter_set: key.familyNameFor(asking)?.parameterSet,
    derived: document.derived,
    deletion_allowed: document.deletionAllowed,
    min_available_version: document.minAvailableVersion,
    min_decryption_version: document.minDecryptionVersion,
    min_encryption_version: document.minEncryptionVersion,
    latest_version: document.latestVersion,
    exportable: document.exportable,
    allow_plaintext_backup: document.allowPlaintextBackup,
    supports_encryption: key.encrypts,
    supports_decryption: key.encrypts,
    supports_signing: type.signing !== undefined,
    supports_derivation: type.derivation !== undefined,
    /** In seconds. */
    auto_rotate_period: boundedSeconds(document.autoRotatePeriodSeconds),
    keep_versions: document.keepVersions,
    auto_trim: document.autoTrim,
    imported_key: document.imported,
    imported_key_allow_rotation: document.imported ? document.allowImportedKeyRotation : undefined,
    soft_deleted: document.softDeleted,
    key_size: document.keyBytes === 0 ? undefined : document.keyBytes,
    backup_info: document.backupInfo,
    restore_info: document.restoreInfo,
    ...derivationData(key),
    ...versionsData(asking, key, contextText),
    ...revokedData(document),
  });
}

/** Returns the revoked and the destroyed versions. */
function revokedData({ revokedVersions = {} }: NamedKeyDocument) {
  const entries = Object.entries(revokedVersions);
  const numbers = (destroyed: boolean): number[] =>
    entries.filter(([, version]) => (version === null) === destroyed).map(([number]) => Number(number));
  const [revoked, destroyed] = [Object.freeze(numbers(false)), Object.freeze(numbers(true))];
  return {
    revoked_versions: revoked.length > 0 ? revoked : undefined,
    destroyed_versions: destroyed.length > 0 ? destroyed : undefined,
  };
}

/** Members that only derived keys have. */
function derivationData({ document }: NamedKey) {
  if (!document.derived) return {};
  const isCounter = document.kdf === KDF_COUNTER;
  return {
    kdf: isCounter ? COUNTER_NAME : HKDF_NAME,
    kdf_mode: isCounter ? COUNTER_NAME : undefined,
    convergent_encryption: document.convergentEncryption,
    convergent_encryption_version: document.convergentEncryption ? document.convergentVersion : undefined,
  };
}

/** Formats the versions; Vault omits those of HMAC-only keys. */
function versionsData(
  asking: CallerDialect,
  key: NamedKey,
  contextText: string | undefined,
): { readonly keys: Readonly<Record<string, VersionData>> } {
  const context = decodeContextOrRefuse(contextText);
  const named = key.familyNameFor(asking);
  const label = named?.raw ? named.name : key.type.publicKey?.label;
  const versions = [...key.usableVersions()].map((version): [string, VersionData] => [
    String(version.number),
    label === undefined
      ? version.document.createdAtSeconds
      : Object.freeze({
          name: label,
          public_key: publicKeyText(key, version, context, named?.raw),
          certificate_chain: certificatesPem(version.document.certificateChain ?? []),
          creation_time: creationTime(version.document),
        }),
  ]);
  return { keys: Object.freeze(Object.fromEntries(versions)) };
}

/** Returns the creation time of a version in the output of key read: RFC 3339, UTC. */
export const versionTime = (made: VersionData): string =>
  typeof made === 'number' ? printTime(made * 1000) : made.creation_time;

/** Returns the creation time; very old versions only have whole seconds. */
const creationTime = ({ createdAt, createdAtSeconds }: VersionDocument): string =>
  createdAt === GO_ZERO_TIME ? printGoTime(1000 * createdAtSeconds) : createdAt;

function publicKeyText(
  { document, type }: NamedKey,
  version: KeyVersion,
  context: ReturnType<typeof decodeContextOrRefuse>,
  raw = false,
): string {
  if (!document.derived) {
    return (
      (raw ? type.publicKey?.export(version.material, 'raw') : type.publicKey?.print(version.material)) ?? ''
    );
  }
  // Context keys are derived from the private key.
  if (context === undefined || !version.hasSecret) return '';
  return type.publicKey?.print(version.contextKeys.of(context).material) ?? '';
}

/** Formats the key's settings and versions as a table. */
export function keyTable(data: KeyData): Table {
  const { keys = {}, messages = {}, ...settings } = data;
  const rows = Object.entries(settings).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, settingText(value)]],
  );
  const versions = Object.entries(keys).flatMap(([version, made]) => versionRows(`version ${version}`, made));
  const counts = Object.entries(messages).map(([version, count]) => [
    `version ${version} messages`,
    `about ${count}`,
  ]);
  return { head: ['Setting', 'Value'], rows: [...rows, ...versions, ...counts] };
}

function settingText(value: string | number | boolean | readonly (number | string)[] | VersionStamp): string {
  if (typeof value !== 'object') return String(value);
  return 'time' in value ? `version ${value.version} at ${value.time}` : value.join(', ');
}

function versionRows(label: string, made: VersionData): Cell[][] {
  const created = { time: versionTime(made) };
  if (typeof made === 'number') return [[label, created]];
  const shown = [
    ['public key', made.public_key.trimEnd()],
    ['certificates', made.certificate_chain],
  ].filter(([, text]) => text !== '');
  return [[label, created], ...shown.map(([name, text = '']) => [`${label} ${name}`, text])];
}
