import type { KeyObject } from 'node:crypto';

/**
 * The sealed store as the layers above see it: JSON documents in named collections, consistent reads, atomic
 * transactions across processes. It knows nothing of keys, tags, files or HTTP. Documents are plain data that JSON can
 * represent; the owner of a collection defines their type.
 */

/** Address of a document. Both parts are hidden on disk; `id` may be any non-empty text. */
export interface DocumentRef {
  /** Path of the owning module, e.g. `transit/transit/keys`. */
  readonly collection: string;
  /** Unique within its collection, e.g. the name of a named key. */
  readonly id: string;
}

export interface ListOptions {
  /** Lists only IDs that sort (by code unit) after this one, which need not exist. */
  readonly after?: string | undefined;
  /** Maximum number of IDs. */
  readonly limit?: number | undefined;
}

/**
 * Consistent view: everything read through one view belongs to one committed state, even while other processes write.
 */
export interface View {
  /**
   * Returns a document; undefined if it does not exist. The value is frozen, and it is the *same object* on every call
   * for as long as the document is unchanged and cached, so that callers can attach derived data (parsed keys) to it in
   * a WeakMap.
   * @throws `corrupt` naming the damaged file; other documents stay readable
   */
  get<T>(ref: DocumentRef): Promise<T | undefined>;
  /** Lists the IDs of a collection, sorted by code unit, without opening the documents. */
  list(collection: string, options?: ListOptions): Promise<string[]>;
  /**
   * Returns a 32-byte secret key for one purpose, the same in every process that has the store open. It is derived from
   * the root key, so it is not stored and a rekey replaces it. The same object for as long as it does not change.
   */
  key(purpose: string): KeyObject;
}

export interface Transaction extends View {
  /** Puts a document. Later reads in the same transaction see it. */
  put(ref: DocumentRef, value: object): void;
  delete(ref: DocumentRef): void;
  /**
   * Has the former contents of the documents that this change puts leave the disk as soon as those of deleted ones, for
   * a change that takes a secret out of a document.
   */
  forgetReplaced(): void;
}

export interface TransactOptions {
  /** Shares its commit with no other: for a change of many documents, or one that takes long to be made. */
  readonly alone?: boolean;
}

export interface Store {
  /** Random ID, created by `init`; part of the associated data of every document. */
  readonly id: string;

  /**
   * Runs `read` on a consistent view. `read` may run again from the start if another process commits in between, so it
   * must have no side effects.
   */
  read<T>(read: (view: View) => T | Promise<T>): Promise<T>;

  /**
   * Returns a document without a promise if the cache knows that it is current; undefined if only `read` can tell, and
   * for one that does not exist. Servers need the same few documents for each request, and the promises of `read` take
   * as long as a small encryption.
   */
  known?<T>(ref: DocumentRef): T | undefined;

  /**
   * Runs `change` alone among all processes and commits its puts and deletions, all or nothing; the promise resolves
   * once they are durable. If `change` throws, nothing is written. A transaction that puts and deletes nothing writes
   * nothing.
   *
   * Changes that wait at the same time run one after the other and share a commit, so `change` may see data that is not
   * durable yet; its own result is returned only when that is. It must read through its transaction alone, do lengthy
   * work beforehand, and never wait for another change.
   */
  transact<T>(change: (tx: Transaction) => T | Promise<T>, options?: TransactOptions): Promise<T>;

  /**
   * Returns a cheap value (one system call for files) that changes whenever any process commits to the store. Equal
   * revisions mean that nothing derived from the store is out of date.
   */
  revision(): Promise<string>;

  /**
   * Limits the number of cached documents of a collection, evicting the least recently used first; 0 removes the limit.
   * It applies to this process until it is set again.
   */
  limitCache(collection: string, documents: number): void;

  /** Forgets the root key and every cached document; every later call throws `sealed`. */
  close(): void;
}

/** Deletes a document if it exists. Otherwise it writes nothing, so that no caches of the store are invalidated. */
export async function deleteIfThere(tx: Transaction, ref: DocumentRef): Promise<void> {
  if ((await tx.get(ref)) !== undefined) tx.delete(ref);
}
