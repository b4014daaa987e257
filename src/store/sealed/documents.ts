import type { KeyObject } from 'node:crypto';
import { invalid } from '../../ground/errors.ts';
import { turn } from '../../ground/pause.ts';
import type { Blob, Change } from '../backends/backend.ts';
import { fingerprint, type Identity, type RootKey } from '../root-key.ts';
import type { DocumentRef, ListOptions, Transaction, View } from '../store.ts';
import { type BlobReader, parseFrozen } from './blob-reader.ts';
import { changeIds, hasId, type IdChanges, type IndexWriter, listIds } from './collection-index.ts';
import type { CachedBlob } from './document-cache.ts';

/** Documents of one version of the store. */
export class DocumentView implements View {
  readonly #reader: BlobReader;

  constructor(reader: BlobReader) {
    this.#reader = reader;
  }

  async get<T>(ref: DocumentRef): Promise<T | undefined> {
    const identity = identityOf(ref);
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

/** @throws `invalid` for names that could not be told apart, or that the store uses itself. */
function identityOf({ collection, id }: DocumentRef): Identity {
  if (collection === '' || id === '' || !collection.isWellFormed() || !id.isWellFormed()) {
    throw invalid('a document needs a collection and an id, both well-formed Unicode and not empty');
  }
  return { space: 'document', collection, id };
}

/** A large transaction lets others have a turn of the event loop after so many documents. */
const BREATHER = 256;
/** A transaction of no more documents leaves them opened in the cache: whoever changes a few uses them again soon. */
const KEPT_OPEN = 16;

interface Write {
  readonly identity: Identity;
  /** Undefined deletes. */
  readonly json: string | undefined;
  /** What `get` answers; made when it is first asked. */
  value?: unknown;
}

/** What a transaction comes to. */
export interface SealedChanges {
  readonly changes: readonly Change[];
  /**
   * What the cache may keep for each changed blob; undefined when it was not looked at. Made when it is asked for: there is
   * time for that while the changes are on their way.
   */
  blobs(): readonly (readonly [Identity, CachedBlob | undefined])[];
}

/** Collects what a transaction puts and deletes over the version that it started from. */
export class DocumentTransaction implements Transaction {
  readonly #reader: BlobReader;
  readonly #base: DocumentView;
  /** By collection, then by id. */
  readonly #writes = new Map<string, Map<string, Write>>();
  #over = false;

  constructor(reader: BlobReader) {
    this.#reader = reader;
    this.#base = new DocumentView(reader);
  }

  async get<T>(ref: DocumentRef): Promise<T | undefined> {
    const write = this.#writes.get(ref.collection)?.get(ref.id);
    if (write === undefined) return this.#base.get<T>(ref);
    if (write.json !== undefined) write.value ??= parseFrozen(write.json);
    return write.value as T | undefined;
  }

  async list(collection: string, options: ListOptions = {}): Promise<string[]> {
    const writes = this.#writes.get(collection);
    if (writes === undefined) return this.#base.list(collection, options);
    const ids = new Set(await this.#base.list(collection));
    for (const [id, { json }] of writes) {
      if (json === undefined) ids.delete(id);
      else ids.add(id);
    }
    const after = options.after ?? '';
    return [...ids]
      .filter((id) => id > after)
      .sort()
      .slice(0, options.limit);
  }

  key(purpose: string): KeyObject {
    return this.#base.key(purpose);
  }

  put(ref: DocumentRef, value: object): void {
    const json: string | undefined = JSON.stringify(value);
    if (json === undefined) throw invalid('a document must be data that JSON can carry');
    this.#write(ref, json);
  }

  delete(ref: DocumentRef): void {
    this.#write(ref, undefined);
  }

  #write(ref: DocumentRef, json: string | undefined): void {
    if (this.#over) throw new Error('a transaction was used after its end');
    const identity = identityOf(ref);
    const writes = this.#writes.get(ref.collection) ?? new Map<string, Write>();
    this.#writes.set(ref.collection, writes);
    writes.set(ref.id, { identity, json });
  }

  /** Ends the transaction and seals what it changed, the indexes included. */
  async seal(root: RootKey): Promise<SealedChanges> {
    this.#over = true;
    const index = new IndexChanges(this.#reader);
    const keepsOpen = [...this.#writes.values()].reduce((sum, { size }) => sum + size, 0) <= KEPT_OPEN;
    const sealed = new SealedBlobs(root, keepsOpen);
    for (const [collection, writes] of this.#writes) {
      const added = new Set<string>();
      const removed = new Set<string>();
      for (const [id, { identity, json, value }] of writes) {
        const existed = await this.#reader.exists(identity);
        if (json === undefined) removed.add(id);
        else if (!existed) added.add(id);
        if (existed || json !== undefined) sealed.add(identity, json, value);
        if (sealed.changes.length % BREATHER === 0) await turn();
      }
      if (added.size + removed.size > 0) await index.change(collection, { added, removed });
    }
    for (const [identity, value] of index.saved) {
      sealed.add(identity, value === undefined ? undefined : JSON.stringify(value), undefined);
    }
    return sealed;
  }
}

/** Index blobs as a transaction is going to leave them. */
class IndexChanges implements IndexWriter {
  readonly #reader: BlobReader;
  readonly #saved = new Map<string, readonly [Identity, object | undefined]>();

  constructor(reader: BlobReader) {
    this.#reader = reader;
  }

  get saved(): Iterable<readonly [Identity, object | undefined]> {
    return this.#saved.values();
  }

  async change(collection: string, changes: IdChanges): Promise<void> {
    await changeIds(this, collection, changes);
  }

  async load(identity: Identity): Promise<unknown> {
    const saved = this.#saved.get(keyOf(identity));
    return saved === undefined ? this.#reader.load(identity) : saved[1];
  }

  async require(identity: Identity): Promise<unknown> {
    const saved = this.#saved.get(keyOf(identity));
    return saved === undefined ? this.#reader.require(identity) : saved[1];
  }

  save(identity: Identity, value: object | undefined): void {
    this.#saved.set(keyOf(identity), [identity, value]);
  }
}

/** Page numbers have no slash, so no two index blobs share a key. */
const keyOf = ({ collection, id }: Identity): string => `${id}/${collection}`;

/** A blob as it was sealed. */
interface SealedBlob {
  readonly identity: Identity;
  /** Undefined for a deleted one. */
  readonly blob: Blob | undefined;
  /** Undefined when it needs not be opened. */
  readonly json: string | undefined;
  /** As `get` has shown it. */
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

  add(identity: Identity, json: string | undefined, value: unknown): void {
    const blob = json === undefined ? undefined : this.#root.seal(identity, json);
    this.changes.push(blob ?? { ref: this.#root.refOf(identity), bytes: undefined });
    this.#blobs.push({ identity, blob, json: this.#keepsOpen ? json : undefined, value });
  }

  blobs(): (readonly [Identity, CachedBlob | undefined])[] {
    return this.#blobs.map(({ identity, blob, json, value }) => {
      const opened = value ?? (json === undefined ? undefined : parseFrozen(json));
      if (opened === undefined || blob === undefined) return [identity, undefined];
      return [identity, { fingerprint: fingerprint(blob.bytes), value: opened, size: blob.bytes.length }];
    });
  }
}
