import type { Version } from '../backends/backend.ts';
import type { Identity } from '../root-key.ts';

/** An opened blob, or the knowledge that there is none. */
export interface CachedBlob {
  /** Of the sealed bytes; undefined when the blob doesn't exist. */
  readonly fingerprint: Buffer | undefined;
  /** Parsed and frozen; undefined when the blob doesn't exist. */
  readonly value: unknown;
  /** Of the sealed bytes, as a measure of the memory used. */
  readonly size: number;
}

interface Entry extends CachedBlob {
  readonly identity: Identity;
  /** The epoch in which it was last seen to be current. */
  epoch: number;
}

/** What an entry costs beside its content, roughly. */
const ENTRY_BYTES = 200;

/**
 * Opened documents of one version of the store. When another process commits, entries are kept but count as stale
 * until their sealed bytes are seen to be the same as before: so an unchanged document stays the same object.
 * The least recently used are dropped beyond a bound.
 * @see docs/decisions/0009
 */
export class DocumentCache {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  /** Collections with a bound of their own, and their keys in the order of their last use. */
  readonly #bounded = new Map<string, { readonly limit: number; readonly keys: Set<string> }>();
  #bytes = 0;
  #version: Version = { generation: 0, revision: -1 };
  #epoch = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** From now on at most so many documents of a collection are kept; 0 takes the bound away. */
  limit(collection: string, documents: number): void {
    this.#bounded.delete(collection);
    if (documents === 0) return;
    this.#bounded.set(collection, { limit: documents, keys: new Set() });
    for (const [key, { identity }] of this.#entries) {
      if (identity.collection === collection) this.#used(key, identity);
    }
  }

  /** Whether entries that count as current belong to this version. */
  isAt(version: Version): boolean {
    return this.#version.revision === version.revision && this.#version.generation === version.generation;
  }

  /**
   * Another process made this version. A reader that comes late doesn't turn the cache back to an older one, but
   * who holds the lock knows the present version for certain (an older store may have been put in place).
   */
  moveTo(version: Version, certain: boolean): void {
    if (this.isAt(version)) return;
    if (version.revision < this.#version.revision && !certain) return;
    if (version.generation !== this.#version.generation) this.clear();
    this.#version = version;
    this.#epoch++;
  }

  /** We made version `to` out of `from` by changing exactly these blobs (undefined: opened again when needed). */
  advance(from: Version, to: Version, changed: Iterable<readonly [Identity, CachedBlob | undefined]>): void {
    if (!this.isAt(from)) return;
    this.#version = to;
    for (const [identity, blob] of changed) {
      const key = identityKey(identity);
      this.#drop(key);
      if (blob !== undefined) this.#insert(key, identity, blob);
    }
  }

  /** The blob as it is in the present version, or undefined when that isn't known. */
  current(identity: Identity): CachedBlob | undefined {
    const key = identityKey(identity);
    const entry = this.#entries.get(key);
    if (entry?.epoch !== this.#epoch) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#used(key, identity);
    return entry;
  }

  /** The blob as it was when last seen, current or not. */
  lastSeen(identity: Identity): CachedBlob | undefined {
    return this.#entries.get(identityKey(identity));
  }

  /** Remembers what was found in `version`. */
  add(version: Version, identity: Identity, blob: CachedBlob): void {
    if (!this.isAt(version)) return;
    const key = identityKey(identity);
    const entry = this.#entries.get(key);
    if (entry !== undefined && entry.value === blob.value) {
      entry.epoch = this.#epoch;
      return;
    }
    if (entry?.epoch === this.#epoch) return;
    this.#drop(key);
    this.#insert(key, identity, blob);
  }

  clear(): void {
    this.#entries.clear();
    for (const { keys } of this.#bounded.values()) keys.clear();
    this.#bytes = 0;
  }

  #insert(key: string, identity: Identity, { fingerprint, value, size }: CachedBlob): void {
    this.#entries.set(key, { identity, fingerprint, value, size, epoch: this.#epoch });
    this.#bytes += size + ENTRY_BYTES;
    this.#used(key, identity);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#drop(oldest);
    }
  }

  /** Notes a use, and drops what was not used for longest beyond the collection's bound. */
  #used(key: string, { space, collection }: Identity): void {
    const bounded = this.#bounded.get(collection);
    if (bounded === undefined || space !== 'document') return;
    bounded.keys.delete(key);
    bounded.keys.add(key);
    for (const oldest of bounded.keys) {
      if (bounded.keys.size <= bounded.limit) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bounded.get(entry.identity.collection)?.keys.delete(key);
    this.#bytes -= entry.size + ENTRY_BYTES;
  }
}

/** No two identities give the same text, whatever characters they hold. */
export const identityKey = ({ space, collection, id }: Identity): string =>
  `${space}/${collection.length}/${collection}${id}`;
