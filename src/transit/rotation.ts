import { printGoTime } from '../ground/clock.ts';
import { CofferError, unsupported } from '../ground/errors.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import type { Transaction } from '../store/store.ts';
import { convergentVersionToRecord } from './convergent.ts';
import type { Engine } from './engine.ts';
import type { NamedKeyDocument, VersionDocument } from './key-document.ts';
import type { KeyType, StoredMaterial } from './key-types/key-type.ts';
import { findKey, keyIn, NamedKey, noSuchKey, replaceKey, requireNotSoftDeleted } from './named-key.ts';
import { withoutOldVersions } from './trim.ts';

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
