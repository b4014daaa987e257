import type { KeyObject } from 'node:crypto';
import { turn } from '../../ground/pause.ts';
import type { Blob, Change } from '../backends/backend.ts';
import { DraftTransaction } from '../draft.ts';
import { parseFrozen } from '../frozen.ts';
import { type BlobIdentity, fingerprint, identityKey, type RootKey } from '../root-key.ts';
import type { DocumentRef, ListOptions, View } from '../store.ts';
import type { BlobReader } from './blob-reader.ts';
import { IndexChanges } from './collection-index.ts';
import type { CachedBlob } from './document-cache.ts';
import { DocumentView, identityOf } from './documents.ts';

/** A large change lets others have a turn of the event loop after so many documents. */
const BREATHER = 256;
/**
 * Changes of no more documents leave them opened in the cache: whoever changes a few uses them again soon. What a crowd changes
 * in one turn is within it; what is changed in bulk would only drive out what others use.
 */
const KEPT_OPEN = 128;

/** What the changes of a turn come to. */
interface SealedChanges {
  readonly changes: readonly Change[];
  /**
   * What the cache may keep for each changed blob; undefined when it was not looked at. Made when it is asked for: there is
   * time for that while the changes are on their way.
   */
  blobs(): readonly (readonly [BlobIdentity, CachedBlob | undefined])[];
}

/**
 * What the changes of one turn put and delete over the version that it started from, the indexes included. It shows itself to the
 * next change as it would be then.
 */
export class TurnChanges implements View {
  readonly #reader: BlobReader;
  readonly #documents: DraftTransaction;
  readonly #index: IndexChanges;
  /** Whether documents that are changed were there before the turn; by `identityKey`. */
  readonly #existed = new Map<string, boolean>();

  constructor(reader: BlobReader) {
    this.#reader = reader;
    this.#documents = new DraftTransaction(new DocumentView(reader));
    this.#index = new IndexChanges(reader);
  }

  get isChanged(): boolean {
    return this.#documents.isChanged;
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
   * Takes in what one change puts and deletes, all of it or, when this throws, nothing.
   * @throws `corrupt` for a damaged index, which is nothing to changes of other collections.
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

  /** Whether a document is there as the turn has it by now; notes whether it was before the turn. */
  async #isThere(ref: DocumentRef, existed: Map<string, boolean>): Promise<boolean> {
    const write = this.#documents.written(ref);
    if (write !== undefined) return write.json !== undefined;
    const identity = identityOf(ref);
    const isThere = await this.#reader.exists(identity);
    existed.set(identityKey(identity), isThere);
    return isThere;
  }

  /** Seals everything that is to be written. */
  async seal(root: RootKey): Promise<SealedChanges> {
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
      sealed.add(identity, value === undefined ? undefined : JSON.stringify(value), frozenIndex(value));
    }
    return sealed;
  }
}

/** Blobs of an index hold lists of texts or of flat entries, and this one was made here: it need not be parsed to be shown to others. */
function frozenIndex(value: object | undefined): object | undefined {
  if (value === undefined) return undefined;
  for (const part of Object.values(value)) {
    if (!Array.isArray(part)) continue;
    for (const entry of part) if (typeof entry === 'object') Object.freeze(entry);
    Object.freeze(part);
  }
  return Object.freeze(value);
}

/** A blob as it was sealed. */
interface SealedBlob {
  readonly identity: BlobIdentity;
  /** Undefined for a deleted one. */
  readonly blob: Blob | undefined;
  /** Undefined when it needs not be opened. */
  readonly json: string | undefined;
  /** As it was shown, or made. */
  readonly value: unknown;
}

class SealedBlobs implements SealedChanges {
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

  blobs(): (readonly [BlobIdentity, CachedBlob | undefined])[] {
    return this.#blobs.map(({ identity, blob, json, value }) => {
      const opened = value ?? (json === undefined ? undefined : parseFrozen(json));
      if (opened === undefined || blob === undefined) return [identity, undefined];
      return [identity, { fingerprint: fingerprint(blob.bytes), value: opened, size: blob.bytes.length }];
    });
  }
}
