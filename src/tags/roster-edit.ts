import { corrupt } from '../ground/errors.ts';
import type { Random } from '../ground/random.ts';
import type { Transaction } from '../store/store.ts';
import { EditNames } from './edit-names.ts';
import { EditSlices } from './edit-slices.ts';
import { newKey } from './identifiers.ts';
import {
  type Directory,
  directoryRef,
  type Leaf,
  leafRef,
  type RosterRecord,
  type RosterShape,
} from './roster-format.ts';

/**
 * A roster within one transaction: reads see what was changed before, and `save`, called once at the end, puts the
 * documents that changed.
 */
export class RosterEdit<R extends RosterRecord> {
  readonly #tx: Transaction;
  readonly #shape: RosterShape;
  readonly #random: Random;
  readonly #slices: EditSlices<R>;
  readonly #names: EditNames;

  private constructor(tx: Transaction, shape: RosterShape, random: Random, directory: Directory) {
    const total = directory.leaves.reduce((sum, leaf) => sum + leaf.count, 0);
    this.#tx = tx;
    this.#shape = shape;
    this.#random = random;
    this.#slices = new EditSlices<R>(tx, shape, directory.slices, total);
    this.#names = new EditNames(tx, shape, random, directory.leaves);
  }

  static async open<R extends RosterRecord>(
    tx: Transaction,
    shape: RosterShape,
    random: Random,
  ): Promise<RosterEdit<R>> {
    const directory = await tx.get<Directory>(directoryRef(shape));
    if (directory === undefined) throw corrupt(`the directory of ${shape.collection} is missing`);
    return new RosterEdit<R>(tx, shape, random, directory);
  }

  /** Puts the documents of a roster without records. */
  static create(tx: Transaction, shape: RosterShape, random: Random): void {
    const id = newKey(random);
    tx.put(leafRef(shape, id), { names: '', keys: '' } satisfies Leaf);
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

  /** A key that no record has. */
  async freshKey(): Promise<string> {
    for (;;) {
      const key = newKey(this.#random);
      if ((await this.get(key)) === undefined) return key;
    }
  }

  /** @param record One whose key and name are not there yet. */
  async add(record: R): Promise<void> {
    await this.#names.insert(record.name, record.key);
    await this.#slices.put(record);
  }

  /** Puts a record in the place of the one with the same key, whose name may have been another. */
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
