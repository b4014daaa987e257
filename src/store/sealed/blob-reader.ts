import type { Backend, Version } from '../backends/backend.ts';
import { missing, REPAIR } from '../refusals.ts';
import { fingerprint, type Identity, type RootKey } from '../root-key.ts';
import type { IndexReader } from './collection-index.ts';
import { type CachedBlob, type DocumentCache, identityKey } from './document-cache.ts';

/** Where a reader reads, and how far it may trust what it finds. */
export interface ReaderScope {
  readonly backend: Backend;
  readonly root: RootKey;
  readonly cache: DocumentCache;
  /** What the reader shows. */
  readonly version: Version;
  /**
   * `locked`: nobody else can write. `settled`: what is read counts only if the version is the same afterwards.
   * `unsettled`: a commit on top of this version is being applied, so only what the cache knows can be shown.
   * `compared`: what is read counts only if it is still the same when it is read again.
   */
  readonly trust: 'locked' | 'settled' | 'unsettled' | 'compared';
}

/** Thrown inside a reader when its version can't be shown any more. Never leaves the store. */
export class VersionGone extends Error {}

/** Opens the sealed blobs of one version of the store. */
export class BlobReader implements IndexReader {
  readonly #scope: ReaderScope;
  #backend: Backend;
  /** Not yet known to belong to the version; only this reader sees them. */
  readonly #unconfirmed = new Map<string, { identity: Identity; blob: CachedBlob }>();
  /** Set when the result of whoever used this reader is worth nothing. */
  versionGone = false;

  constructor(scope: ReaderScope) {
    this.#scope = scope;
    this.#backend = scope.backend;
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

  /** Whether all that it showed was known to belong to its version. */
  get isSpotless(): boolean {
    return !this.versionGone && this.#unconfirmed.size === 0;
  }

  /** What to call once all that was read until now is known to belong to this version: it is cached then. */
  confirmation(): (version?: Version) => void {
    const read = [...this.#unconfirmed.values()];
    return (version = this.version) => {
      for (const { identity, blob } of read) this.#scope.cache.add(version, identity, blob);
    };
  }

  /**
   * Reads everything again that was read. What is not the same any more is taken up, for whoever uses this reader again: then
   * only little is left to be read.
   * @param backend the store as it is by now.
   */
  async isStillSo(backend: Backend): Promise<boolean> {
    const { root } = this.#scope;
    let isSame = true;
    for (const [key, { identity, blob }] of this.#unconfirmed) {
      const bytes = await backend.read(root.generation, root.refOf(identity));
      const present = bytes === undefined ? undefined : fingerprint(bytes);
      if (present === blob.fingerprint || (present && blob.fingerprint?.equals(present))) continue;
      isSame = false;
      this.#unconfirmed.delete(key);
    }
    this.#backend = backend;
    return isSame;
  }

  async load(identity: Identity): Promise<unknown> {
    const { cache, trust, version } = this.#scope;
    if (trust === 'compared') return this.#loadUnconfirmed(identity);
    if (!cache.isAt(version)) return this.#giveUp();
    const known = cache.current(identity);
    if (known !== undefined) return known.value;
    if (trust === 'unsettled') return this.#giveUp();
    if (trust === 'settled') return this.#loadUnconfirmed(identity);
    const blob = await this.#read(identity);
    cache.add(version, identity, blob);
    return blob.value;
  }

  async #loadUnconfirmed(identity: Identity): Promise<unknown> {
    const key = identityKey(identity);
    const known = this.#unconfirmed.get(key)?.blob;
    if (known !== undefined) return known.value;
    const blob = await this.#read(identity);
    this.#unconfirmed.set(key, { identity, blob });
    return blob.value;
  }

  async require(identity: Identity): Promise<unknown> {
    const value = await this.load(identity);
    if (value === undefined) throw this.missing(identity);
    return value;
  }

  /** The error for a blob that should exist. */
  missing(identity: Identity): Error {
    const { backend, root } = this.#scope;
    return missing(backend.locate(root.generation, root.refOf(identity)), REPAIR);
  }

  async exists(identity: Identity): Promise<boolean> {
    const { backend, root, cache, version } = this.#scope;
    const known = cache.isAt(version) ? cache.current(identity) : undefined;
    if (known !== undefined) return known.fingerprint !== undefined;
    return backend.has(root.generation, root.refOf(identity));
  }

  async #read(identity: Identity): Promise<CachedBlob> {
    const { root, cache } = this.#scope;
    const backend = this.#backend;
    const ref = root.refOf(identity);
    const bytes = await backend.read(root.generation, ref);
    if (bytes === undefined) return { fingerprint: undefined, value: undefined, size: 0 };
    const seen = cache.lastSeen(identity);
    if (seen?.fingerprint?.equals(fingerprint(bytes))) return seen;
    const { json } = root.open(ref, bytes, backend.locate(root.generation, ref));
    return { fingerprint: fingerprint(bytes), value: parseFrozen(json), size: bytes.length };
  }

  #giveUp(): never {
    this.versionGone = true;
    throw new VersionGone();
  }
}

/** Parsed JSON that nobody can change, so that it may be handed to many. */
export function parseFrozen(json: string): unknown {
  return freeze(JSON.parse(json));
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
