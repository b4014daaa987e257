import { corrupt } from '../ground/errors.ts';
import { Pace } from '../ground/pace.ts';
import type { View } from '../store/store.ts';
import {
  type Directory,
  directoryRef,
  EMPTY_DIRECTORY,
  EMPTY_LEAF,
  keyAt,
  leafOf,
  leafRef,
  namesOf,
  placeOf,
  recordIn,
  type Slice,
  sliceOf,
  sliceRef,
  type TableLeaf,
  type TableRecord,
  type TableShape,
} from './record-table-format.ts';

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
    let slice = this.#slices.get(index);
    if (slice === undefined) {
      slice = this.#view.get<Slice<R>>(sliceRef(this.#shape, index));
      this.#slices.set(index, slice);
    }
    return slice;
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
    hint: 'run "coffer doctor" to list lost documents, or restore a backup with "coffer store restore FILE --store DIRECTORY"',
  });
