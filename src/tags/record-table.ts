import { firstNotBefore } from '../ground/binary-search.ts';
import { corrupt } from '../ground/errors.ts';
import { madeOnce } from '../ground/objects.ts';
import { Pace } from '../ground/pace.ts';
import type { DocumentRef, View } from '../store/store.ts';
import { spread } from './names.ts';

/**
 * Format of a table (all tags, or all workspaces, of one organization) in the store. Accessing one record costs the
 * same in a table of a hundred and of a million:
 *
 * - `slice-N`  the records, by key. Linear hashing: slices split one at a time as records are added, so that a slice
 *   has `perSlice` records on average and growing never rewrites more than two of them.
 * - `names-X`  the sorted names with their keys, in leaves of bounded size: one text that is searched directly.
 * - `directory` the number of slices, and the start of each leaf.
 *
 * Changing a record writes one slice. Adding or removing a name also writes its leaf and the directory.
 * @see docs/decisions/0040
 */

/** Members of every record. */
export interface TableRecord {
  /** Twelve base-58 letters: an identifier without its kind and organization. */
  readonly key: string;
  readonly name: string;
}

export interface Directory {
  /** Random, changed with the directory or any leaf: equal stamps mean equal names. */
  readonly stamp: string;
  readonly slices: number;
  /** Sorted by name; at least one. */
  readonly leaves: readonly LeafEntry[];
}

export interface LeafEntry {
  readonly id: string;
  /** Lower bound of the names in the leaf; all names in the previous leaf sort before it. */
  readonly from: string;
  readonly count: number;
}

/** Names and their keys, both in the order of names: a key's offset is twelve times its name's position. */
export interface TableLeaf {
  /** Names, each followed by a newline. */
  readonly names: string;
  readonly keys: string;
}

export interface Slice<R extends TableRecord> {
  /** Sorted by key. */
  readonly records: readonly R[];
}

/** Parameters of a table: its collection, and the average number of records per slice. */
export interface TableShape {
  readonly collection: string;
  readonly perSlice: number;
  /** Whether the documents may be absent while it has no records. */
  readonly isLazy?: boolean;
}

export const directoryRef = ({ collection }: TableShape): DocumentRef => ({ collection, id: 'directory' });

export const leafRef = ({ collection }: TableShape, id: string): DocumentRef => ({
  collection,
  id: `names-${id}`,
});

export const sliceRef = ({ collection }: TableShape, index: number): DocumentRef => ({
  collection,
  id: `slice-${index}`,
});

export const KEY_LENGTH = 12;

/** Returns the largest power of two that is not above `slices`. */
export const wholeRound = (slices: number): number => 2 ** Math.floor(Math.log2(slices));

/** Returns the slice of `key` if there are `slices` of them. */
export function sliceOf(key: string, slices: number): number {
  const whole = wholeRound(slices);
  const place = spread(key) % (2 * whole);
  return place < slices ? place : place - whole;
}

/** Returns the position of the leaf that has or would have `name`. */
export function leafOf(leaves: readonly Pick<LeafEntry, 'from'>[], name: string): number {
  return Math.max(0, firstNotBefore(leaves.length, (place) => (leaves[place]?.from ?? '') <= name) - 1);
}

/** Returns the position of `name` among sorted names, or of the first one after it. */
const placeOf = (names: readonly string[], name: string): number =>
  firstNotBefore(names.length, (place) => (names[place] ?? '') < name);

/** Finds the record with a key. */
function recordIn<R extends TableRecord>({ records }: Slice<R>, key: string): R | undefined {
  const record = records[firstNotBefore(records.length, (place) => (records[place]?.key ?? '') < key)];
  return record?.key === key ? record : undefined;
}

/** Substitutes for the documents of a table that was not written yet. */
const EMPTY_DIRECTORY: Directory = { stamp: '', slices: 1, leaves: [{ id: '', from: '', count: 0 }] };
const EMPTY_LEAF: TableLeaf = { names: '', keys: '' };

const split = new WeakMap<TableLeaf, readonly string[]>();

/**
 * Returns the names of a leaf. Frozen documents stay the same object while unchanged, so each leaf is split only once.
 */
export function namesOf(leaf: TableLeaf): readonly string[] {
  let names = split.get(leaf);
  if (names === undefined) {
    names = leaf.names === '' ? [] : leaf.names.slice(0, -1).split('\n');
    split.set(leaf, names);
  }
  return names;
}

export const keyAt = (leaf: TableLeaf, place: number): string =>
  leaf.keys.slice(place * KEY_LENGTH, (place + 1) * KEY_LENGTH);

/** Name, and the key of its record. */
export interface NamedKeyOfRecord {
  readonly name: string;
  readonly key: string;
}

/** Number of documents read concurrently; more would only wait in the platform's queue. */
const READ_AHEAD = 32;
const NO_NAMES: ReadonlySet<string> = new Set();

/** Table of all tags, or all workspaces, of one organization, in one view of the store. */
export class RecordTable<R extends TableRecord> {
  readonly #view: View;
  readonly #shape: TableShape;
  readonly #directory: Directory;
  readonly #slices = new Map<number, Promise<Slice<R> | undefined>>();

  private constructor(view: View, shape: TableShape, directory: Directory) {
    this.#view = view;
    this.#shape = shape;
    this.#directory = directory;
  }

  static async open<R extends TableRecord>(view: View, shape: TableShape): Promise<RecordTable<R>> {
    const directory = await view.get<Directory>(directoryRef(shape));
    if (directory === undefined && !shape.isLazy) throw missing(`the index of ${shape.collection}`);
    return new RecordTable<R>(view, shape, directory ?? EMPTY_DIRECTORY);
  }

  get collection(): string {
    return this.#shape.collection;
  }

  /** Equal stamps mean that no name was added or removed. */
  get stamp(): string {
    return this.#directory.stamp;
  }

  get total(): number {
    let total = 0;
    for (const leaf of this.#directory.leaves) total += leaf.count;
    return total;
  }

  async get(key: string): Promise<R | undefined> {
    const slice = await this.#slice(sliceOf(key, this.#directory.slices));
    return slice && recordIn(slice, key);
  }

  /** Returns the records of those keys that have one, in the order of the keys. */
  async getAll(keys: readonly string[]): Promise<R[]> {
    const records = await inTurns(keys, (key) => this.get(key));
    return records.filter((record) => record !== undefined);
  }

  /** Returns the key of the record with a name. */
  async keyOf(name: string): Promise<string | undefined> {
    const leaf = await this.#leaf(leafOf(this.#directory.leaves, name));
    const place = placeOf(namesOf(leaf), name);
    return namesOf(leaf)[place] === name ? keyAt(leaf, place) : undefined;
  }

  /**
   * Returns `count` sorted names from position `offset` on; opens only the leaves that contain them.
   * @param except names of this table to skip
   */
  async names(
    offset: number,
    count: number,
    except: ReadonlySet<string> = NO_NAMES,
  ): Promise<NamedKeyOfRecord[]> {
    const found: NamedKeyOfRecord[] = [];
    const passedOver = this.#perLeaf(except);
    let skip = offset;
    for (const [index, leafEntry] of this.#directory.leaves.entries()) {
      if (found.length >= count) break;
      const left = leafEntry.count - (passedOver.get(index) ?? 0);
      if (skip >= left) {
        skip -= left;
        continue;
      }
      const leaf = await this.#leaf(index);
      const named = namesOf(leaf).map((name, place) => ({ name, key: keyAt(leaf, place) }));
      const wanted = except.size === 0 ? named : named.filter(({ name }) => !except.has(name));
      found.push(...wanted.slice(skip, skip + count - found.length));
      skip = 0;
    }
    return found;
  }

  #perLeaf(names: ReadonlySet<string>): ReadonlyMap<number, number> {
    const counts = new Map<number, number>();
    for (const name of names) {
      const index = leafOf(this.#directory.leaves, name);
      counts.set(index, (counts.get(index) ?? 0) + 1);
    }
    return counts;
  }

  /** Returns every leaf, in the order of names. */
  leaves(): Promise<TableLeaf[]> {
    return inTurns([...this.#directory.leaves.keys()], (index) => this.#leaf(index));
  }

  /** Returns every record, unsorted. */
  async all(): Promise<R[]> {
    return (await this.slices()).flatMap((slice) => slice?.records ?? []);
  }

  /** Returns every slice as stored; a slice is the same object for as long as it is unchanged. */
  slices(): Promise<(Slice<R> | undefined)[]> {
    const indexes = Array.from({ length: this.#directory.slices }, (_, index) => index);
    return inTurns(indexes, (index) => this.#slice(index));
  }

  /** Reads a slice; concurrent requests for the same slice share one read. */
  #slice(index: number): Promise<Slice<R> | undefined> {
    return madeOnce(this.#slices, index, () => this.#view.get<Slice<R>>(sliceRef(this.#shape, index)));
  }

  async #leaf(index: number): Promise<TableLeaf> {
    if (this.#directory === EMPTY_DIRECTORY) return EMPTY_LEAF;
    const id = this.#directory.leaves[index]?.id ?? '';
    const leaf = await this.#view.get<TableLeaf>(leafRef(this.#shape, id));
    if (leaf === undefined) throw missing(`part ${id} of the index of ${this.#shape.collection}`);
    return leaf;
  }
}

async function inTurns<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<U[]> {
  const done: U[] = [];
  const pace = new Pace();
  for (let start = 0; start < items.length; start += READ_AHEAD) {
    done.push(...(await Promise.all(items.slice(start, start + READ_AHEAD).map(work))));
    await pace.step();
  }
  return done;
}

const missing = (what: string) =>
  corrupt(`${what} is missing from the store`, {
    hint: 'run "coffer doctor" to list what is missing, or restore a backup with "coffer store restore FILE --store DIRECTORY"',
  });

/** Requested page of a list. */
export interface PageRequest {
  /** Starts at 1. A page after the end is empty, not an error. */
  readonly number: number;
  readonly size: number;
}

export interface Page<T> extends PageRequest {
  readonly items: readonly T[];
  /** Number of items on all pages. */
  readonly total: number;
}

export const offsetOf = ({ number, size }: PageRequest): number => (number - 1) * size;

/** Returns a page of a list in memory. */
export const pageFrom = <T>(all: readonly T[], request: PageRequest): Page<T> => ({
  ...request,
  items: all.slice(offsetOf(request), offsetOf(request) + request.size),
  total: all.length,
});
