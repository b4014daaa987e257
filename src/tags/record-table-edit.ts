import { corrupt } from '../ground/errors.ts';
import { Pace } from '../ground/pace.ts';
import type { Random } from '../ground/random.ts';
import type { Transaction } from '../store/store.ts';
import { newKey } from './names.ts';
import {
  type Directory,
  directoryRef,
  KEY_LENGTH,
  keyAt,
  type LeafEntry,
  leafOf,
  leafRef,
  namesOf,
  type Slice,
  sliceOf,
  sliceRef,
  type TableLeaf,
  type TableRecord,
  type TableShape,
  wholeRound,
} from './record-table.ts';

/**
 * Table within one transaction: reads see earlier changes, and `save`, called once at the end, writes the changed
 * documents.
 */
export class RecordTableEdit<R extends TableRecord> {
  readonly #tx: Transaction;
  readonly #shape: TableShape;
  readonly #random: Random;
  readonly #slices: EditSlices<R>;
  readonly #names: EditNames;

  private constructor(tx: Transaction, shape: TableShape, random: Random, directory: Directory) {
    const total = directory.leaves.reduce((sum, leaf) => sum + leaf.count, 0);
    this.#tx = tx;
    this.#shape = shape;
    this.#random = random;
    this.#slices = new EditSlices<R>(tx, shape, directory.slices, total);
    this.#names = new EditNames(tx, shape, random, directory.leaves);
  }

  static async open<R extends TableRecord>(
    tx: Transaction,
    shape: TableShape,
    random: Random,
  ): Promise<RecordTableEdit<R>> {
    if (shape.isLazy && (await tx.get<Directory>(directoryRef(shape))) === undefined) {
      RecordTableEdit.create(tx, shape, random);
    }
    const directory = await tx.get<Directory>(directoryRef(shape));
    if (directory === undefined) throw corrupt(`the index of ${shape.collection} is missing`);
    return new RecordTableEdit<R>(tx, shape, random, directory);
  }

  /** Creates the documents of an empty table. */
  static create(tx: Transaction, shape: TableShape, random: Random): void {
    const id = newKey(random);
    tx.put(leafRef(shape, id), { names: '', keys: '' } satisfies TableLeaf);
    tx.put(directoryRef(shape), {
      stamp: newKey(random),
      slices: 1,
      leaves: [{ id, from: '', count: 0 }],
    } satisfies Directory);
  }

  get(key: string): Promise<R | undefined> {
    return this.#slices.get(key);
  }

  keyOf(name: string): Promise<string | undefined> {
    return this.#names.keyOf(name);
  }

  /** Returns every record, unsorted. */
  all(): Promise<R[]> {
    return this.#slices.all();
  }

  /** Generates an unused key. */
  /** Filters out keys of deleted records, which may be left in records of other tables until their next change. */
  async living(keys: readonly string[]): Promise<string[]> {
    const left: string[] = [];
    for (const key of keys) if ((await this.get(key)) !== undefined) left.push(key);
    return left;
  }

  async freshKey(): Promise<string> {
    for (;;) {
      const key = newKey(this.#random);
      if ((await this.get(key)) === undefined) return key;
    }
  }

  /**
   * Adds a record.
   * @param record one whose key and name do not exist yet
   */
  async add(record: R): Promise<void> {
    await this.#names.insert(record.name, record.key);
    await this.#slices.put(record);
  }

  /** Replaces the record with the same key, whose name may differ. */
  async replace(before: R, after: R): Promise<void> {
    if (before.name !== after.name) {
      await this.#names.remove(before.name);
      await this.#names.insert(after.name, after.key);
    }
    await this.#slices.put(after);
  }

  async remove(record: R): Promise<void> {
    await this.#names.remove(record.name);
    await this.#slices.remove(record.key);
  }

  async save(): Promise<void> {
    await this.#slices.save();
    if (!this.#names.changed) return;
    const leaves = await this.#names.save();
    this.#tx.put(directoryRef(this.#shape), {
      stamp: newKey(this.#random),
      slices: this.#slices.slices,
      leaves,
    } satisfies Directory);
  }
}

interface OpenSlice<R> {
  readonly records: Map<string, R>;
  changed: boolean;
}

const byKey = (a: TableRecord, b: TableRecord): number => (a.key < b.key ? -1 : 1);

/** Records of a table within one transaction. Nothing is written before `save`. */
class EditSlices<R extends TableRecord> {
  readonly #tx: Transaction;
  readonly #shape: TableShape;
  readonly #open = new Map<number, OpenSlice<R>>();
  #slices: number;
  #total: number;

  constructor(tx: Transaction, shape: TableShape, slices: number, total: number) {
    this.#tx = tx;
    this.#shape = shape;
    this.#slices = slices;
    this.#total = total;
  }

  get slices(): number {
    return this.#slices;
  }

  async get(key: string): Promise<R | undefined> {
    return (await this.#sliceOf(key)).records.get(key);
  }

  async all(): Promise<R[]> {
    const records: R[] = [];
    const pace = new Pace();
    for (let index = 0; index < this.#slices; index++) {
      records.push(...(await this.#slice(index)).records.values());
      await pace.step();
    }
    return records;
  }

  /** Puts a new record, or replaces the one with the same key. */
  async put(record: R): Promise<void> {
    const slice = await this.#sliceOf(record.key);
    if (!slice.records.has(record.key)) this.#total++;
    slice.records.set(record.key, record);
    slice.changed = true;
    while (this.#total > this.#slices * this.#shape.perSlice) await this.#split();
  }

  /** Removes a record. An empty slice is deleted; slices are never merged, because an absent one costs nothing. */
  async remove(key: string): Promise<void> {
    const slice = await this.#sliceOf(key);
    if (!slice.records.delete(key)) return;
    slice.changed = true;
    this.#total--;
  }

  /** Adds one slice and moves the records that belong there now, all of which are in one other slice. */
  async #split(): Promise<void> {
    const added = this.#slices;
    const source = await this.#slice(added - wholeRound(added));
    const target = await this.#slice(added);
    this.#slices = added + 1;
    for (const [key, record] of source.records) {
      if (sliceOf(key, this.#slices) !== added) continue;
      source.records.delete(key);
      target.records.set(key, record);
      source.changed = true;
      target.changed = true;
    }
  }

  async save(): Promise<void> {
    const pace = new Pace();
    for (const [index, { records, changed }] of this.#open) {
      if (!changed) continue;
      await pace.step();
      const ref = sliceRef(this.#shape, index);
      if (records.size === 0) this.#tx.delete(ref);
      else this.#tx.put(ref, { records: [...records.values()].sort(byKey) } satisfies Slice<R>);
    }
  }

  #sliceOf(key: string): Promise<OpenSlice<R>> {
    return this.#slice(sliceOf(key, this.#slices));
  }

  async #slice(index: number): Promise<OpenSlice<R>> {
    const known = this.#open.get(index);
    if (known !== undefined) return known;
    const stored = await this.#tx.get<Slice<R>>(sliceRef(this.#shape, index));
    const records = new Map(stored?.records.map((record) => [record.key, record]));
    const slice: OpenSlice<R> = { records, changed: false };
    this.#open.set(index, slice);
    return slice;
  }
}

/**
 * Maximum size of a leaf, in letters of names and keys: large enough that a search opens few, small enough to rewrite.
 */
const MAX_LEAF_SIZE = 16_384;
/** Minimum size; a smaller leaf is merged with its neighbor. */
const MIN_LEAF_SIZE = MAX_LEAF_SIZE / 4;
/** Size of the pieces of a leaf that has become too large, so that they do not split again at once. */
const FILL_SIZE = (MAX_LEAF_SIZE * 2) / 3;

interface OpenLeaf {
  readonly id: string;
  from: string;
  count: number;
  /** Names in the leaf; undefined until they are needed. */
  content: Map<string, string> | undefined;
  size: number;
  changed: boolean;
}

/** Names of a table within one transaction. Nothing is written before `save`. */
class EditNames {
  readonly #tx: Transaction;
  readonly #shape: TableShape;
  readonly #random: Random;
  #leaves: OpenLeaf[];

  constructor(tx: Transaction, shape: TableShape, random: Random, leaves: readonly LeafEntry[]) {
    this.#tx = tx;
    this.#shape = shape;
    this.#random = random;
    this.#leaves = leaves.map((entry) => ({ ...entry, content: undefined, size: 0, changed: false }));
  }

  async keyOf(name: string): Promise<string | undefined> {
    return (await this.#open(this.#leafOf(name))).get(name);
  }

  /**
   * Inserts a name.
   * @param name one that does not exist yet
   */
  async insert(name: string, key: string): Promise<void> {
    const leaf = this.#leafOf(name);
    (await this.#open(leaf)).set(name, key);
    leaf.size += sizeOf(name);
    leaf.changed = true;
  }

  async remove(name: string): Promise<void> {
    const leaf = this.#leafOf(name);
    if (!(await this.#open(leaf)).delete(name)) return;
    leaf.size -= sizeOf(name);
    leaf.changed = true;
  }

  get changed(): boolean {
    return this.#leaves.some((leaf) => leaf.changed);
  }

  /**
   * Writes the changed leaves, merged and split as their sizes require.
   * @returns the start of all leaves
   */
  async save(): Promise<LeafEntry[]> {
    await this.#joinSmall();
    const entries: LeafEntry[] = [];
    const pace = new Pace();
    for (const leaf of this.#leaves) {
      await pace.step();
      if (leaf.changed) entries.push(...this.#write(leaf));
      else entries.push({ id: leaf.id, from: leaf.from, count: leaf.count });
    }
    return entries;
  }

  async #joinSmall(): Promise<void> {
    for (let i = 0; i < this.#leaves.length && this.#leaves.length > 1; ) {
      const small = this.#leaves[i];
      const neighbour = this.#leaves[i + 1] ?? this.#leaves[i - 1];
      if (small === undefined || neighbour === undefined) break;
      if (!small.changed || small.size >= MIN_LEAF_SIZE) {
        i++;
        continue;
      }
      const content = await this.#open(neighbour);
      for (const [name, key] of await this.#open(small)) content.set(name, key);
      neighbour.size += small.size;
      neighbour.changed = true;
      if (small.from < neighbour.from) neighbour.from = small.from;
      this.#leaves.splice(i, 1);
      this.#tx.delete(leafRef(this.#shape, small.id));
    }
  }

  #write(leaf: OpenLeaf): LeafEntry[] {
    const sorted = [...(leaf.content ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
    return piecesOf(sorted, leaf.size).map((piece, index, pieces) => {
      const id = index === 0 ? leaf.id : newKey(this.#random);
      const before = pieces[index - 1]?.at(-1)?.[0];
      const from = before === undefined ? leaf.from : shortestBetween(before, piece[0]?.[0] ?? '');
      const names = piece.map(([name]) => `${name}\n`).join('');
      const keys = piece.map(([, key]) => key).join('');
      this.#tx.put(leafRef(this.#shape, id), { names, keys } satisfies TableLeaf);
      return { id, from, count: piece.length };
    });
  }

  #leafOf(name: string): OpenLeaf {
    const leaf = this.#leaves[leafOf(this.#leaves, name)];
    if (leaf === undefined) throw corrupt(`the index of ${this.#shape.collection} is empty`);
    return leaf;
  }

  async #open(leaf: OpenLeaf): Promise<Map<string, string>> {
    if (leaf.content !== undefined) return leaf.content;
    const stored = await this.#tx.get<TableLeaf>(leafRef(this.#shape, leaf.id));
    if (stored === undefined)
      throw corrupt(`part ${leaf.id} of the index of ${this.#shape.collection} is missing`);
    leaf.content = new Map(namesOf(stored).map((name, place) => [name, keyAt(stored, place)]));
    leaf.size = stored.names.length + stored.keys.length;
    return leaf.content;
  }
}

const sizeOf = (name: string): number => name.length + 1 + KEY_LENGTH;

type Line = readonly [name: string, key: string];

/** Divides sorted lines into pieces of similar size; a single, possibly empty piece if they fit into a leaf. */
function piecesOf(lines: readonly Line[], size: number): Line[][] {
  const wanted = size <= MAX_LEAF_SIZE ? 1 : Math.ceil(size / FILL_SIZE);
  const pieces: Line[][] = [[]];
  let filled = 0;
  for (const line of lines) {
    if (filled >= (size / wanted) * pieces.length) pieces.push([]);
    pieces.at(-1)?.push(line);
    filled += sizeOf(line[0]);
  }
  return pieces;
}

/** Returns the shortest text that sorts after `before` and not after `name`: keeps the directory small. */
function shortestBetween(before: string, name: string): string {
  let same = 0;
  while (before.charCodeAt(same) === name.charCodeAt(same)) same++;
  return name.slice(0, same + 1);
}
