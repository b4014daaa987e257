import { type CofferError, conflict, notFound, ownWords } from '../ground/errors.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import type { DocumentRef, Transaction, View } from '../store/store.ts';
import type { Engine } from './engine.ts';
import type { NamedKeyDocument } from './key-document.ts';
import { NamedKey } from './named-key.ts';

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
