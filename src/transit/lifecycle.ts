import { alternatives } from '../ground/alternatives.ts';
import { type CofferError, conflict, invalid, ownWords, unsupported } from '../ground/errors.ts';
import type { ListOptions, Transaction } from '../store/store.ts';
import { requireAutoRotatePeriod } from './configuration.ts';
import { VERSIONS_SAY } from './context-keys.ts';
import type { Engine } from './engine.ts';
import { checkNameLength, type NamedKeyDocument } from './key-document.ts';
import { type CalledType, keyTypeCalled, keyTypeNames, parameterSetsOf } from './key-types/index.ts';
import { KDF_COUNTER, KDF_HKDF, type KeyType } from './key-types/key-type.ts';
import { changeKey, findKey, keyIn, keyRef, NamedKey, noSuchKey } from './named-key.ts';
import { freshVersion, withVersion } from './rotation.ts';

/** Settings of a new key. */
export interface NewKey {
  /** Name of a key type; Vault's name on input is allowed. */
  readonly type: string;
  /** Vault's name for the type, if the key is created by that name. */
  readonly familyName?: string | undefined;
  readonly derived: boolean;
  readonly convergentEncryption: boolean;
  readonly exportable: boolean;
  readonly allowPlaintextBackup: boolean;
  /** 0 for never, else at least one hour. */
  readonly autoRotatePeriodSeconds: number;
  /** Key length, for types with a variable length; else 0. */
  readonly keyBytes: number;
}

/**
 * Creates a key. An existing one stays unchanged. Key material is generated before the change of the store, which never
 * waits for it.
 * @param asked `type` may be one of Vault's names; `parameterSet` is the parameter that some of these need, otherwise
 * empty
 * @returns the key, and whether it was there already
 * @throws `invalid` or `unsupported` for settings that do not fit each other or the type
 */
export async function createKey(
  engine: Engine,
  name: string,
  asked: NewKey & { readonly parameterSet?: string },
) {
  const { type, familyName } = requireSettings(asked);
  const settings: NewKey = { ...asked, type: type.name, familyName: familyName?.name };
  const known = await findKey(engine, name);
  if (known !== undefined) return { key: known, existed: true };
  const document = await newDocument(engine, name, type, settings);
  return engine.store.transact(async (tx) => {
    const meanwhile = await keyIn(tx, engine, name);
    if (meanwhile !== undefined) return { key: meanwhile, existed: true };
    tx.put(keyRef(engine, name), document);
    return { key: NamedKey.open(document), existed: false };
  });
}

function requireSettings(settings: NewKey & { readonly parameterSet?: string }): CalledType {
  requireAutoRotatePeriod(settings.autoRotatePeriodSeconds);
  if (settings.convergentEncryption && !settings.derived) {
    throw invalid(ownWords('convergent encryption requires derivation to be enabled'), {
      field: 'convergent_encryption',
      hint: 'set derived as well',
    });
  }
  const called = requireKeyType(settings.type, settings.parameterSet);
  requireKeySize(called.type, settings.keyBytes);
  requireCapabilities(called.type, settings);
  return called;
}

/**
 * Finds a key type.
 * @param parameterSet value of `parameter_set`
 * @param told beginning of the error message for an unknown name
 * @throws `invalid` if there is no such type, or it does not have the parameter set
 */
export function requireKeyType(name: string, parameterSet = '', told = 'unknown key type'): CalledType {
  const called = keyTypeCalled(name, parameterSet);
  if (called !== undefined) return called;
  const sets = parameterSetsOf(name);
  if (sets === undefined) {
    throw invalid(`${told} ${name}`, { field: 'type', hint: `use one of ${keyTypeNames().join(', ')}` });
  }
  throw invalid(`invalid parameter set ${parameterSet} for key type ${name}`, {
    field: 'parameter_set',
    hint: sets.length === 0 ? 'omit the parameter set: this type has none' : `use ${alternatives(sets)}`,
  });
}

function requireKeySize({ name, size }: KeyType, keyBytes: number): void {
  if (size === undefined) {
    if (keyBytes === 0) return;
    throw invalid(`key_size is not valid for algorithm ${name}`, {
      field: 'key_size',
      hint: 'omit the key size: keys of this type have a fixed one',
    });
  }
  const bounds = { field: 'key_size', hint: `use ${size.minimumBytes} to ${size.maximumBytes} bytes` };
  if (keyBytes === 0) {
    throw invalid(
      `invalid key size for ${name.toUpperCase()} key, must be between ${size.minimumBytes} and ${size.maximumBytes} bytes`,
      bounds,
    );
  }
  if (keyBytes < size.minimumBytes || keyBytes > size.maximumBytes) {
    throw invalid(`invalid key_size ${keyBytes}`, bounds);
  }
}

/**
 * Checks the capabilities of a type.
 * @throws `unsupported` if its keys cannot be derived or convergent
 */
export function requireCapabilities(
  type: KeyType,
  { derived, convergentEncryption }: Pick<NewKey, 'derived' | 'convergentEncryption'>,
): void {
  if (derived && type.derivation === undefined) {
    throw unsupported(
      `key derivation and convergent encryption not supported for keys of type ${type.name}`,
      {
        field: 'derived',
        hint: 'omit derived, or use a type that supports derivation',
      },
    );
  }
  if (convergentEncryption && type.aead === undefined) {
    throw unsupported(`convergent encryption not supported for keys of type ${type.name}`, {
      field: 'convergent_encryption',
      hint: 'omit convergent_encryption, or use a symmetric type',
    });
  }
}

/** Creates a key at version 1, without storing it. */
export async function newDocument(
  engine: Engine,
  name: string,
  type: KeyType,
  settings: NewKey,
): Promise<NamedKeyDocument> {
  return withVersion(emptyDocument(name, settings), await freshVersion(engine, type, settings.keyBytes));
}

/**
 * Creates a key without any version.
 * @throws `invalid` for a name that is too long
 */
export function emptyDocument(name: string, settings: NewKey): NamedKeyDocument {
  checkNameLength(name, 'name');
  return {
    name,
    type: settings.type,
    familyName: settings.familyName,
    keyBytes: settings.keyBytes,
    derived: settings.derived,
    kdf: settings.derived ? KDF_HKDF : KDF_COUNTER,
    convergentEncryption: settings.convergentEncryption,
    convergentVersion: settings.convergentEncryption ? VERSIONS_SAY : 0,
    exportable: settings.exportable,
    allowPlaintextBackup: settings.allowPlaintextBackup,
    deletionAllowed: false,
    softDeleted: false,
    minDecryptionVersion: 1,
    minEncryptionVersion: 0,
    minAvailableVersion: 0,
    latestVersion: 0,
    autoRotatePeriodSeconds: settings.autoRotatePeriodSeconds,
    imported: false,
    allowImportedKeyRotation: false,
    versionTemplate: '',
    versions: {},
  };
}

/** Lists the names of the mount's keys, sorted by code unit. */
export const listKeys = (engine: Engine, options: ListOptions): Promise<string[]> =>
  engine.store.read((view) => view.list(engine.keys, options));

/**
 * Permanently deletes a key with all its versions.
 * @param forget called in the same transaction if another module stores data about the key
 * @throws `not-found`; `conflict` unless deletion was allowed by configuration
 */
export function deleteKey(
  engine: Engine,
  name: string,
  forget?: (tx: Transaction, knownAs: string) => Promise<void>,
): Promise<void> {
  return engine.store.transact(async (tx) => {
    const key = await keyIn(tx, engine, name);
    if (key === undefined)
      throw noSuchKey(name, `error deleting policy ${name}: could not delete key; not found`);
    if (!key.document.deletionAllowed) throw deletionNotAllowed(name);
    if (key.document.knownAs !== undefined) await forget?.(tx, key.document.knownAs);
    tx.delete(keyRef(engine, name));
  });
}

/** Returns the error for a key that must not be deleted. */
export const deletionNotAllowed = (name: string): CofferError =>
  conflict(`error deleting policy ${name}: deletion is not allowed for this key`, {
    field: 'name',
    hint: `run "coffer transit keys config ${name} --deletion-allowed" first`,
  });

/**
 * Soft-deletes a key, so that it cannot be used until it is restored, or restores it.
 * @returns the key, and whether anything changed; undefined if there is no key, which is not an error in Vault
 */
export async function setSoftDeleted(
  engine: Engine,
  name: string,
  softDeleted: boolean,
): Promise<{ readonly key: NamedKey; readonly changed: boolean } | undefined> {
  if ((await findKey(engine, name)) === undefined) return undefined;
  let changed = false;
  const key = await changeKey(engine, name, 'key not found', ({ document }) => {
    changed = document.softDeleted !== softDeleted;
    return changed ? { ...document, softDeleted } : document;
  });
  return { key, changed };
}
