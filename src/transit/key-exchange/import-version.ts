import { conflict, invalid, ownWords, unsupported } from '../../ground/errors.ts';
import type { Engine } from '../engine.ts';
import type { NamedKeyDocument, VersionDocument } from '../key-document.ts';
import type { StoredMaterial } from '../key-types/key-type.ts';
import { changeKey, findKey, type NamedKey, noSuchKey, requireNotSoftDeleted } from '../named-key.ts';
import { versionOf, withVersion } from '../rotation.ts';
import { type Incoming, importedMaterial } from './import-key.ts';

interface NewVersionImport extends Incoming {
  /**
   * Public-only version that the private key belongs to; absent to add a version, or to complete the latest one if the
   * key fits.
   */
  readonly version?: number | undefined;
}

/**
 * Adds an imported version to an imported key, or completes one that has only a public key.
 * @throws `not-found`; `conflict` if the key or version does not accept it; `invalid` or `unsupported` for the material
 */
export async function importVersion(
  engine: Engine,
  name: string,
  incoming: NewVersionImport,
): Promise<NamedKey> {
  const missing = `no key found with name ${name}; to import a new key, use the import/ endpoint`;
  const seen = await findKey(engine, name);
  if (seen === undefined) throw noSuchKey(name, missing);
  requireImported(seen);
  if (incoming.version !== undefined) requireCompletable(seen, incoming.version, incoming);
  const material = await importedMaterial(engine, seen.type, incoming, seen.document.derived);
  return changeKey(engine, name, missing, (key) => {
    requireImported(key);
    if (key.type !== seen.type) throw noSuchKey(name, missing);
    return incoming.version === undefined
      ? withNewest(engine, key, material)
      : withCompleted(
          key.document,
          requireCompletable(key, incoming.version, incoming),
          incoming.version,
          material,
        );
  });
}

const ONLY_IMPORTED = 'the import_version endpoint can only be used with an imported key';

/**
 * Requires an imported key.
 * @param refusal error for keys that were not imported
 * @throws `conflict` if the key was not imported, is convergent or is soft-deleted
 */
export function requireImported(key: NamedKey, refusal = ONLY_IMPORTED): void {
  requireNotSoftDeleted(key);
  if (!key.document.imported) {
    throw conflict(refusal, {
      field: 'name',
      hint: `this key was created or rotated on this server: run "coffer transit keys rotate ${key.document.name}" for a new version`,
    });
  }
  if (key.document.convergentEncryption) {
    throw conflict(ownWords('import_version cannot be used on keys with convergent encryption enabled'), {
      field: 'name',
    });
  }
}

/** Adds the version. As in Vault, the latest version is completed in place if the private key matches it. */
function withNewest(engine: Engine, key: NamedKey, material: StoredMaterial): NamedKeyDocument {
  const { document } = key;
  const latest = document.versions[String(document.latestVersion)];
  const completes =
    latest !== undefined &&
    latest.secret === undefined &&
    material.secret !== undefined &&
    latest.publicKey === material.publicKey;
  return completes
    ? withCompleted(document, latest, document.latestVersion, material)
    : withVersion(document, versionOf(engine, key.type, material));
}

function withCompleted(
  document: NamedKeyDocument,
  version: VersionDocument,
  number: number,
  material: StoredMaterial,
): NamedKeyDocument {
  if (version.publicKey !== material.publicKey) {
    throw invalid(ownWords('cannot import key, key pair does not match'), {
      field: 'ciphertext',
      hint: `use the private key of version ${number}`,
    });
  }
  return { ...document, versions: { ...document.versions, [number]: { ...version, ...material } } };
}

/** Finds a version that lacks its private key. */
function requireCompletable(key: NamedKey, number: number, { ciphertext }: Incoming): VersionDocument {
  const version = key.version(number)?.document;
  if (version === undefined) throw invalid(ownWords('no such key version'), { field: 'version' });
  if (key.type.importing?.publicKey === undefined) {
    throw unsupported(ownWords('provided type does not support importing key versions'), {
      field: 'version',
    });
  }
  if (!ciphertext) {
    throw conflict(ownWords('cannot add a public key to a key version that already has a public key set'), {
      field: 'public_key',
    });
  }
  if (version.secret !== undefined) {
    throw conflict(ownWords('private key imported, key version cannot be updated'), { field: 'version' });
  }
  return version;
}
