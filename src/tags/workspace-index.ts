import type { WorkspaceRecord } from './organization.ts';
import type { RecordTable } from './record-table.ts';
import { keyAt, namesOf, type Slice } from './record-table-format.ts';
import { WorkspaceLists } from './workspace-lists.ts';

/** How many organizations a process keeps ready to be searched by more than names. @see docs/decisions/0198 */
const MAX_INDEXES = 16;
/** Keys kept of earlier answers, over all questions about one organization. */
const MAX_REMEMBERED = 200_000;

/** So many questions about the same workspaces pay for lists of who has what; a command asks one. */
const SCANS_BEFORE_LISTS = 4;
/** Looking through fewer takes no longer than the rest of a request. */
const WORKSPACES_WORTH_LISTS = 500;

/** So many workspaces, in what changed of the table, are taken up one by one; of more the lists are made anew. */
const MOST_TAKEN_UP = 5_000;

/** The workspaces of an organization as they lie in the store, in the order of names. */
interface Contents {
  readonly records: readonly WorkspaceRecord[];
  /** Of each key the place of its record. */
  readonly places: ReadonlyMap<string, number>;
  readonly slices: readonly (Slice<WorkspaceRecord> | undefined)[];
  /** Of the names. */
  readonly stamp: string;
}

/**
 * The workspaces of an organization at one revision of the store, in the order of names, and what was found among them: a page is
 * asked for after the other, and the same question again and again.
 */
export class WorkspaceIndex {
  readonly revision: string;
  readonly #contents: Contents;
  /** The key of the project of those that name none. */
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

  /** In the order of names. */
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
   * The same at another revision, for which only what changed is looked at; undefined when names came or went. The lists go with it: this
   * index can still be asked, and makes new ones when it is asked often.
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
   * The keys of the workspaces that fit, in the order of names.
   * @param question the same text for the same `fits`.
   * @param among groups of lists: who fits is in one list of each group.
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

  /** Those of the group with the fewest, once it is known who is in which list. */
  #candidates(among: readonly (readonly string[])[]): readonly WorkspaceRecord[] {
    const { records } = this.#contents;
    if (among.length === 0 || records.length < WORKSPACES_WORTH_LISTS) return records;
    if (this.#lists === undefined && ++this.#scans <= SCANS_BEFORE_LISTS) return records;
    this.#lists ??= new WorkspaceLists(records, this.#defaultProject);
    return this.#lists.fewest(among).flatMap((place) => records[place] ?? []);
  }
}

/** Those of a process. */
export class WorkspaceIndexes {
  readonly #known = new Map<string, WorkspaceIndex>();

  /**
   * @param revision of the store, looked at before `table` was opened.
   * @param defaultProject the key of the project of workspaces that name none.
   * @param isFresh false looks at the table whatever is known.
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
    this.#known.delete(collection);
    this.#known.set(collection, index);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_INDEXES) break;
      this.#known.delete(oldest);
    }
    return index;
  }
}
