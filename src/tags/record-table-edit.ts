import { corrupt } from '../ground/errors.ts';
import { Pace } from '../ground/pace.ts';
import type { Random } from '../ground/random.ts';
import type { Transaction } from '../store/store.ts';
import { EditNames } from './edit-names.ts';
import { newKey } from './identifiers.ts';
import {
  type Directory,
  directoryRef,
  leafRef,
  type Slice,
  sliceOf,
  sliceRef,
  type TableLeaf,
  type TableRecord,
  type TableShape,
  wholeRound,
} from './record-table-format.ts';

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
