import { type CofferError, invalid, ownWords } from '../ground/errors.ts';
import type { Engine } from './engine.ts';
import type { NamedKeyDocument } from './key-document.ts';
import { changeKey, type NamedKey } from './named-key.ts';
import { followingLatest, oldestKept } from './rotation.ts';
import { lostVersionsWarning } from './version-choice.ts';

/** Changes to a key's configuration; absent members stay unchanged. */
export interface KeyConfiguration {
  readonly minDecryptionVersion?: number | undefined;
  /** 0 removes the limit. */
  readonly minEncryptionVersion?: number | undefined;
  readonly deletionAllowed?: boolean | undefined;
  /** Only true has an effect: the permission cannot be revoked. */
  readonly exportable?: boolean | undefined;
  readonly allowPlaintextBackup?: boolean | undefined;
  /** Rotation period in seconds, at least one hour; 0 disables rotation. */
  readonly autoRotatePeriodSeconds?: number | undefined;
  /** Number of latest versions that stay usable; 0 for all. */
  readonly keepVersions?: number | undefined;
  /** Whether rotation deletes versions that are not usable any more. */
  readonly autoTrim?: boolean | undefined;
}

const SHORTEST_PERIOD_SECONDS = 3600;

const STARTS_AT_1 =
  'since Vault 0.3 (prior to the OpenBao fork), transit key numbering starts at 1; forcing minimum to 1';

/**
 * Changes a key's configuration, atomically.
 * @throws `not-found`; `invalid` for values that do not fit the key or each other
 */
export async function configureKey(
  engine: Engine,
  name: string,
  change: KeyConfiguration,
): Promise<{ readonly key: NamedKey; readonly warnings: readonly string[] }> {
  const refusal = `no existing key named ${name} could be found`;
  const key = await changeKey(engine, name, refusal, ({ document }) => configured(document, change));
  return { key, warnings: [...warningsOf(change, key.document)] };
}

function* warningsOf(
  { minDecryptionVersion: minDecryption, keepVersions }: KeyConfiguration,
  key: NamedKeyDocument,
): Generator<string> {
  if (minDecryption === 0) yield STARTS_AT_1;
  // At the next rotation at the latest, the minimum would override the requested number.
  if (keepVersions && key.minEncryptionVersion > 0) {
    yield `version ${key.minEncryptionVersion} and later stay usable despite keep_versions, because min_encryption_version is ${key.minEncryptionVersion}; set min_encryption_version to 0 to encrypt with the latest version only`;
  }
  // The caller wants versions back that may be lost.
  if (minDecryption !== undefined) yield* lostVersionsWarning(key, key.minDecryptionVersion);
}

function configured(key: NamedKeyDocument, change: KeyConfiguration): NamedKeyDocument {
  const minima = {
    minDecryptionVersion: newMinDecryption(key, change.minDecryptionVersion),
    minEncryptionVersion: newMinEncryption(key, change.minEncryptionVersion),
  };
  if (minima.minEncryptionVersion > 0 && minima.minEncryptionVersion < minima.minDecryptionVersion) {
    throw refusal(
      `cannot set min encryption/decryption values; min encryption version of ${minima.minEncryptionVersion} must be greater than or equal to min decryption version of ${minima.minDecryptionVersion}`,
      'min_encryption_version',
      'raise min_encryption_version as well, or set it to 0',
    );
  }
  const changed: NamedKeyDocument = {
    ...key,
    ...minima,
    deletionAllowed: change.deletionAllowed ?? key.deletionAllowed,
    exportable: key.exportable || change.exportable === true,
    allowPlaintextBackup: key.allowPlaintextBackup || change.allowPlaintextBackup === true,
    autoRotatePeriodSeconds: newPeriod(key, change.autoRotatePeriodSeconds),
  };
  const kept = followingLatest(withKept(changed, change));
  if (change.minDecryptionVersion !== undefined && kept.minDecryptionVersion > minima.minDecryptionVersion) {
    throw refusal(
      `cannot set min decryption version of ${minima.minDecryptionVersion}, the key keeps versions from ${oldestKept(kept)}`,
      'min_decryption_version',
      `keep_versions of this key is ${kept.keepVersions}; raise it, or set it to 0`,
    );
  }
  if (isSame(key, kept)) return key;
  requireAvailable(kept, key);
  return kept;
}

function withKept(
  { keepVersions: keptBefore, autoTrim: trimmedBefore, ...key }: NamedKeyDocument,
  { keepVersions = keptBefore ?? 0, autoTrim }: KeyConfiguration,
): NamedKeyDocument {
  if (keepVersions < 0) {
    throw refusal(ownWords('keep versions cannot be negative'), 'keep_versions', '0 stands for all versions');
  }
  if (keepVersions === 0) {
    if (!autoTrim) return key;
    throw refusal(
      ownWords('auto trim needs keep versions'),
      'auto_trim',
      'set keep_versions to the number of versions to keep',
    );
  }
  return { ...key, keepVersions, autoTrim: (autoTrim ?? trimmedBefore) || undefined };
}

function newMinDecryption(key: NamedKeyDocument, wanted: number | undefined): number {
  if (wanted === undefined) return key.minDecryptionVersion;
  const field = 'min_decryption_version';
  if (wanted < 0)
    throw refusal(ownWords('min decryption version cannot be negative'), field, 'versions start at 1');
  const version = wanted === 0 ? 1 : wanted;
  if (version !== key.minDecryptionVersion && version > key.latestVersion) {
    throw aboveLatest(key, 'decryption', version, field);
  }
  return version;
}

function newMinEncryption(key: NamedKeyDocument, wanted: number | undefined): number {
  if (wanted === undefined) return key.minEncryptionVersion;
  const field = 'min_encryption_version';
  if (wanted < 0) {
    throw refusal(
      ownWords('min encryption version cannot be negative'),
      field,
      '0 stands for the latest version',
    );
  }
  if (wanted !== key.minEncryptionVersion && wanted > key.latestVersion) {
    throw aboveLatest(key, 'encryption', wanted, field);
  }
  return wanted;
}

function newPeriod(key: NamedKeyDocument, wanted: number | undefined): number {
  if (wanted === undefined) return key.autoRotatePeriodSeconds;
  requireAutoRotatePeriod(wanted);
  return wanted;
}

/**
 * Checks the rotation period.
 * @throws `invalid` if it is not 0 and shorter than an hour
 */
export function requireAutoRotatePeriod(seconds: number): void {
  if (seconds === 0 || seconds >= SHORTEST_PERIOD_SECONDS) return;
  throw refusal(
    ownWords('auto rotate period must be 0 to disable or at least an hour'),
    'auto_rotate_period',
    `it was read as ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`,
  );
}

const isSame = (a: NamedKeyDocument, b: NamedKeyDocument): boolean =>
  a.minDecryptionVersion === b.minDecryptionVersion &&
  a.minEncryptionVersion === b.minEncryptionVersion &&
  a.deletionAllowed === b.deletionAllowed &&
  a.exportable === b.exportable &&
  a.allowPlaintextBackup === b.allowPlaintextBackup &&
  a.autoRotatePeriodSeconds === b.autoRotatePeriodSeconds &&
  a.keepVersions === b.keepVersions &&
  a.autoTrim === b.autoTrim;

/**
 * Refuses to lower either minimum to versions that have been trimmed. Spelled like Vault's message. A key that keeps
 * its last versions may have no minimum for encryption.
 */
function requireAvailable(key: NamedKeyDocument, before: NamedKeyDocument): void {
  const gone = `versions below ${key.minAvailableVersion} were trimmed`;
  const setsMinimum =
    key.minEncryptionVersion !== before.minEncryptionVersion &&
    (key.minEncryptionVersion > 0 || key.keepVersions === undefined);
  if (setsMinimum && key.minAvailableVersion > key.minEncryptionVersion) {
    throw refusal(
      ownWords('min encryption version should not be less than min available version'),
      'min_encryption_version',
      gone,
    );
  }
  if (key.minAvailableVersion > key.minDecryptionVersion) {
    throw refusal(
      ownWords('min decryption version should not be less then min available version'),
      'min_decryption_version',
      gone,
    );
  }
}

const aboveLatest = (
  { name, latestVersion }: Pick<NamedKeyDocument, 'name' | 'latestVersion'>,
  what: string,
  wanted: number,
  field: string,
): CofferError =>
  refusal(
    `cannot set min ${what} version of ${wanted}, latest key version is ${latestVersion}`,
    field,
    `use a lower version, or run "coffer transit keys rotate ${name}" first; a key that does not encrypt needs --force`,
  );

const refusal = (message: string, field: string, hint: string): CofferError =>
  invalid(message, { field, hint });
