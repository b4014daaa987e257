import type { DocumentRef } from '../store/store.ts';
import { spread } from './identifiers.ts';

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
  readonly isLazy?: true;
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
export const placeOf = (names: readonly string[], name: string): number =>
  firstNotBefore(names.length, (place) => (names[place] ?? '') < name);

/** Finds the record with a key. */
export function recordIn<R extends TableRecord>({ records }: Slice<R>, key: string): R | undefined {
  const record = records[firstNotBefore(records.length, (place) => (records[place]?.key ?? '') < key)];
  return record?.key === key ? record : undefined;
}

/** Binary search: returns the first of `count` sorted items for which `before` is false. */
export function firstNotBefore(count: number, before: (place: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Substitutes for the documents of a table that was not written yet. */
export const EMPTY_DIRECTORY: Directory = { stamp: '', slices: 1, leaves: [{ id: '', from: '', count: 0 }] };
export const EMPTY_LEAF: TableLeaf = { names: '', keys: '' };

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
