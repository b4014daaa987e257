import { firstNotBefore } from '../ground/binary-search.ts';
import { setAmong } from '../ground/objects.ts';
import { foldCase, MAX_NAME_LENGTH } from './names.ts';
import {
  keyAt,
  type NamedKeyOfRecord,
  namesOf,
  type RecordTable,
  type TableLeaf,
  type TableRecord,
} from './record-table.ts';

/**
 * Number of searches over the same names after which an index is built; a command only searches once, and the pool may
 * change before the next search.
 */
const SCANS_BEFORE_INDEX = 8;
/** Minimum number of names for an index: scanning fewer takes no longer than the rest of a request. */
const NAMES_WORTH_AN_INDEX = 2000;
/** Maximum size of cached results, in positions and letters, over all queries. */
const MAX_REMEMBERED_SIZE = 1 << 20;

const HAS_CAPITALS = /[A-Z]/;

/**
 * Names of a table in memory, sorted, for substring searches.
 * @see docs/decisions/0042
 */
export class NameSearch {
  readonly #leaves: readonly TableLeaf[];
  /** Position of the first name of each leaf. */
  readonly #starts: readonly number[];
  readonly #folded: readonly string[];
  readonly #remembered = new Map<string, Uint32Array>();
  #rememberedSize = 0;
  #scans = 0;
  #trigrams: Trigrams | undefined;

  constructor(leaves: readonly TableLeaf[]) {
    const starts: number[] = [];
    const folded: string[] = [];
    for (const leaf of leaves) {
      starts.push(folded.length);
      const names = namesOf(leaf);
      folded.push(...(HAS_CAPITALS.test(leaf.names) ? names.map(foldCase) : names));
    }
    this.#leaves = leaves;
    this.#starts = starts;
    this.#folded = folded;
  }

  /** Returns the positions of all names that contain `query`, case-insensitive, in the order of names. */
  find(query: string): Uint32Array {
    if (query.length > MAX_NAME_LENGTH) return new Uint32Array(0);
    const wanted = foldCase(query);
    const known = this.#remembered.get(wanted);
    if (known !== undefined) return known;
    const places = this.#look(wanted);
    this.#remember(wanted, places);
    return places;
  }

  /** Returns the name at a position returned by `find`. */
  at(place: number): NamedKeyOfRecord {
    const index = firstNotBefore(this.#starts.length, (leaf) => (this.#starts[leaf] ?? 0) <= place) - 1;
    const leaf = this.#leaves[index];
    if (leaf === undefined) throw new RangeError(`no name at place ${place}`);
    const within = place - (this.#starts[index] ?? 0);
    return { name: namesOf(leaf)[within] ?? '', key: keyAt(leaf, within) };
  }

  #look(query: string): Uint32Array {
    if (query.length < 3 || this.#folded.length < NAMES_WORTH_AN_INDEX) return this.#scan(query);
    if (this.#trigrams === undefined && ++this.#scans <= SCANS_BEFORE_INDEX) return this.#scan(query);
    this.#trigrams ??= new Trigrams(this.#folded);
    const candidates = this.#trigrams.candidates(query);
    if (query.length === 3) return candidates;
    return candidates.filter((place) => this.#folded[place]?.includes(query));
  }

  #scan(query: string): Uint32Array {
    const names = this.#folded;
    const places: number[] = [];
    for (let place = 0; place < names.length; place++) if (names[place]?.includes(query)) places.push(place);
    return Uint32Array.from(places);
  }

  #remember(query: string, places: Uint32Array): void {
    const size = query.length + places.length;
    if (this.#rememberedSize + size > MAX_REMEMBERED_SIZE) {
      this.#remembered.clear();
      this.#rememberedSize = 0;
    }
    this.#remembered.set(query, places);
    this.#rememberedSize += size;
  }
}

/** Maximum number of tables cached for searching per process. */
const MAX_SEARCHES = 16;

/** Searches of a process: a table is read again only if its names have changed. */
export class NameSearches {
  readonly #known = new Map<string, { readonly stamp: string; readonly search: NameSearch }>();

  async of(table: RecordTable<TableRecord>): Promise<NameSearch> {
    const { collection, stamp } = table;
    const known = this.#known.get(collection);
    const current = known?.stamp === stamp ? known : { stamp, search: new NameSearch(await table.leaves()) };
    setAmong(this.#known, MAX_SEARCHES, collection, current);
    return current.search;
  }
}

/** Letters of names after case folding. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789:_-';
const LETTER_COUNT = LETTERS.length;
/** 59,319: a trigram's number fits into 16 bits. */
const TRIGRAM_COUNT = LETTER_COUNT ** 3;
const UNKNOWN = 255;

const codes = new Uint8Array(128).fill(UNKNOWN);
for (let i = 0; i < LETTER_COUNT; i++) codes[LETTERS.charCodeAt(i)] = i;

const codeAt = (text: string, at: number): number => codes[text.charCodeAt(at)] ?? UNKNOWN;

/** Trigram index: for every three letters, the positions of the names that contain them. */
class Trigrams {
  readonly #starts: Uint32Array;
  readonly #places: Uint32Array;

  /** Takes some 25 ms for 100,000 names, with plain loops over flat arrays: nothing is allocated per name. */
  constructor(names: readonly string[]) {
    const read = readTrigrams(names);
    const { found } = read;
    const starts = new Uint32Array(TRIGRAM_COUNT + 1);
    for (let i = 0; i < found.length; i++) {
      const after = (found[i] ?? 0) + 1;
      starts[after] = (starts[after] ?? 0) + 1;
    }
    for (let i = 0; i < TRIGRAM_COUNT; i++) starts[i + 1] = (starts[i + 1] ?? 0) + (starts[i] ?? 0);
    this.#starts = starts;
    this.#places = sortedByTrigram(read, starts);
  }

  /**
   * Returns the sorted positions of all names that can contain `query` (three letters or more), and of few others.
   * Comparing a name costs a hundred times as much as skipping a position, so lists are intersected while that pays
   * off.
   */
  candidates(query: string): Uint32Array {
    const lists = this.#listsOf(query).sort((a, b) => a.length - b.length);
    let [candidates = new Uint32Array(0)] = lists;
    for (const list of lists.slice(1)) {
      if (candidates.length <= FEW || list.length > candidates.length * MUCH_LONGER) break;
      candidates = intersection(candidates, list);
    }
    return candidates;
  }

  /** Returns the positions of each trigram in a query; none if it has a letter that occurs in no name. */
  #listsOf(query: string): Uint32Array[] {
    const lists: Uint32Array[] = [];
    for (let at = 0; at + 3 <= query.length; at++) {
      const [first, second, third] = [codeAt(query, at), codeAt(query, at + 1), codeAt(query, at + 2)];
      if (first === UNKNOWN || second === UNKNOWN || third === UNKNOWN) return [];
      const trigram = (first * LETTER_COUNT + second) * LETTER_COUNT + third;
      lists.push(this.#places.subarray(this.#starts[trigram], this.#starts[trigram + 1]));
    }
    return lists;
  }
}

/** Number of candidates that are compared without further intersection. */
const FEW = 8;
const MUCH_LONGER = 4;

function intersection(a: Uint32Array, b: Uint32Array): Uint32Array {
  const both = new Uint32Array(Math.min(a.length, b.length));
  let count = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [inA, inB] = [a[i] ?? 0, b[j] ?? 0];
    if (inA === inB) both[count++] = inA;
    if (inA <= inB) i++;
    if (inB <= inA) j++;
  }
  return both.subarray(0, count);
}

/**
 * Reads the trigrams.
 * @returns the trigrams of all names, name after name, unique per name; and the end of each name's
 */
function readTrigrams(names: readonly string[]) {
  const found = new Uint16Array(names.reduce((letters, name) => letters + name.length, 0));
  const ends = new Uint32Array(names.length);
  const lastPlace = new Int32Array(TRIGRAM_COUNT).fill(-1);
  let count = 0;
  for (let place = 0; place < names.length; place++) {
    const name = names[place] ?? '';
    let first = UNKNOWN;
    let second = UNKNOWN;
    for (let at = 0; at < name.length; at++) {
      const third = codeAt(name, at);
      if (first !== UNKNOWN && second !== UNKNOWN && third !== UNKNOWN) {
        const trigram = (first * LETTER_COUNT + second) * LETTER_COUNT + third;
        if (lastPlace[trigram] !== place) found[count++] = trigram;
        lastPlace[trigram] = place;
      }
      first = second;
      second = third;
    }
    ends[place] = count;
  }
  return { found: found.subarray(0, count), ends };
}

function sortedByTrigram({ found, ends }: ReturnType<typeof readTrigrams>, starts: Uint32Array): Uint32Array {
  const places = new Uint32Array(found.length);
  const next = starts.slice();
  let i = 0;
  for (let place = 0; place < ends.length; place++) {
    for (const end = ends[place] ?? 0; i < end; i++) {
      const trigram = found[i] ?? 0;
      const at = next[trigram] ?? 0;
      places[at] = place;
      next[trigram] = at + 1;
    }
  }
  return places;
}
