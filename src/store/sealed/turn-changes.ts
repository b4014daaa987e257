import type { KeyObject } from 'node:crypto';
import { turn } from '../../ground/pause.ts';
import type { Blob, Change } from '../backends/backend.ts';
import { checkedRef, DraftTransaction, parseFrozen } from '../draft.ts';
import { type BlobIdentity, fingerprint, identityKey, type RootKey } from '../root-key.ts';
import type { DocumentRef, ListOptions, View } from '../store.ts';
import type { BlobReader } from './blob-reader.ts';
import { hasId, IndexChanges, listIds, printIndex } from './collection-index.ts';
import type { CachedBlob } from './document-cache.ts';

/** Documents of one version of the store. */
export class DocumentView implements View {
  readonly #reader: BlobReader;

  constructor(reader: BlobReader) {
    this.#reader = reader;
  }

  async get<T>(ref: DocumentRef): Promise<T | undefined> {
    const identity = identityOf(checkedRef(ref));
    const value = await this.#reader.load(identity);
    // The index lists the document, so it was deleted by something other than this store.
    if (value === undefined && (await hasId(this.#reader, ref.collection, ref.id))) {
      throw this.#reader.missing(identity);
    }
    return value as T | undefined;
  }

  async list(collection: string, options: ListOptions = {}): Promise<string[]> {
    return listIds(this.#reader, collection, options);
  }

  key(purpose: string): KeyObject {
    return this.#reader.root.derive(purpose);
  }
}

export const identityOf = ({ collection, id }: DocumentRef): BlobIdentity => ({
  space: 'document',
  collection,
  id,
});

/** Number of documents after which a large change yields to the event loop. */
const BREATHER = 256;
/**
 * Largest number of changed documents that stay opened in the cache: a few changed documents are soon used again, and a
 * turn of many callers changes no more. Bulk changes would only evict the documents that others use.
 */
const KEPT_OPEN = 128;

/**
 * Puts and deletions of one turn on top of the version that it started from, including the indexes. Serves as the view
 * of the turn's next change.
 */
export class TurnChanges implements View {
  readonly #reader: BlobReader;
  readonly #documents: DraftTransaction;
  readonly #index: IndexChanges;
  /** Whether changed documents existed before the turn, by `identityKey`. */
  readonly #existed = new Map<string, boolean>();

  constructor(reader: BlobReader) {
    this.#reader = reader;
    this.#documents = new DraftTransaction(new DocumentView(reader));
    this.#index = new IndexChanges(reader);
  }

  get isChanged(): boolean {
    return this.#documents.isChanged;
  }

  get forgetsReplaced(): boolean {
    return this.#documents.forgetsReplaced;
  }

  get<T>(ref: DocumentRef): Promise<T | undefined> {
    return this.#documents.get<T>(ref);
  }

  list(collection: string, options?: ListOptions): Promise<string[]> {
    return this.#documents.list(collection, options);
  }

  key(purpose: string): KeyObject {
    return this.#documents.key(purpose);
  }

  /**
   * Adds the puts and deletions of one change: all of them, or none if it throws.
   * @throws `corrupt` if an index is damaged; changes of other collections are not affected
   */
  async take(draft: DraftTransaction): Promise<void> {
    const index = new IndexChanges(this.#index);
    const existed = new Map<string, boolean>();
    let looked = 0;
    for (const [collection, writes] of draft.writes) {
      const added = new Set<string>();
      const removed = new Set<string>();
      for (const [id, { ref, json }] of writes) {
        const isThere = await this.#isThere(ref, existed);
        if (json === undefined) removed.add(id);
        else if (!isThere) added.add(id);
        if (++looked % BREATHER === 0) await turn();
      }
      if (added.size + removed.size > 0) await index.change(collection, { added, removed });
    }
    this.#index.take(index);
    for (const [key, isThere] of existed) this.#existed.set(key, isThere);
    this.#documents.take(draft);
  }

  /** Whether a document exists at this point of the turn; records whether it existed before the turn. */
  async #isThere(ref: DocumentRef, existed: Map<string, boolean>): Promise<boolean> {
    const write = this.#documents.written(ref);
    if (write !== undefined) return write.json !== undefined;
    const identity = identityOf(ref);
    const isThere = await this.#reader.exists(identity);
    existed.set(identityKey(identity), isThere);
    return isThere;
  }

  /** Seals all changed blobs. */
  async seal(root: RootKey): Promise<SealedBlobs> {
    const sealed = new SealedBlobs(root, this.#documents.size <= KEPT_OPEN);
    let looked = 0;
    for (const writes of this.#documents.writes.values()) {
      for (const { ref, json, value } of writes.values()) {
        const identity = identityOf(ref);
        const existed = this.#existed.get(identityKey(identity)) === true;
        if (existed || json !== undefined) sealed.add(identity, json, value);
        if (++looked % BREATHER === 0) await turn();
      }
    }
    for (const [identity, value] of this.#index.saved) {
      sealed.add(identity, value === undefined ? undefined : printIndex(value), frozenIndex(value));
    }
    return sealed;
  }
}

/**
 * Freezes an index blob that was created here, so that readers can share it without parsing. Its lists hold only texts
 * or only flat entries.
 */
function frozenIndex(value: object | undefined): object | undefined {
  if (value === undefined) return undefined;
  for (const part of Object.values(value)) {
    if (!Array.isArray(part)) continue;
    if (typeof part[0] === 'object') for (const entry of part) Object.freeze(entry);
    Object.freeze(part);
  }
  return Object.freeze(value);
}

/** Changed blob, sealed and plain. */
interface SealedBlob {
  readonly identity: BlobIdentity;
  /** Written blob; undefined if it was deleted. */
  readonly blob: Blob | undefined;
  /** Plaintext; undefined if the cache does not keep it. */
  readonly json: string | undefined;
  /** Parsed value, if one exists already. */
  readonly value: unknown;
}

/** Sealed result of the changes of a turn. */
class SealedBlobs {
  readonly changes: Change[] = [];
  readonly #blobs: SealedBlob[] = [];
  readonly #root: RootKey;
  readonly #keepsOpen: boolean;

  constructor(root: RootKey, keepsOpen: boolean) {
    this.#root = root;
    this.#keepsOpen = keepsOpen;
  }

  add(identity: BlobIdentity, json: string | undefined, value: unknown): void {
    const blob = json === undefined ? undefined : this.#root.seal(identity, json);
    this.changes.push(blob ?? { ref: this.#root.refOf(identity), bytes: undefined });
    this.#blobs.push({ identity, blob, json: this.#keepsOpen ? json : undefined, value });
  }

  /**
   * Returns the cache entry of each changed blob; undefined if it was not opened. Computed on demand, while the backend
   * is committing.
   */
  blobs(): (readonly [BlobIdentity, CachedBlob | undefined])[] {
    return this.#blobs.map(({ identity, blob, json, value }) => {
      const opened = value ?? (json === undefined ? undefined : parseFrozen(json));
      if (opened === undefined || blob === undefined) return [identity, undefined];
      return [identity, { fingerprint: fingerprint(blob.bytes), value: opened, size: blob.bytes.length }];
    });
  }
}
