import { firstNotBefore } from '../../ground/binary-search.ts';
import type { BlobIdentity } from '../root-key.ts';
import type { ListOptions } from '../store.ts';

/**
 * Index of a collection: lists IDs without opening documents, and adding an ID costs the same with 10 others as with
 * 10,000. A small collection has its sorted IDs in one blob, the head. A larger one is divided into pages of sorted
 * IDs, and the head maps ranges to pages. The head is rewritten only when a page is split or dropped.
 *
 * The names of the collections are themselves the IDs of a collection, whose name is empty and whose head always
 * exists. So each blob that should exist is known to another one, and the deletion of a blob is detected.
 */
export type Head =
  | { readonly ids: readonly string[] }
  | { readonly pages: readonly PageEntry[]; readonly next: number };

interface PageEntry {
  readonly page: number;
  /** Start of the range, by code unit; it ends where the next page's begins. The first starts at ''. */
  readonly from: string;
}

/** Reads the blobs of an index. */
export interface IndexReader {
  /** Loads the content of a blob; undefined if it does not exist. */
  load(identity: BlobIdentity): Promise<unknown>;
  /**
   * Loads the content of a blob that must exist.
   * @throws `corrupt` naming the blob if it does not
   */
  require(identity: BlobIdentity): Promise<unknown>;
}

/** Also takes changes; a value of undefined deletes the blob. Loads after that see them. */
interface IndexWriter extends IndexReader {
  save(identity: BlobIdentity, value: object | undefined): void;
}

/**
 * IDs per page. Chosen by measurement: rewriting a page must be cheap, and so must reading all of them.
 * @see docs/decisions/0004
 */
export const PAGE_IDS = 512;

export const COLLECTIONS = '';

export const headOf = (collection: string): BlobIdentity => ({ space: 'index', collection, id: '' });
export const pageOf = (collection: string, page: number): BlobIdentity => ({
  space: 'index',
  collection,
  id: String(page),
});

/** Lists the sorted IDs of a collection. */
export async function listIds(
  reader: IndexReader,
  collection: string,
  { after = '', limit = Number.POSITIVE_INFINITY }: ListOptions,
): Promise<string[]> {
  const found: string[] = [];
  for await (const ids of pagesFrom(reader, collection, after)) {
    for (const id of ids) {
      if (found.length >= limit) return found;
      if (id > after) found.push(id);
    }
  }
  return found;
}

export async function hasId(reader: IndexReader, collection: string, id: string): Promise<boolean> {
  const head = await loadHead(reader, collection);
  if (head === undefined) return false;
  if ('ids' in head) return isAmong(head.ids, id);
  const entry = head.pages[positionOf(head.pages, id)];
  return entry !== undefined && isAmong(await loadPage(reader, collection, entry.page), id);
}

/** Yields the IDs of the page whose range contains `start`, then of the pages after it. */
async function* pagesFrom(
  reader: IndexReader,
  collection: string,
  start: string,
): AsyncGenerator<readonly string[]> {
  const head = await loadHead(reader, collection);
  if (head === undefined) return;
  if ('ids' in head) {
    yield head.ids;
    return;
  }
  for (const { page } of head.pages.slice(positionOf(head.pages, start))) {
    yield await loadPage(reader, collection, page);
  }
}

interface IdChanges {
  readonly added: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

/** Adds and removes ids; those that are there (or not) already make no difference, and then nothing is written. */
async function changeIds(writer: IndexWriter, collection: string, changes: IdChanges): Promise<void> {
  const head = await loadHead(writer, collection);
  if (head !== undefined && 'pages' in head) return changePages(writer, collection, head, changes);
  const ids = merge(head?.ids ?? [], changes);
  if (ids === undefined) return;
  writeIndex(writer, collection, ids);
  if (head === undefined)
    await changeIds(writer, COLLECTIONS, { added: new Set([collection]), removed: none });
  else if (ids.length === 0) await forgetCollection(writer, collection);
}

const none: ReadonlySet<string> = new Set();

async function forgetCollection(writer: IndexWriter, collection: string): Promise<void> {
  if (collection === COLLECTIONS) return;
  await changeIds(writer, COLLECTIONS, { added: none, removed: new Set([collection]) });
}

/** Writes an index of sorted IDs, if none exists yet or all of its blobs are to be replaced. */
export function writeIndex(
  writer: Pick<IndexWriter, 'save'>,
  collection: string,
  ids: readonly string[],
): void {
  if (ids.length <= PAGE_IDS) {
    writer.save(headOf(collection), ids.length === 0 && collection !== COLLECTIONS ? undefined : { ids });
    return;
  }
  const pages = cut(ids).map((chunk, page) => {
    writer.save(pageOf(collection, page), { ids: chunk });
    return { page, from: page === 0 ? '' : (chunk[0] ?? '') };
  });
  writer.save(headOf(collection), { pages, next: pages.length });
}

async function changePages(
  writer: IndexWriter,
  collection: string,
  head: Extract<Head, { pages: unknown }>,
  changes: IdChanges,
): Promise<void> {
  let next = head.next;
  const replaced = new Map<PageEntry, readonly PageEntry[]>();
  for (const [entry, share] of distribute(head.pages, changes)) {
    const ids = merge(await loadPage(writer, collection, entry.page), share);
    if (ids === undefined) continue;
    const [first, ...more] = cut(ids);
    writer.save(pageOf(collection, entry.page), first === undefined ? undefined : { ids: first });
    if (first !== undefined && more.length === 0) continue;
    const entries = first === undefined ? [] : [entry];
    for (const chunk of more) {
      entries.push({ page: next, from: chunk[0] ?? '' });
      writer.save(pageOf(collection, next++), { ids: chunk });
    }
    replaced.set(entry, entries);
  }
  if (replaced.size === 0) return;
  const pages = head.pages.flatMap((entry) => replaced.get(entry) ?? [entry]);
  await saveHead(writer, collection, pages, next);
}

async function saveHead(
  writer: IndexWriter,
  collection: string,
  pages: PageEntry[],
  next: number,
): Promise<void> {
  const [first, ...others] = pages;
  if (first === undefined) {
    writer.save(headOf(collection), collection === COLLECTIONS ? { ids: [] } : undefined);
    return forgetCollection(writer, collection);
  }
  if (others.length > 0) {
    return writer.save(headOf(collection), { pages: [{ ...first, from: '' }, ...others], next });
  }
  // Only one page is left: move its IDs back into the head.
  const ids = await loadPage(writer, collection, first.page);
  writer.save(pageOf(collection, first.page), undefined);
  writer.save(headOf(collection), { ids });
}

/** Groups changes by their page. */
function distribute(pages: readonly PageEntry[], changes: IdChanges): Map<PageEntry, IdChanges> {
  const shares = new Map<PageEntry, { added: Set<string>; removed: Set<string> }>();
  for (const kind of ['added', 'removed'] as const) {
    for (const id of changes[kind]) {
      const page = pages[positionOf(pages, id)];
      if (page === undefined) continue;
      const share = shares.get(page) ?? { added: new Set(), removed: new Set() };
      shares.set(page, share);
      share[kind].add(id);
    }
  }
  return shares;
}

/** Returns the position of the last page that starts at or before `id`. */
const positionOf = (pages: readonly PageEntry[], id: string): number =>
  Math.max(0, firstNotBefore(pages.length, (place) => (pages[place]?.from ?? '') <= id) - 1);

/** The new sorted ids, or undefined when nothing changes. */
function merge(ids: readonly string[], { added, removed }: IdChanges): readonly string[] | undefined {
  const fresh = [...added].filter((id) => !isAmong(ids, id));
  const isLess = [...removed].some((id) => isAmong(ids, id));
  if (fresh.length === 0 && !isLess) return undefined;
  const kept = isLess ? ids.filter((id) => !removed.has(id)) : ids;
  const [only, ...more] = fresh;
  if (only === undefined) return kept;
  if (more.length === 0) return withId(kept, placeOf(kept, only), only);
  return [...kept, ...fresh].sort();
}

const isAmong = (ids: readonly string[], id: string): boolean => ids[placeOf(ids, id)] === id;

/** Where an id is in a sorted list, or belongs. */
const placeOf = (ids: readonly string[], id: string): number =>
  firstNotBefore(ids.length, (place) => (ids[place] ?? '') < id);

/** Pieces that fit a page, with room to grow when there is more than one. */
function cut(ids: readonly string[]): (readonly string[])[] {
  if (ids.length === 0) return [];
  if (ids.length <= PAGE_IDS) return [ids];
  const count = Math.ceil(ids.length / (PAGE_IDS * 0.75));
  const size = Math.ceil(ids.length / count);
  return Array.from({ length: count }, (_, i) => ids.slice(i * size, (i + 1) * size)).filter(
    (c) => c.length > 0,
  );
}

async function loadHead(reader: IndexReader, collection: string): Promise<Head | undefined> {
  const identity = headOf(collection);
  const head = (await reader.load(identity)) as Head | undefined;
  if (head !== undefined) return head;
  const expected = collection === COLLECTIONS || (await hasId(reader, COLLECTIONS, collection));
  return expected ? ((await reader.require(identity)) as Head) : undefined;
}

async function loadPage(reader: IndexReader, collection: string, page: number): Promise<readonly string[]> {
  return ((await reader.require(pageOf(collection, page))) as { readonly ids: readonly string[] }).ids;
}

/** Blobs of an index as changes are going to leave them, over those that are there, or over other such changes. */
export class IndexChanges implements IndexWriter {
  readonly #below: IndexReader;
  readonly #saved = new Map<string, readonly [BlobIdentity, object | undefined]>();

  constructor(below: IndexReader) {
    this.#below = below;
  }

  /** Returns the blobs to write; undefined deletes one. */
  get saved(): Iterable<readonly [BlobIdentity, object | undefined]> {
    return this.#saved.values();
  }

  async change(collection: string, changes: IdChanges): Promise<void> {
    await changeIds(this, collection, changes);
  }

  async load(identity: BlobIdentity): Promise<unknown> {
    const saved = this.#saved.get(keyOf(identity));
    return saved === undefined ? this.#below.load(identity) : saved[1];
  }

  async require(identity: BlobIdentity): Promise<unknown> {
    const saved = this.#saved.get(keyOf(identity));
    return saved === undefined ? this.#below.require(identity) : saved[1];
  }

  save(identity: BlobIdentity, value: object | undefined): void {
    this.#saved.set(keyOf(identity), [identity, value]);
  }

  /** Makes the changes that were made over these its own. */
  take(changes: IndexChanges): void {
    for (const [key, saved] of changes.#saved) this.#saved.set(key, saved);
  }
}

/** Page numbers have no slash, so no two index blobs share a key. */
const keyOf = ({ collection, id }: BlobIdentity): string => `${id}/${collection}`;

/**
 * JSON of lists of IDs that were printed. A page of an index is written again for each new ID, and printing its hundreds
 * of IDs takes several times as long as everything else that is done with it.
 */
const printed = new WeakMap<readonly string[], string>();

/** IDs that are printed as they are, and cannot be mistaken for the end of one ID and the beginning of another. */
const PLAIN = /^[\w.-]+$/;

/** Prints the content of an index blob as JSON. */
export function printIndex(content: object): string {
  if (!('ids' in content)) return JSON.stringify(content);
  const ids = content.ids as readonly string[];
  const text = printed.get(ids) ?? JSON.stringify(ids);
  printed.set(ids, text);
  return `{"ids":${text}}`;
}

/** Returns sorted IDs and a new one at its place; its JSON is made from theirs if that is known. */
export function withId(ids: readonly string[], place: number, id: string): readonly string[] {
  // In a copy: `toSpliced` takes 15 times as long for a frozen list.
  const more = [...ids];
  more.splice(place, 0, id);
  const text = printed.get(ids);
  const next = ids[place];
  if (text !== undefined && next !== undefined && PLAIN.test(next) && PLAIN.test(id)) {
    const at = place === 0 ? 0 : text.indexOf(`,"${next}"`);
    printed.set(more, `${text.slice(0, at + 1)}"${id}",${text.slice(at + 1)}`);
  }
  return more;
}
