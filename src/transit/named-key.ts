import { createSecretKey, type KeyObject } from 'node:crypto';
import { wiping } from '../ground/bytes.ts';
import { type CofferError, conflict, corrupt, notFound, ownWords } from '../ground/errors.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import { madeOnce } from '../ground/objects.ts';
import type { DocumentRef, Transaction, View } from '../store/store.ts';
import { ContextKeys, OpenMaterial } from './context-keys.ts';
import type { Engine } from './engine.ts';
import type { NamedKeyDocument, VersionDocument } from './key-document.ts';
import { keyTypeNamed } from './key-types/index.ts';
import type { FamilyName, KeyType } from './key-types/key-type.ts';

/** Caller, the only relevant part of an engine here. */
export type CallerDialect = Pick<Engine, 'keepsFamilyRules'>;

/**
 * Named key ready for use: its document, its type, and parsed key material, each part created on first use. Store
 * documents are the same object for as long as they are unchanged, so the work is done once.
 * @see docs/decisions/0010
 */
export class NamedKey {
  static readonly #opened = new WeakMap<NamedKeyDocument, NamedKey>();

  readonly document: NamedKeyDocument;
  readonly type: KeyType;
  readonly #versions = new Map<number, KeyVersion>();

  /**
   * Opens a document.
   * @throws `corrupt` if this release does not know the key's type
   */
  static open(document: NamedKeyDocument): NamedKey {
    return madeOnce(NamedKey.#opened, document, () => new NamedKey(document));
  }

  private constructor(document: NamedKeyDocument) {
    const type = keyTypeNamed(document.type);
    if (type === undefined) {
      throw corrupt(`key "${document.name}" has the unknown type ${document.type}`, {
        hint: 'the key was written by a newer Coffer: install a newer one',
      });
    }
    this.document = document;
    this.type = type;
  }

  /** Vault's name by which the key was created, if it was. */
  get familyName(): FamilyName | undefined {
    const { familyName } = this.document;
    return this.type.familyNames?.find(({ name }) => name === familyName);
  }

  /** Returns that name for Vault clients only. */
  familyNameFor({ keepsFamilyRules }: CallerDialect): FamilyName | undefined {
    return keepsFamilyRules ? this.familyName : undefined;
  }

  /** Returns the type's name for this caller. */
  typeNameFor(asking: CallerDialect): string {
    return this.familyNameFor(asking)?.name ?? this.type.name;
  }

  get encrypts(): boolean {
    return this.type.aead !== undefined || this.type.publicKeyEncryption !== undefined;
  }

  /** Returns a usable version: not trimmed, and not below the minimum for decryption. */
  version(number: number): KeyVersion | undefined {
    return number < this.document.minDecryptionVersion ? undefined : this.storedVersion(number);
  }

  /** Returns an existing version, whether or not it is usable. */
  storedVersion(number: number): KeyVersion | undefined {
    const known = this.#versions.get(number);
    if (known !== undefined) return known;
    const stored = this.document.versions[String(number)];
    if (stored === undefined) return undefined;
    const version = new KeyVersion(number, stored, this);
    this.#versions.set(number, version);
    return version;
  }

  /** Yields the usable versions, oldest first. */
  *usableVersions(): Generator<KeyVersion> {
    const { minDecryptionVersion, latestVersion } = this.document;
    for (let number = minDecryptionVersion; number <= latestVersion; number++) {
      const version = this.storedVersion(number);
      if (version !== undefined) yield version;
    }
  }
}

/** Version of a named key. Key objects are created on first use, and cached. */
export class KeyVersion {
  readonly number: number;
  readonly document: VersionDocument;
  readonly #key: NamedKey;
  #own: OpenMaterial | undefined;
  #hmacKey: KeyObject | undefined;
  #contextKeys: ContextKeys | undefined;

  constructor(number: number, document: VersionDocument, key: NamedKey) {
    this.number = number;
    this.document = document;
    this.#key = key;
  }

  /** Whether it has a secret; false for an imported public key. */
  get hasSecret(): boolean {
    return this.document.secret !== undefined;
  }

  /** Returns the version's own key, not that of a context. */
  get own(): OpenMaterial {
    const { type } = this.#key;
    this.#own ??= new OpenMaterial(type, type.open(this.document));
    return this.#own;
  }

  /** Returns the argument for the functions of the key's type. */
  get material(): unknown {
    return this.own.material;
  }

  /** Returns the context keys, for a derived key. */
  get contextKeys(): ContextKeys {
    const { type, document } = this.#key;
    this.#contextKeys ??= new ContextKeys(type, document, this.document, () => this.material);
    return this.#contextKeys;
  }

  /** Returns the HMAC key; undefined in some very old versions. */
  get hmacKey(): KeyObject | undefined {
    const stored = this.document.hmacKey;
    if (stored === undefined) return undefined;
    this.#hmacKey ??= wiping(Buffer.from(stored, 'base64'), (bytes) => createSecretKey(bytes));
    return this.#hmacKey;
  }
}

export const keyRef = (engine: Engine, name: string): DocumentRef => ({ collection: engine.keys, id: name });

/** Reads a key in a view. */
export async function keyIn(view: View, engine: Engine, name: string): Promise<NamedKey | undefined> {
  const document = await view.get<NamedKeyDocument>(keyRef(engine, name));
  return document === undefined ? undefined : NamedKey.open(document);
}

/** Finds a key, without a promise if its document is known. */
export function findKey(engine: Engine, name: string): MaybePromise<NamedKey | undefined> {
  const known = engine.store.known?.<NamedKeyDocument>(keyRef(engine, name));
  return known === undefined ? engine.store.read((view) => keyIn(view, engine, name)) : NamedKey.open(known);
}

/**
 * Finds a key.
 * @param refusal error text for programs if there is no such key; each operation has its own
 * @throws `not-found`
 */
export async function requireKey(engine: Engine, name: string, refusal: string): Promise<NamedKey> {
  const found = findKey(engine, name);
  const key = found instanceof Promise ? await found : found;
  if (key === undefined) throw noSuchKey(name, refusal);
  return key;
}

/**
 * Changes a key in one transaction.
 * @param change returns the new document, or the same one to change nothing; it may throw, and then nothing is changed
 * @throws `not-found` with the text of `refusal`
 */
export function changeKey(
  engine: Engine,
  name: string,
  refusal: string,
  change: (key: NamedKey) => NamedKeyDocument,
): Promise<NamedKey> {
  return engine.store.transact(async (tx) => {
    const key = await keyIn(tx, engine, name);
    if (key === undefined) throw noSuchKey(name, refusal);
    const changed = change(key);
    if (changed === key.document) return key;
    replaceKey(engine, tx, key.document, changed);
    return NamedKey.open(changed);
  });
}

/** Puts the changed document of a key. Versions that it has lost are not kept anywhere else either. */
export function replaceKey(
  engine: Engine,
  tx: Transaction,
  before: NamedKeyDocument,
  after: NamedKeyDocument,
): void {
  tx.put(keyRef(engine, before.name), after);
  const left = { ...after.versions, ...after.revokedVersions };
  const present = Object.entries({ ...before.versions, ...before.revokedVersions });
  if (present.some(([number, version]) => version !== null && !left[number])) tx.forgetReplaced();
}

export const noSuchKey = (name: string, refusal: string): CofferError =>
  notFound(refusal, {
    field: 'name',
    hint: `no key "${name}"; run "coffer transit keys list" to list the keys`,
  });

/**
 * Refuses soft-deleted keys.
 * @throws `conflict`
 */
export function requireNotSoftDeleted(key: NamedKey): void {
  if (!key.document.softDeleted) return;
  throw conflict(ownWords('refusing to use soft-deleted key'), {
    field: 'name',
    hint: `restore it first with "coffer transit keys soft-delete-restore ${key.document.name}"`,
  });
}

/**
 * Changes data that another module stores about a key, in one transaction with the key's reference to it.
 * @param change receives the current reference, and returns the new one
 * @throws `not-found`, and as `change`; then nothing is changed
 */
export function changeKnown(
  engine: Engine,
  name: string,
  change: (tx: Transaction, knownAs: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  return engine.store.transact(async (tx) => {
    const key = await keyIn(tx, engine, name);
    if (key === undefined) throw noSuchKey(name, 'key not found');
    const { knownAs, ...document } = key.document;
    const after = await change(tx, knownAs);
    if (after === knownAs) return;
    tx.put(keyRef(engine, name), after === undefined ? document : { ...document, knownAs: after });
  });
}
