import { isSameVersion, type Version } from '../backends/witness.ts';
import { type BlobIdentity, identityKey } from '../root-key.ts';

/** Opened blob, or the knowledge that it does not exist. */
export interface CachedBlob {
  /** Fingerprint of the sealed bytes; undefined if the blob does not exist. */
  readonly fingerprint: string | undefined;
  /** Parsed and frozen content; undefined if the blob does not exist. */
  readonly value: unknown;
  /** Size of the sealed bytes, as a measure of the memory used. */
  readonly size: number;
}

interface CacheEntry extends CachedBlob {
  readonly identity: BlobIdentity;
  /** Epoch in which the entry was last confirmed as current. */
  epoch: number;
  /** Number of uses of the cache when the entry was last put at the end. */
  movedAt: number;
}

/** Commit of this process. */
interface OwnCommit {
  /** Version that it was made from. */
  readonly from: Version;
  /** Keys of the blobs that it changed. */
  readonly changed: ReadonlySet<string>;
}

/** Number of own commits that are remembered; a read is rarely overtaken by more than a few. */
const REMEMBERED_COMMITS = 32;
/** A commit of more blobs is not remembered: their keys would take memory. */
const REMEMBERED_BLOBS = 1024;
/** Approximate overhead of an entry, in bytes. */
const ENTRY_BYTES = 200;
/**
 * Share of the entries that may be used before an entry that is used again is put at the end again. Moving an entry of
 * a large map takes several microseconds, because it leaves a gap, and V8 copies maps with many gaps.
 */
const MOVED_AFTER_SHARE = 1 / 4;

/**
 * Cache of opened documents of one version of the store. When another process commits, entries are kept but count as
 * stale until their sealed bytes are found unchanged: so an unchanged document stays the same object. The least
 * recently used entries are evicted beyond a bound.
 * @see docs/decisions/0009
 */
export class DocumentCache {
  readonly #maxBytes: number;
  /** In the order of their last use, apart from uses shortly one after the other. */
  readonly #entries = new Map<string, CacheEntry>();
  /** Collections with a bound of their own, and their keys in the order of their last use. */
  readonly #bounded = new Map<string, { readonly limit: number; readonly keys: Set<string> }>();
  #bytes = 0;
  #version: Version = { generation: 0, revision: -1 };
  #epoch = 0;
  #uses = 0;
  /** Last commits of this process, each made from the version of the one before; the last made the current version. */
  #own: OwnCommit[] = [];

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Sets the maximum number of cached documents of a collection; 0 removes the bound. */
  limit(collection: string, documents: number): void {
    this.#bounded.delete(collection);
    if (documents === 0) return;
    this.#bounded.set(collection, { limit: documents, keys: new Set() });
    for (const [key, { identity }] of this.#entries) {
      if (identity.collection === collection) this.#used(key, identity);
    }
  }

  /** Version of the current entries. */
  get version(): Version {
    return this.#version;
  }

  /** Whether current entries belong to this version. */
  isAt(version: Version): boolean {
    return isSameVersion(this.#version, version);
  }

  /**
   * Moves to a version that another process committed. A late reader does not turn the cache back to an older version,
   * but a lock holder knows the current version for certain (an older store may have been put in place).
   */
  moveTo(version: Version, certain: boolean): void {
    if (this.isAt(version)) return;
    if (version.revision < this.#version.revision && !certain) return;
    if (version.generation !== this.#version.generation) this.clear();
    this.#version = version;
    this.#epoch++;
    this.#own = [];
  }

  /** Whether it is at this version, or has moved on from it by commits of this process alone. */
  follows(version: Version): boolean {
    return this.#ownSince(version) !== undefined;
  }

  /** Whether a blob is certainly the same now as in this version. */
  isUnchanged(identity: BlobIdentity, since: Version): boolean {
    if (this.isAt(since)) return true;
    const key = identityKey(identity);
    return this.#ownSince(since)?.every(({ changed }) => !changed.has(key)) === true;
  }

  /** Returns the commits of this process that led from a version to the current one; undefined if others did. */
  #ownSince(version: Version): readonly OwnCommit[] | undefined {
    if (this.isAt(version)) return [];
    const first = this.#own.findIndex(({ from }) => isSameVersion(from, version));
    return first === -1 ? undefined : this.#own.slice(first);
  }

  /**
   * Moves to version `to`, which this process made from `from` by changing exactly these blobs (undefined: reopened on
   * demand).
   */
  advance(
    from: Version,
    to: Version,
    changed: Iterable<readonly [BlobIdentity, CachedBlob | undefined]>,
  ): void {
    if (!this.isAt(from)) return;
    this.#version = to;
    const keys = new Set<string>();
    for (const [identity, blob] of changed) {
      const key = identityKey(identity);
      keys.add(key);
      if (blob === undefined) this.#drop(key);
      else this.#insert(key, identity, blob);
    }
    if (keys.size > REMEMBERED_BLOBS) this.#own = [];
    else this.#own.push({ from, changed: keys });
    if (this.#own.length > REMEMBERED_COMMITS) this.#own.shift();
  }

  /** Returns the blob as of the current version; undefined if that is not known. */
  current(identity: BlobIdentity): CachedBlob | undefined {
    const key = identityKey(identity);
    const entry = this.#entries.get(key);
    if (entry?.epoch !== this.#epoch) return undefined;
    if (++this.#uses - entry.movedAt > this.#patience) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      entry.movedAt = this.#uses;
    }
    if (this.#bounded.size > 0) this.#used(key, identity);
    return entry;
  }

  /** Number of uses after which an entry that is used again is put at the end again. */
  get #patience(): number {
    return this.#entries.size * MOVED_AFTER_SHARE;
  }

  /** Returns the blob as last seen, current or not. */
  lastSeen(identity: BlobIdentity): CachedBlob | undefined {
    return this.#entries.get(identityKey(identity));
  }

  /** Adds a blob that was read in `version`, if it is certainly still the same. */
  add(version: Version, identity: BlobIdentity, blob: CachedBlob): void {
    if (!this.isUnchanged(identity, version)) return;
    const key = identityKey(identity);
    const entry = this.#entries.get(key);
    if (entry !== undefined && entry.value === blob.value) {
      entry.epoch = this.#epoch;
      return;
    }
    if (entry?.epoch === this.#epoch) return;
    this.#insert(key, identity, blob);
  }

  clear(): void {
    this.#entries.clear();
    this.#own = [];
    for (const { keys } of this.#bounded.values()) keys.clear();
    this.#bytes = 0;
  }

  #insert(key: string, identity: BlobIdentity, { fingerprint, value, size }: CachedBlob): void {
    const before = this.#entries.get(key);
    let movedAt = ++this.#uses;
    if (before !== undefined && movedAt - before.movedAt <= this.#patience) {
      movedAt = before.movedAt;
      this.#bytes -= before.size + ENTRY_BYTES;
    } else this.#drop(key);
    this.#entries.set(key, { identity, fingerprint, value, size, epoch: this.#epoch, movedAt });
    this.#bytes += size + ENTRY_BYTES;
    this.#used(key, identity);
    if (this.#bytes <= this.#maxBytes) return;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#drop(oldest);
    }
  }

  /** Records a use, and evicts the least recently used entry beyond the collection's bound. */
  #used(key: string, { space, collection }: BlobIdentity): void {
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
