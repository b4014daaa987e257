import { Pace } from '../ground/pace.ts';
import type { Transaction } from '../store/store.ts';
import {
  type RosterRecord,
  type RosterShape,
  type Slice,
  sliceOf,
  sliceRef,
  wholeRound,
} from './roster-format.ts';

interface OpenSlice<R> {
  readonly records: Map<string, R>;
  changed: boolean;
}

const byKey = (a: RosterRecord, b: RosterRecord): number => (a.key < b.key ? -1 : 1);

/** The records of a roster within one transaction. Nothing is written before `save`. */
export class EditSlices<R extends RosterRecord> {
  readonly #tx: Transaction;
  readonly #shape: RosterShape;
  readonly #open = new Map<number, OpenSlice<R>>();
  #slices: number;
  #total: number;

  constructor(tx: Transaction, shape: RosterShape, slices: number, total: number) {
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

  /** Puts a new record, or one in the place of that with the same key. */
  async put(record: R): Promise<void> {
    const slice = await this.#sliceOf(record.key);
    if (!slice.records.has(record.key)) this.#total++;
    slice.records.set(record.key, record);
    slice.changed = true;
    while (this.#total > this.#slices * this.#shape.perSlice) await this.#split();
  }

  /** A slice that has run empty goes; slices never merge, because an absent one costs nothing. */
  async remove(key: string): Promise<void> {
    const slice = await this.#sliceOf(key);
    if (!slice.records.delete(key)) return;
    slice.changed = true;
    this.#total--;
  }

  /** Adds one slice and moves there what now belongs there, which all lies in one other slice. */
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
