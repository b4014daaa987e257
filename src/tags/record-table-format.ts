import type { DocumentRef } from '../store/store.ts';
import { spread } from './identifiers.ts';

/**
 * How a table (all tags, or all workspaces, of one organization) lies in the store, so that using one record costs
 * the same in a table of a hundred and of a million:
 *
 * - `slice-N`  the records, found by key. Linear hashing: slices split one at a time as records are added, so that
 *              a slice holds `perSlice` records on average and no change ever rewrites more than two of them to grow.
 * - `names-X`  the names in order, each with its key, in leaves of bounded size: one text that is searched as it is.
 * - `directory` the number of slices, and where each leaf begins.
 *
 * A change of a record alone writes one slice. A name that comes or goes also writes its leaf and the directory.
 * @see docs/decisions/0040
 */

/** What every record has. */
export interface TableRecord {
  /** Twelve letters of base 58: an identifier without its kind and its organization. */
  readonly key: string;
  readonly name: string;
}

export interface Directory {
  /** Random, new with every change of the directory or a leaf: equal stamps mean equal names. */
  readonly stamp: string;
  readonly slices: number;
  /** In the order of names; at least one. */
  readonly leaves: readonly LeafEntry[];
}

export interface LeafEntry {
  readonly id: string;
  /** No name in the leaf sorts before it, and every name in the leaf before sorts before it. */
  readonly from: string;
  readonly count: number;
}

/** Names and their keys, both in the order of names: a key's place is twelve times that of its name. */
export interface Leaf {
  /** Each name is followed by a newline. */
  readonly names: string;
  readonly keys: string;
}

export interface Slice<R extends TableRecord> {
  /** In the order of their keys. */
  readonly records: readonly R[];
}

/** Which table, and how many records a slice should hold. */
export interface TableShape {
  readonly collection: string;
  readonly perSlice: number;
  /** There may be no documents of it as long as it has no records. */
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

/** The largest power of two that is not above `slices`. */
export const wholeRound = (slices: number): number => 2 ** Math.floor(Math.log2(slices));

/** The slice that holds `key` while there are `slices` of them. */
export function sliceOf(key: string, slices: number): number {
  const whole = wholeRound(slices);
  const place = spread(key) % (2 * whole);
  return place < slices ? place : place - whole;
}

/** The place of the leaf that has or would have `name`. */
export function leafOf(leaves: readonly Pick<LeafEntry, 'from'>[], name: string): number {
  return Math.max(0, firstNotBefore(leaves.length, (place) => (leaves[place]?.from ?? '') <= name) - 1);
}

/** The place of `name` among sorted names, or of the first one after it. */
export const placeOf = (names: readonly string[], name: string): number =>
  firstNotBefore(names.length, (place) => (names[place] ?? '') < name);

/** The record with a key. */
export function recordIn<R extends TableRecord>({ records }: Slice<R>, key: string): R | undefined {
  const record = records[firstNotBefore(records.length, (place) => (records[place]?.key ?? '') < key)];
  return record?.key === key ? record : undefined;
}

/** The first of `count` sorted things that is not `before` what is looked for. */
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

/** What stands for the documents of a table that nobody has written yet. */
export const EMPTY_DIRECTORY: Directory = { stamp: '', slices: 1, leaves: [{ id: '', from: '', count: 0 }] };
export const EMPTY_LEAF: Leaf = { names: '', keys: '' };

const split = new WeakMap<Leaf, readonly string[]>();

/** The names of a leaf. Frozen documents stay the same object while unchanged, so each leaf is cut up only once. */
export function namesOf(leaf: Leaf): readonly string[] {
  let names = split.get(leaf);
  if (names === undefined) {
    names = leaf.names === '' ? [] : leaf.names.slice(0, -1).split('\n');
    split.set(leaf, names);
  }
  return names;
}

export const keyAt = (leaf: Leaf, place: number): string =>
  leaf.keys.slice(place * KEY_LENGTH, (place + 1) * KEY_LENGTH);
