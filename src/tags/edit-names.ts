import { corrupt } from '../ground/errors.ts';
import { Pace } from '../ground/pace.ts';
import type { Random } from '../ground/random.ts';
import type { Transaction } from '../store/store.ts';
import { base58 } from './identifiers.ts';
import {
  KEY_LENGTH,
  keyAt,
  type LeafEntry,
  leafOf,
  leafRef,
  namesOf,
  type TableLeaf,
  type TableShape,
} from './record-table-format.ts';

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
export class EditNames {
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
      const id = index === 0 ? leaf.id : base58(this.#random, KEY_LENGTH);
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
