import type { KeyObject } from 'node:crypto';

/**
 * The sealed store as the rooms above it see it: JSON documents in named collections, consistent reads,
 * atomic transactions across processes. Nothing here knows of keys, tags, files or HTTP. Documents are plain
 * data that JSON can carry; whoever owns a collection gives them their type.
 */

/** Where a document lives. Both parts are hidden on disk; `id` may be any non-empty text. */
export interface DocumentRef {
  /** A path of the owning room, e.g. `transit/transit/keys`. */
  readonly collection: string;
  /** Unique within its collection, e.g. the name of a named key. */
  readonly id: string;
}

export interface ListOptions {
  /** Only ids that sort (by code unit) after this one, which need not exist. */
  readonly after?: string;
  /** At most so many ids. */
  readonly limit?: number;
}

/**
 * A consistent view: everything read through one view belongs to one committed state,
 * even while other processes write.
 */
export interface View {
  /**
   * The document, or undefined when there is none. The value is frozen, and it is the *same object* on every
   * call for as long as the document is unchanged and cached, so that a caller may hang what it derives
   * from it (parsed keys) on a WeakMap.
   * @throws `corrupt` naming the damaged file; other documents stay readable.
   */
  get<T>(ref: DocumentRef): Promise<T | undefined>;
  /** The ids of a collection, sorted by code unit. Costs no opening of the documents themselves. */
  list(collection: string, options?: ListOptions): Promise<string[]>;
  /**
   * A secret key of 32 bytes for one purpose, the same in every process that has the store open. It is derived from the root key,
   * so it lies nowhere and a rekey replaces it. The same object for as long as it stays the same.
   */
  key(purpose: string): KeyObject;
}

export interface Transaction extends View {
  /** Reads see what was put before in the same transaction. */
  put(ref: DocumentRef, value: object): void;
  delete(ref: DocumentRef): void;
}

export interface Store {
  /** Random, made by `init`; part of what every document is authenticated with. */
  readonly id: string;

  /**
   * Runs `read` on a consistent view. `read` may run again from the start when another process commits in
   * between, so it must have no effects.
   */
  read<T>(read: (view: View) => T | Promise<T>): Promise<T>;

  /**
   * Runs `change` alone among all processes and commits what it put and deleted, all or nothing; the promise
   * resolves once that is durable. When `change` throws, nothing is written.
   * A transaction that puts and deletes nothing writes nothing.
   */
  transact<T>(change: (tx: Transaction) => T | Promise<T>): Promise<T>;

  /**
   * A cheap value (one system call for files) that differs from its earlier value once anything in the store was
   * committed by any process. Equal revisions mean that nothing derived from the store is out of date.
   */
  revision(): Promise<string>;

  /**
   * Bounds how many documents of a collection are kept in memory, least recently used first to go; 0 takes the bound
   * away. It holds for this process and until it is set anew.
   */
  limitCache(collection: string, documents: number): void;

  /** Forgets the root key and every cached document; every later call throws `sealed`. */
  close(): void;
}
