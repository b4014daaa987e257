import type { Backend } from '../backends/backend.ts';
import { isSameVersion, type Version } from '../backends/witness.ts';
import { parseFrozen } from '../draft.ts';
import { missing, REPAIR } from '../refusals.ts';
import { type BlobIdentity, fingerprint, identityKey, type RootKey } from '../root-key.ts';
import type { IndexReader } from './collection-index.ts';
import type { CachedBlob, DocumentCache } from './document-cache.ts';

/** Source of a reader, and the trust in its data. */
export interface ReaderScope {
  readonly backend: Backend;
  readonly root: RootKey;
  readonly cache: DocumentCache;
  /** Version that the reader shows. */
  readonly version: Version;
  /**
   * `locked`: no other process can write. `settled`: reads count only if the version is the same afterwards.
   * `compared`: reads count only if they return the same when they are repeated.
   */
  readonly trust: 'locked' | 'settled' | 'compared';
}

/** Thrown by a reader when its version no longer exists. Internal to the store. */
class VersionGone extends Error {}

/** Opens the sealed blobs of one version of the store. */
export class BlobReader implements IndexReader {
  readonly #scope: ReaderScope;
  /** Blobs not yet known to belong to the version; visible only to this reader. */
  readonly #unconfirmed = new Map<string, { identity: BlobIdentity; blob: CachedBlob }>();
  /** Whether the version is gone, so that results of this reader must be discarded. */
  versionGone = false;

  constructor(scope: ReaderScope) {
    this.#scope = scope;
  }

  get version(): Version {
    return this.#scope.version;
  }

  get root(): RootKey {
    return this.#scope.root;
  }

  /** Whether the result counts only if the store is still at this version. */
  get needsConfirmation(): boolean {
    return this.#unconfirmed.size > 0;
  }

  /** Whether everything it showed was known to belong to its version. */
  get isSpotless(): boolean {
    return !this.versionGone && this.#unconfirmed.size === 0;
  }

  /** Takes note of what was read until now; a look at the store after that can confirm it, what is read later not. */
  confirmation() {
    const read = [...this.#unconfirmed.values()];
    const { cache, version } = this.#scope;
    return {
      /**
       * Whether it belongs to the reader's version if the store was at version `now` after that moment: nobody has
       * committed since, or only this process, and nothing that was read.
       */
      isSameUntil: (now: Version): boolean =>
        isSameVersion(now, version) ||
        (cache.follows(now) && read.every(({ identity }) => cache.isUnchanged(identity, version))),
      /** Adds it to the cache as data of version `now`. */
      keep(now: Version): void {
        for (const { identity, blob } of read) cache.add(now, identity, blob);
      },
    };
  }

  /**
   * Returns a reader of the current version if only this process has committed since this reader's version; it keeps
   * the reads that those commits did not change. Undefined if nothing was committed, or if another process has
   * committed, too.
   */
  caughtUp(): BlobReader | undefined {
    const { cache, version } = this.#scope;
    if (cache.isAt(version) || !cache.follows(version)) return undefined;
    const next = new BlobReader({ ...this.#scope, version: cache.version });
    for (const [key, read] of this.#unconfirmed) {
      if (cache.isUnchanged(read.identity, version)) next.#unconfirmed.set(key, read);
    }
    return next;
  }

  /**
   * Repeats all reads and compares. Changed blobs are updated in the reader, so that the next attempt with this reader
   * has little left to read.
   */
  async isStillSo(): Promise<boolean> {
    const { root, backend } = this.#scope;
    let isSame = true;
    for (const [key, { identity, blob }] of this.#unconfirmed) {
      const bytes = await backend.read(root.generation, root.refOf(identity));
      const present = bytes === undefined ? undefined : fingerprint(bytes);
      if (present === blob.fingerprint) continue;
      isSame = false;
      this.#unconfirmed.delete(key);
    }
    return isSame;
  }

  async load(identity: BlobIdentity): Promise<unknown> {
    const { cache, trust, version } = this.#scope;
    if (trust === 'compared') return this.#loadUnconfirmed(identity);
    if (!cache.isUnchanged(identity, version)) return this.#giveUp();
    const known = cache.current(identity);
    if (known !== undefined) return known.value;
    if (trust === 'settled') return this.#loadUnconfirmed(identity);
    const blob = await this.#read(identity);
    cache.add(version, identity, blob);
    return blob.value;
  }

  /** Returns the content of a blob that is cached as of this version; undefined if it is not, or does not exist. */
  known(identity: BlobIdentity): unknown {
    const { cache, version } = this.#scope;
    return cache.isAt(version) ? cache.current(identity)?.value : undefined;
  }

  async #loadUnconfirmed(identity: BlobIdentity): Promise<unknown> {
    const key = identityKey(identity);
    const known = this.#unconfirmed.get(key)?.blob;
    if (known !== undefined) return known.value;
    const blob = await this.#read(identity);
    this.#unconfirmed.set(key, { identity, blob });
    return blob.value;
  }

  async require(identity: BlobIdentity): Promise<unknown> {
    const value = await this.load(identity);
    if (value === undefined) throw this.missing(identity);
    return value;
  }

  /** Creates the error for a blob that should exist. */
  missing(identity: BlobIdentity): Error {
    const { backend, root } = this.#scope;
    return missing(backend.locate(root.generation, root.refOf(identity)), REPAIR);
  }

  async exists(identity: BlobIdentity): Promise<boolean> {
    const { backend, root, cache, version } = this.#scope;
    const known = cache.isAt(version) ? cache.current(identity) : undefined;
    if (known !== undefined) return known.fingerprint !== undefined;
    return backend.has(root.generation, root.refOf(identity));
  }

  async #read(identity: BlobIdentity): Promise<CachedBlob> {
    const { root, cache, backend } = this.#scope;
    const ref = root.refOf(identity);
    const bytes = await backend.read(root.generation, ref);
    if (bytes === undefined) return { fingerprint: undefined, value: undefined, size: 0 };
    const seen = cache.lastSeen(identity);
    const present = fingerprint(bytes);
    if (seen?.fingerprint === present) return seen;
    const { json } = root.open(ref, bytes, backend.locate(root.generation, ref));
    return { fingerprint: present, value: parseFrozen(json), size: bytes.length };
  }

  #giveUp(): never {
    this.versionGone = true;
    throw new VersionGone();
  }
}
