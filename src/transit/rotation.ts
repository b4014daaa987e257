import { printGoTime } from '../ground/clock.ts';
import { CofferError, invalid, ownWords, unsupported } from '../ground/errors.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import type { Transaction } from '../store/store.ts';
import { convergentVersionToRecord } from './context-keys.ts';
import type { Engine } from './engine.ts';
import type { NamedKeyDocument, VersionDocument } from './key-document.ts';
import type { KeyType, StoredMaterial } from './key-types/key-type.ts';
import {
  changeKey,
  findKey,
  keyIn,
  NamedKey,
  noSuchKey,
  replaceKey,
  requireNotSoftDeleted,
} from './named-key.ts';

/**
 * Permanently deletes all versions below `oldest`.
 * @param oldest at least 1, at most the lower of the two minimum versions; undefined if not given
 * @throws `not-found`; `invalid` if a minimum version is unset or lower than `oldest` (the key is not changed)
 */
export function trimKey(engine: Engine, name: string, oldest: number | undefined): Promise<NamedKey> {
  return changeKey(engine, name, 'invalid key name', ({ document }) => {
    if (oldest === undefined) {
      throw refusal(ownWords('missing min_available_version'), 'give the oldest version to keep');
    }
    requireTrimmable(document, oldest);
    return oldest === document.minAvailableVersion ? document : trimmed(document, oldest);
  });
}

/** Removes all versions below `oldest`, without checking any rule. */
const trimmed = (key: NamedKeyDocument, oldest: number): NamedKeyDocument => ({
  ...key,
  minAvailableVersion: oldest,
  versions: notBelow(oldest, key.versions),
  revokedVersions: key.revokedVersions && notBelow(oldest, key.revokedVersions),
});

const notBelow = <T>(oldest: number, versions: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(versions).filter(([version]) => Number(version) >= oldest));

/** Members of a key that decide which versions can be deleted. */
type VersionLimits = Pick<
  NamedKeyDocument,
  'name' | 'latestVersion' | 'minAvailableVersion' | 'minEncryptionVersion' | 'minDecryptionVersion'
>;

/**
 * Returns the hint with all that comes before versions are deleted.
 * @param reason what precedes the command, if there is one
 */
function bothFirst(key: VersionLimits, oldest: number, reason = ''): string {
  const { name, latestVersion, minEncryptionVersion, minDecryptionVersion } = key;
  if (oldest > latestVersion) return `use a version up to ${latestVersion}, the latest of this key`;
  const decryption = Math.max(oldest, 1);
  // Versions that may encrypt must be able to decrypt.
  const encryption = Math.max(decryption, minDecryptionVersion);
  const settings = [
    minDecryptionVersion < decryption ? ` --min-decryption-version ${decryption}` : '',
    minEncryptionVersion < encryption ? ` --min-encryption-version ${encryption}` : '',
  ];
  return `${reason}run "coffer transit keys config ${name}${settings.join('')}" first`;
}

/**
 * Checks the rules in Vault's order, with its messages (including their spelling).
 * @throws `invalid` if versions below `oldest` cannot be deleted
 */
export function requireTrimmable(key: VersionLimits, oldest: number): void {
  const { minAvailableVersion, minEncryptionVersion, minDecryptionVersion } = key;
  if (oldest < minAvailableVersion) {
    throw refusal(
      ownWords('minimum available version cannot be decremented'),
      `versions below ${minAvailableVersion} were already deleted`,
    );
  }
  if (minEncryptionVersion === 0) {
    throw refusal(
      ownWords('minimum available version cannot be set when minimum encryption version is not set'),
      bothFirst(key, oldest),
    );
  }
  if (minDecryptionVersion === 0) {
    throw refusal(
      ownWords('minimum available version cannot be set when minimum decryption version is not set'),
      bothFirst(key, oldest),
    );
  }
  if (oldest > minEncryptionVersion) {
    throw refusal(
      ownWords('minimum available version cannot be greater than minmum encryption version'),
      bothFirst(key, oldest, `min_encryption_version of this key is ${minEncryptionVersion}; to raise it, `),
    );
  }
  if (oldest > minDecryptionVersion) {
    throw refusal(
      ownWords('minimum available version cannot be greater than minimum decryption version'),
      bothFirst(key, oldest, `min_decryption_version of this key is ${minDecryptionVersion}; to raise it, `),
    );
  }
  if (oldest < 0)
    throw refusal(ownWords('minimum available version cannot be negative'), 'versions start at 1');
  if (oldest === 0)
    throw refusal(ownWords('minimum available version should be positive'), 'versions start at 1');
}

const refusal = (message: string, hint: string): CofferError =>
  invalid(message, { field: 'min_available_version', hint });

/**
 * Updates a key that keeps its last versions: `min_decryption_version` follows the latest one at that distance, and
 * never exceeds `min_encryption_version`, because versions that may encrypt must be able to decrypt. It never
 * decreases.
 * @see docs/decisions/0301
 */
export function followingLatest(key: NamedKeyDocument): NamedKeyDocument {
  const oldest = oldestKept(key);
  return oldest <= key.minDecryptionVersion ? key : { ...key, minDecryptionVersion: oldest };
}

/**
 * Updates a key after a version was added: deletes versions that are not usable any more, if the key has automatic
 * trimming.
 */
function withoutOldVersions(key: NamedKeyDocument): NamedKeyDocument {
  const following = followingLatest(key);
  const { autoTrim, minAvailableVersion, minDecryptionVersion } = following;
  if (!autoTrim || minDecryptionVersion <= minAvailableVersion) return following;
  return trimmed(following, minDecryptionVersion);
}

/** Returns the oldest version that the key keeps, from 1. */
export function oldestKept({ keepVersions, latestVersion, minEncryptionVersion }: NamedKeyDocument): number {
  if (keepVersions === undefined) return 1;
  const oldest = Math.max(1, latestVersion - keepVersions + 1);
  return minEncryptionVersion === 0 ? oldest : Math.min(oldest, minEncryptionVersion);
}

const HMAC_KEY_BYTES = 32;

/** Content of a new version before it is added to a key. */
type FreshVersion = Omit<VersionDocument, 'convergentVersion'>;

/** Generates the key material of a new version, with its HMAC key and time. */
export async function freshVersion(engine: Engine, type: KeyType, keyBytes: number): Promise<FreshVersion> {
  return versionOf(engine, type, await type.generate(engine.random, keyBytes));
}

/** Creates a version from existing key material. */
export function versionOf(engine: Engine, type: KeyType, material: StoredMaterial): FreshVersion {
  const now = engine.clock.now();
  return {
    ...material,
    hmacKey: type.hmacKeyOf?.(material) ?? engine.random.bytes(HMAC_KEY_BYTES).toString('base64'),
    createdAt: printGoTime(now),
    createdAtSeconds: Math.floor(now / 1000),
  };
}

/** Adds a version to the document as the latest one, and removes versions that it does not keep. */
export function withVersion(document: NamedKeyDocument, fresh: FreshVersion): NamedKeyDocument {
  const latestVersion = document.latestVersion + 1;
  const version: VersionDocument = { ...fresh, convergentVersion: convergentVersionToRecord(document) };
  const versions = { ...document.versions, [latestVersion]: version };
  return withoutOldVersions({ ...document, latestVersion, versions });
}

/**
 * Adds a version.
 * @param force rotates a signing-only key as well
 * @throws `not-found`; `conflict` for a soft-deleted key; `unsupported` if keys of the type, or imported keys, do not
 * rotate
 */
export function rotateKey(engine: Engine, name: string, force: boolean): Promise<NamedKey> {
  return addVersion(engine, name, (key) => {
    requireNotSoftDeleted(key);
    requireRotatableType(engine, key, force);
    requireRotatableOrigin(key);
    return true;
  });
}

/**
 * Returns the key, rotated first if its latest version is older than its period. Several processes that find it due at
 * once add only one version.
 * @see docs/decisions/0014
 */
export function rotatedWhenDue(engine: Engine, key: NamedKey): MaybePromise<NamedKey> {
  if (!isDue(engine, key)) return key;
  return addVersion(engine, key.document.name, (current) => isDue(engine, current));
}

/**
 * Rotates every due key of the mount; servers run it periodically, so that unused keys are rotated as well.
 * @returns names of the rotated keys
 * @throws the first error, such as `corrupt` for a damaged key, after all other keys were processed
 */
export async function rotateDueKeys(engine: Engine): Promise<string[]> {
  const rotated: string[] = [];
  const refusals: CofferError[] = [];
  for (const name of await engine.store.read((view) => view.list(engine.keys))) {
    try {
      const key = await findKey(engine, name);
      if (key === undefined || !isDue(engine, key)) continue;
      await rotatedWhenDue(engine, key);
      rotated.push(name);
    } catch (error) {
      if (!(error instanceof CofferError)) throw error;
      refusals.push(error);
    }
  }
  const [first] = refusals;
  if (first !== undefined) throw first;
  return rotated;
}

function isDue(engine: Engine, { document }: NamedKey): boolean {
  const { autoRotatePeriodSeconds: period, latestVersion, versions } = document;
  if (period === 0 || document.softDeleted) return false;
  if (document.imported && !document.allowImportedKeyRotation) return false;
  const latest = versions[String(latestVersion)];
  return latest !== undefined && engine.clock.now() - 1000 * latest.createdAtSeconds >= 1000 * period;
}

/** Requirements for the key material of a new version. */
interface NewVersionRequest {
  readonly type: KeyType;
  readonly keyBytes: number;
}

/** Key material generated before the key was read again. */
interface Made extends NewVersionRequest {
  readonly fresh: FreshVersion;
}

/**
 * Adds a version in one transaction. Slow key material is generated between two transactions, so that no writer waits
 * for it: the first one only determines the requirements.
 * @param wanted decides for the current key; false leaves it unchanged. It may throw.
 */
async function addVersion(
  engine: Engine,
  name: string,
  wanted: (key: NamedKey) => boolean,
): Promise<NamedKey> {
  let made: Made | undefined;
  for (;;) {
    const outcome = await engine.store.transact(async (tx) => {
      const key = await keyIn(tx, engine, name);
      if (key === undefined) throw noSuchKey(name, 'key not found');
      return wanted(key) ? putVersion(engine, tx, key, made) : key;
    });
    if (outcome instanceof NamedKey) return outcome;
    made = { ...outcome, fresh: await freshVersion(engine, outcome.type, outcome.keyBytes) };
  }
}

/**
 * Adds a version.
 * @returns the key; or, if generation would be slow and has not happened yet, the requirements
 */
async function putVersion(
  engine: Engine,
  tx: Transaction,
  { type, document }: NamedKey,
  made: Made | undefined,
): Promise<NamedKey | NewVersionRequest> {
  const { keyBytes } = document;
  // If the key was deleted and recreated in the meantime, the requirements may differ.
  const isAtHand = made?.type === type && made.keyBytes === keyBytes;
  if (type.generatesSlowly === true && !isAtHand) return { type, keyBytes };
  const fresh = isAtHand ? made.fresh : await freshVersion(engine, type, keyBytes);
  const rotated = { ...withVersion(document, fresh), imported: false };
  replaceKey(engine, tx, document, rotated);
  return NamedKey.open(rotated);
}

function requireRotatableType(engine: Engine, key: NamedKey, force: boolean): void {
  if (engine.rotatesEveryType || force || key.encrypts) return;
  throw unsupported(
    `rotation is only supported for keys that encrypt and decrypt; ${key.type.name} does not`,
    {
      field: 'name',
      hint: 'use force (--force) to rotate it anyway',
    },
  );
}

function requireRotatableOrigin({ document }: NamedKey): void {
  if (!document.imported || document.allowImportedKeyRotation) return;
  throw unsupported(`imported key ${document.name} does not allow rotation within Vault`, {
    field: 'name',
    hint: 'import a new version of it instead',
  });
}
