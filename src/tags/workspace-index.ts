import { firstNotBefore } from '../ground/binary-search.ts';
import { madeOnce, setAmong } from '../ground/objects.ts';
import { bindingsOf } from './bindings.ts';
import type { WorkspaceRecord } from './organization.ts';
import { keyAt, namesOf, type RecordTable, type Slice } from './record-table.ts';

/**
 * Maximum number of organizations per process with an index for searches by more than names.
 * @see docs/decisions/0198
 */
const MAX_INDEXES = 16;
/** Maximum number of cached keys, over all queries for one organization. */
const MAX_REMEMBERED = 200_000;

/** Number of queries over the same workspaces after which lists are built; a command only makes one. */
const SCANS_BEFORE_LISTS = 4;
/** Minimum number of workspaces for lists: scanning fewer takes no longer than the rest of a request. */
const WORKSPACES_WORTH_LISTS = 500;

/**
 * Maximum number of workspaces, in the changed slices of a table, that are updated one by one; beyond it the lists are
 * rebuilt.
 */
const MOST_TAKEN_UP = 5_000;

/** Workspaces of an organization as stored, sorted by name. */
interface Contents {
  readonly records: readonly WorkspaceRecord[];
  /** Position of each record by key. */
  readonly places: ReadonlyMap<string, number>;
  readonly slices: readonly (Slice<WorkspaceRecord> | undefined)[];
  /** Stamp of the names. */
  readonly stamp: string;
}

/**
 * Workspaces of an organization at one revision of the store, sorted by name, with cached results: clients fetch page
 * after page, and repeat the same query.
 */
class WorkspaceIndex {
  readonly revision: string;
  readonly #contents: Contents;
  /** Key of the project of workspaces without an explicit one. */
  readonly #defaultProject: string;
  readonly #remembered = new Map<string, readonly string[]>();
  #rememberedCount = 0;
  #scans = 0;
  #lists: WorkspaceLists | undefined;

  private constructor(contents: Contents, revision: string, defaultProject: string) {
    this.#contents = contents;
    this.revision = revision;
    this.#defaultProject = defaultProject;
  }

  /** Sorted by name. */
  get records(): readonly WorkspaceRecord[] {
    return this.#contents.records;
  }

  static async read(
    table: RecordTable<WorkspaceRecord>,
    revision: string,
    defaultProject: string,
  ): Promise<WorkspaceIndex> {
    const slices = await table.slices();
    const byKey = new Map(
      slices.flatMap((slice) => slice?.records ?? []).map((record) => [record.key, record]),
    );
    const records: WorkspaceRecord[] = [];
    const places = new Map<string, number>();
    for (const leaf of await table.leaves()) {
      for (const place of namesOf(leaf).keys()) {
        const record = byKey.get(keyAt(leaf, place));
        if (record === undefined) continue;
        places.set(record.key, records.length);
        records.push(record);
      }
    }
    return new WorkspaceIndex({ records, places, slices, stamp: table.stamp }, revision, defaultProject);
  }

  /**
   * Updates the index to another revision, reading only what has changed; undefined if names were added or removed.
   * Takes over the lists: this index remains usable, and builds new ones if it is queried often.
   */
  async renewed(table: RecordTable<WorkspaceRecord>, revision: string): Promise<WorkspaceIndex | undefined> {
    const { places, slices: before, stamp } = this.#contents;
    if (table.stamp !== stamp) return undefined;
    const slices = await table.slices();
    if (slices.length !== before.length) return undefined;
    const records = [...this.#contents.records];
    const replaced: [place: number, before: WorkspaceRecord, after: WorkspaceRecord][] = [];
    for (const [at, slice] of slices.entries()) {
      if (slice === undefined || slice === before[at]) continue;
      for (const record of slice.records) {
        const place = places.get(record.key);
        const known = place === undefined ? undefined : records[place];
        if (place === undefined || known === undefined) return undefined;
        records[place] = record;
        replaced.push([place, known, record]);
      }
    }
    const index = new WorkspaceIndex({ records, places, slices, stamp }, revision, this.#defaultProject);
    index.#scans = this.#scans;
    if (replaced.length > MOST_TAKEN_UP) return index;
    const lists = this.#lists;
    this.#lists = undefined;
    for (const [place, known, record] of replaced) lists?.replace(place, known, record);
    index.#lists = lists;
    return index;
  }

  /**
   * Returns the keys of the matching workspaces, sorted by name.
   * @param question cache key, the same text for the same `fits`
   * @param among groups of lists: a matching workspace is in one list of each group
   */
  find(
    question: string,
    fits: (workspace: WorkspaceRecord) => boolean,
    among: readonly (readonly string[])[],
  ): readonly string[] {
    const known = this.#remembered.get(question);
    if (known !== undefined) return known;
    const keys = this.#candidates(among)
      .filter(fits)
      .map(({ key }) => key);
    this.#rememberedCount += keys.length + 1;
    if (this.#rememberedCount > MAX_REMEMBERED) {
      this.#remembered.clear();
      this.#rememberedCount = keys.length + 1;
    }
    this.#remembered.set(question, keys);
    return keys;
  }

  /** Returns the smallest group of candidates, once the lists are built. */
  #candidates(among: readonly (readonly string[])[]): readonly WorkspaceRecord[] {
    const { records } = this.#contents;
    if (among.length === 0 || records.length < WORKSPACES_WORTH_LISTS) return records;
    if (this.#lists === undefined && ++this.#scans <= SCANS_BEFORE_LISTS) return records;
    this.#lists ??= new WorkspaceLists(records, this.#defaultProject);
    return this.#lists.fewest(among).flatMap((place) => records[place] ?? []);
  }
}

/** Indexes of a process. */
export class WorkspaceIndexes {
  readonly #known = new Map<string, WorkspaceIndex>();

  /**
   * Returns the index of a table.
   * @param revision the store's, read before `table` was opened
   * @param defaultProject key of the project of workspaces without an explicit one
   * @param isFresh false rereads the table in any case
   */
  async of(
    table: RecordTable<WorkspaceRecord>,
    revision: string,
    defaultProject: string,
    isFresh = true,
  ): Promise<WorkspaceIndex> {
    const { collection } = table;
    const known = this.#known.get(collection);
    const index =
      isFresh && known?.revision === revision
        ? known
        : ((await known?.renewed(table, revision)) ??
          (await WorkspaceIndex.read(table, revision, defaultProject)));
    setAmong(this.#known, MAX_INDEXES, collection, index);
    return index;
  }
}

/** Names of the lists that a workspace is in, by its own properties. */
export const listOf = {
  key: (key: string): string => `key ${key}`,
  pair: (key: string, value: string): string => `pair ${key}=${value}`,
  tag: (tagKey: string): string => `tag ${tagKey}`,
  project: (projectKey: string): string => `project ${projectKey}`,
} as const;

/** Inverted index: for each key, value, tag and project, the sorted positions of the records that have it. */
class WorkspaceLists {
  /** Key of the project of workspaces without an explicit one. */
  readonly #defaultProject: string;
  readonly #lists = new Map<string, number[]>();

  constructor(records: readonly WorkspaceRecord[], defaultProject: string) {
    this.#defaultProject = defaultProject;
    for (const [place, record] of records.entries()) {
      for (const name of this.#namesFor(record)) {
        madeOnce(this.#lists, name, () => []).push(place);
      }
    }
  }

  /**
   * Returns the positions of the smallest group.
   * @param among groups of lists: a searched record is in one list of each group
   */
  fewest(among: readonly (readonly string[])[]): readonly number[] {
    const groups = among.map((names) => names.map((name) => this.#lists.get(name) ?? []));
    const sizeOf = (group: readonly (readonly number[])[]): number =>
      group.reduce((sum, places) => sum + places.length, 0);
    const [group = []] = groups.sort((a, b) => sizeOf(a) - sizeOf(b));
    return group.length === 1 ? (group[0] ?? []) : [...new Set(group.flat())].sort((a, b) => a - b);
  }

  /** Updates the lists after the record at a position was replaced by another one with the same name. */
  replace(place: number, before: WorkspaceRecord, after: WorkspaceRecord): void {
    const had = new Set(this.#namesFor(before));
    const has = new Set(this.#namesFor(after));
    for (const name of had) if (!has.has(name)) this.#remove(name, place);
    for (const name of has) if (!had.has(name)) this.#add(name, place);
  }

  #remove(name: string, place: number): void {
    const list = this.#lists.get(name) ?? [];
    const at = placeIn(list, place);
    if (list[at] === place) list.splice(at, 1);
    if (list.length === 0) this.#lists.delete(name);
  }

  #add(name: string, place: number): void {
    const list = this.#lists.get(name);
    if (list === undefined) this.#lists.set(name, [place]);
    else list.splice(placeIn(list, place), 0, place);
  }

  #namesFor(record: WorkspaceRecord): readonly string[] {
    return [
      listOf.project(record.project ?? this.#defaultProject),
      ...record.tags.map(listOf.tag),
      ...bindingsOf(record).flatMap(({ key, value }) => [listOf.key(key), listOf.pair(key, value)]),
    ];
  }
}

const placeIn = (list: readonly number[], place: number): number =>
  firstNotBefore(list.length, (at) => (list[at] ?? 0) < place);
