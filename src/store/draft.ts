import type { KeyObject } from 'node:crypto';
import { invalid } from '../ground/errors.ts';
import { madeOnce } from '../ground/objects.ts';
import type { DocumentRef, ListOptions, Transaction, View } from './store.ts';

/** Pending put or deletion of one document. */
interface Write {
  readonly ref: DocumentRef;
  /** Content; undefined deletes the document. */
  readonly json: string | undefined;
  /** Result of `get`, parsed at the first call. */
  value?: unknown;
}

/**
 * Pending puts and deletions of one change on top of a view. A draft can be read, dropped, or added to another draft.
 * Reads and lists include the pending changes. A value is serialized when it is put, so later changes to it have no
 * effect.
 */
export class DraftTransaction implements Transaction {
  readonly #view: View;
  /** By collection, then by id. */
  readonly #writes = new Map<string, Map<string, Write>>();
  #size = 0;
  #characters = 0;
  #isOver = false;
  #forgetsReplaced = false;

  constructor(view: View) {
    this.#view = view;
  }

  get isChanged(): boolean {
    return this.#size > 0;
  }

  /** Number of changed documents. */
  get size(): number {
    return this.#size;
  }

  /** Characters of JSON of all puts, including values that were replaced since. */
  get characters(): number {
    return this.#characters;
  }

  /** Whether what the puts replace is not to be kept longer than necessary. */
  get forgetsReplaced(): boolean {
    return this.#forgetsReplaced;
  }

  /** By collection, then by id. */
  get writes(): ReadonlyMap<string, ReadonlyMap<string, Write>> {
    return this.#writes;
  }

  /** Last pending change of a document; undefined if there is none. */
  written({ collection, id }: DocumentRef): Write | undefined {
    return this.#writes.get(collection)?.get(id);
  }

  async get<T>(ref: DocumentRef): Promise<T | undefined> {
    const write = this.written(ref);
    if (write === undefined) return this.#view.get<T>(ref);
    if (write.json !== undefined) write.value ??= parseFrozen(write.json);
    return write.value as T | undefined;
  }

  async list(collection: string, options: ListOptions = {}): Promise<string[]> {
    const writes = this.#writes.get(collection);
    if (writes === undefined) return this.#view.list(collection, options);
    const { after = '', limit = Number.POSITIVE_INFINITY } = options;
    const own = [...writes].filter(([id]) => id > after);
    if (own.length === 0) return this.#view.list(collection, options);
    const gone = new Set(own.flatMap(([id, { json }]) => (json === undefined ? [id] : [])));
    // Even if all deleted ids are among them, this number of ids is enough to return `limit` ids.
    const below = await this.#view.list(collection, { after, limit: limit + gone.size });
    const ids = new Set(below);
    for (const [id, { json }] of own) {
      if (json === undefined) ids.delete(id);
      else ids.add(id);
    }
    return [...ids].sort().slice(0, limit);
  }

  key(purpose: string): KeyObject {
    return this.#view.key(purpose);
  }

  put(ref: DocumentRef, value: object): void {
    const json: string | undefined = JSON.stringify(value);
    if (json === undefined) throw invalid('a document must be data that JSON can carry');
    this.#write(ref, json);
  }

  delete(ref: DocumentRef): void {
    this.#write(ref, undefined);
  }

  forgetReplaced(): void {
    this.#forgetsReplaced = true;
  }

  #write({ collection, id }: DocumentRef, json: string | undefined): void {
    if (this.#isOver) throw new Error('a transaction was used after its end');
    const ref = checkedRef({ collection, id });
    this.#characters += json?.length ?? 0;
    this.#set({ ref, json });
  }

  #set(write: Write): void {
    const { collection, id } = write.ref;
    const writes = madeOnce(this.#writes, collection, () => new Map<string, Write>());
    if (!writes.has(id)) this.#size++;
    writes.set(id, write);
  }

  /** Nothing can be put or deleted any more. */
  end(): void {
    this.#isOver = true;
  }

  /** Makes the changes of a draft over this one its own. */
  take(draft: DraftTransaction): void {
    this.#characters += draft.#characters;
    this.#forgetsReplaced ||= draft.#forgetsReplaced;
    for (const writes of draft.#writes.values()) for (const write of writes.values()) this.#set(write);
  }
}

/**
 * Checks the names of a document.
 * @throws `invalid` for names that could not be distinguished, or that the store uses itself
 */
export function checkedRef(ref: DocumentRef): DocumentRef {
  const { collection, id } = ref;
  if (collection === '' || id === '' || !collection.isWellFormed() || !id.isWellFormed()) {
    throw invalid('a document needs a collection and an id, both well-formed Unicode and not empty');
  }
  return ref;
}

/** Parses JSON to immutable objects, which many callers can share. */
export function parseFrozen(json: string): unknown {
  return freeze(JSON.parse(json));
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
