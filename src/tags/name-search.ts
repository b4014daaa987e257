import { foldCase, MAX_NAME_LENGTH } from './names.ts';
import type { NamedKeyOfRecord, RecordTable } from './record-table.ts';
import { firstNotBefore, keyAt, namesOf, type TableLeaf, type TableRecord } from './record-table-format.ts';
import { Trigrams } from './trigrams.ts';

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
    const index = this.#leafAt(place);
    const leaf = this.#leaves[index];
    if (leaf === undefined) throw new RangeError(`no name at place ${place}`);
    const within = place - (this.#starts[index] ?? 0);
    return { name: namesOf(leaf)[within] ?? '', key: keyAt(leaf, within) };
  }

  #leafAt(place: number): number {
    return firstNotBefore(this.#starts.length, (leaf) => (this.#starts[leaf] ?? 0) <= place) - 1;
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
    this.#known.delete(collection);
    const current = known?.stamp === stamp ? known : { stamp, search: new NameSearch(await table.leaves()) };
    this.#known.set(collection, current);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_SEARCHES) break;
      this.#known.delete(oldest);
    }
    return current.search;
  }
}
