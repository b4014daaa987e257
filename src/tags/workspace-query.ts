import { madeOnce } from '../ground/objects.ts';
import { Pace } from '../ground/pace.ts';
import { type Binding, bindingsOf } from './bindings.ts';
import type { NameSearches } from './name-search.ts';
import { anyOf, foldCase, isPattern, printIdentifier } from './names.ts';
import { defaultProjectKey, type WorkspaceRecord } from './organization.ts';
import {
  type NamedKeyOfRecord,
  offsetOf,
  type PageRequest,
  pageFrom,
  type RecordTable,
} from './record-table.ts';
import { addressIn, type Surroundings } from './surroundings.ts';
import { listOf, type WorkspaceIndexes } from './workspace-index.ts';

/** Filter: a key with a given, any or no value; or a value of any key. */
export type BindingFilter = { readonly key: string; readonly value?: string } | { readonly value: string };

const isWanted = ({ key, value }: Binding, filter: BindingFilter): boolean =>
  (!('key' in filter) || filter.key === key) && (filter.value === undefined || filter.value === value);

const hasKey = (bindings: readonly Binding[], wanted: string): boolean =>
  bindings.some(({ key }) => key === wanted);

/** Whether one of the bindings, whose keys are unique, matches. */
export const holdsAny = (bindings: readonly Binding[], filter: BindingFilter): boolean =>
  bindings.some((binding) => isWanted(binding, filter));

export interface WorkspaceQuery {
  /** Only workspaces whose name contains this text, case-insensitive. */
  readonly search?: string;
  /** Only names that match as a whole, with `*` as a wildcard at either end. */
  readonly wildcard?: string;
  /** Names of tags that a workspace must all have, as pool tags or as keys; `*` is a wildcard. */
  readonly tags?: readonly string[];
  /**
   * Names of tags of which a workspace must have at least one, as pool tags or as keys; empty for no condition.
   */
  readonly anyTags?: readonly string[];
  /** Names of tags that a workspace must not have, as pool tags or as keys. */
  readonly excludeTags?: readonly string[];
  /** Filters that a workspace's effective tags must all match. A pool tag is a key without a value. */
  readonly bindings?: readonly BindingFilter[] | undefined;
  /** Caller, and whether it may see the key-value tags of a workspace: filters do not match those of others. */
  readonly viewer?: {
    readonly id: string;
    sees(workspace: { readonly id: string; readonly name: string }): boolean;
  };
  /** Identifier of the project that a workspace must be in. */
  readonly project?: string | undefined;
  /** Whether to sort by name in descending order. */
  readonly descending?: boolean;
  readonly page: PageRequest;
}

interface Searched {
  readonly workspaces: RecordTable<WorkspaceRecord>;
  readonly surroundings: Surroundings;
  /** The store's revision, from before the tables were opened. */
  readonly revision: string;
}

interface MatchingWorkspaces {
  readonly keys: readonly string[];
  readonly total: number;
}

/** Returns the keys of the requested page. Only a query by more than names reads every workspace. */
export async function findWorkspaces(
  searched: Searched,
  searches: NameSearches,
  indexes: WorkspaceIndexes,
  query: WorkspaceQuery,
): Promise<MatchingWorkspaces> {
  const isAboutMore =
    [query.tags, query.anyTags, query.excludeTags, query.bindings].some((list) => (list?.length ?? 0) > 0) ||
    query.project !== undefined;
  if (isAboutMore) return fitting(searched, indexes, query);
  if (!query.search && !query.wildcard) return inOrder(searched.workspaces, query);
  const search = await searches.of(searched.workspaces);
  const matches = nameTest(query);
  const candidates = [...search.find(query.search ?? '')].map((place) => search.at(place));
  return paged(
    candidates.filter(({ name }) => matches(name)).map(({ key }) => key),
    query,
  );
}

function paged(keys: readonly string[], { descending, page }: WorkspaceQuery): MatchingWorkspaces {
  const { items, total } = pageFrom(descending ? keys.toReversed() : keys, page);
  return { keys: items, total };
}

async function inOrder(
  workspaces: RecordTable<WorkspaceRecord>,
  query: WorkspaceQuery,
): Promise<MatchingWorkspaces> {
  const { total } = workspaces;
  const offset = offsetOf(query.page);
  if (!query.descending) {
    const named = await workspaces.names(offset, query.page.size);
    return { keys: named.map(({ key }) => key), total };
  }
  const end = Math.max(0, total - offset);
  const start = Math.max(0, end - query.page.size);
  const named = await workspaces.names(start, end - start);
  return { keys: named.map(({ key }) => key).reverse(), total };
}

/**
 * Searches the cached index; if one of the workspaces was changed since the revision was read, searches again in this
 * view.
 */
async function fitting(
  searched: Searched,
  indexes: WorkspaceIndexes,
  query: WorkspaceQuery,
): Promise<MatchingWorkspaces> {
  const { workspaces, revision } = searched;
  const fits = await testOf(searched, query);
  if (fits === undefined) return { keys: [], total: 0 };
  const { page: _page, descending: _descending, viewer, ...asked } = query;
  const question = JSON.stringify([viewer?.id, asked]);
  const usual = defaultProjectKey(searched.surroundings.organization);
  const among = await listsFor(searched, query);
  const index = await indexes.of(workspaces, revision, usual);
  const found = paged(index.find(question, fits, among), query);
  const records = await workspaces.getAll(found.keys);
  if (records.length === found.keys.length && records.every(fits)) return found;
  const renewed = await indexes.of(workspaces, revision, usual, false);
  return paged(renewed.find(question, fits, among), query);
}

/**
 * Returns, for each condition, the lists that contain every possible match: its own, and those of projects with the
 * tag.
 */
async function listsFor({ surroundings }: Searched, query: WorkspaceQuery): Promise<string[][]> {
  const { organization, projects, tags } = surroundings;
  const all = await projects.all();
  const groups = (query.bindings ?? []).flatMap((filter): Promise<string[]>[] => {
    if (!('key' in filter)) return [];
    const { key, value } = filter;
    const giving = all.filter((project) => holdsAny(bindingsOf(project), filter));
    const lists = giving.map((project) => listOf.project(project.key));
    if (value !== undefined) return [Promise.resolve([listOf.pair(key, value), ...lists])];
    return [
      tags
        .keyOf(foldCase(key))
        .then((tagKey) => [listOf.key(key), ...lists, ...(tagKey === undefined ? [] : [listOf.tag(tagKey)])]),
    ];
  });
  const project = query.project === undefined ? undefined : addressIn(organization, 'prj', query.project);
  return [...(await Promise.all(groups)), ...(project === undefined ? [] : [[listOf.project(project.key)]])];
}

/** Creates the test of a query; undefined if nothing can match. */
async function testOf(
  { surroundings }: Searched,
  query: WorkspaceQuery,
): Promise<((workspace: WorkspaceRecord) => boolean) | undefined> {
  const { organization, projects } = surroundings;
  const matches = nameTest(query);
  const usual = defaultProjectKey(organization);
  const project =
    query.project === undefined ? undefined : addressIn(organization, 'prj', query.project)?.key;
  if (query.project !== undefined && project === undefined) return undefined;
  const inherited = new Map((await projects.all()).map((record) => [record.key, bindingsOf(record)]));
  const carries = new Carrying(
    surroundings,
    (workspace) => inherited.get(workspace.project ?? usual) ?? [],
    query.viewer,
  );
  const wanted = await Promise.all(distinct(query.tags).map((name) => carries.anyTag([name])));
  const any = distinct(query.anyTags);
  const isAny = any.length === 0 ? () => true : await carries.anyTag(any);
  const isUnwanted = await carries.anyTag(distinct(query.excludeTags));
  const bound = await Promise.all((query.bindings ?? []).map((filter) => carries.binding(filter)));
  return (workspace) =>
    (project === undefined || (workspace.project ?? usual) === project) &&
    matches(workspace.name) &&
    wanted.every((test) => test(workspace)) &&
    bound.every((test) => test(workspace)) &&
    isAny(workspace) &&
    !isUnwanted(workspace);
}

const distinct = (names: readonly string[] | undefined): readonly string[] => [
  ...new Set((names ?? []).map(foldCase)),
];

type Test = (workspace: WorkspaceRecord) => boolean;

/**
 * Tests for tags of workspaces, both pool tags and keys.
 * @see docs/decisions/0193
 */
class Carrying {
  readonly #surroundings: Surroundings;
  readonly #inherited: (workspace: WorkspaceRecord) => readonly Binding[];
  readonly #viewer: WorkspaceQuery['viewer'];
  /** All names of the pool, read for the first pattern. */
  #pool: Promise<readonly NamedKeyOfRecord[]> | undefined;

  constructor(
    surroundings: Surroundings,
    inherited: (workspace: WorkspaceRecord) => readonly Binding[],
    viewer: WorkspaceQuery['viewer'],
  ) {
    this.#surroundings = surroundings;
    this.#inherited = inherited;
    this.#viewer = viewer;
  }

  /**
   * Tests for any of several tags, as pool tag or as a key with any value.
   * @param wanted lower case; `*` is a wildcard
   */
  async anyTag(wanted: readonly string[]): Promise<Test> {
    if (wanted.length === 0) return () => false;
    const names = new Set(wanted.filter((name) => !isPattern(name)));
    const fitsPattern = anyOf(wanted.filter(isPattern));
    const inPool = await this.#poolKeys(names, names.size === wanted.length ? undefined : fitsPattern);
    const known = new Map<string, boolean>();
    const isMeant = (key: string): boolean =>
      madeOnce(known, key, () => {
        const folded = foldCase(key);
        return names.has(folded) || fitsPattern(folded);
      });
    return (workspace) =>
      workspace.tags.some((key) => inPool.has(key)) ||
      (this.#all(workspace).some(({ key }) => isMeant(key)) && this.#isSeen(workspace));
  }

  /** Returns the keys of the pool tags with one of the names, or a name that matches. */
  async #poolKeys(
    names: ReadonlySet<string>,
    fits: ((name: string) => boolean) | undefined,
  ): Promise<ReadonlySet<string>> {
    const { tags } = this.#surroundings;
    const found = new Set<string>();
    const pace = new Pace();
    for (const name of names) {
      const key = await tags.keyOf(name);
      if (key !== undefined) found.add(key);
      await pace.step();
    }
    if (fits === undefined) return found;
    this.#pool ??= tags.names(0, tags.total);
    for (const { name, key } of await this.#pool) {
      if (fits(name)) found.add(key);
      if (pace.isDue()) await pace.pause();
    }
    return found;
  }

  async binding(filter: BindingFilter): Promise<Test> {
    const { value } = filter;
    const inPool =
      'key' in filter && value === undefined ? await this.#inPool(foldCase(filter.key)) : () => false;
    return (workspace) => inPool(workspace) || (this.#holds(workspace, filter) && this.#isSeen(workspace));
  }

  async #inPool(name: string): Promise<Test> {
    const tagKey = await this.#surroundings.tags.keyOf(name);
    return tagKey === undefined ? () => false : ({ tags }) => tags.includes(tagKey);
  }

  /** Whether a binding filter matches, without computing `effectiveBindings` for each workspace. */
  #holds(workspace: WorkspaceRecord, filter: BindingFilter): boolean {
    const own = bindingsOf(workspace);
    const inherited = this.#inherited(workspace);
    if (inherited.length === 0) return holdsAny(own, filter);
    const { fixedKeys } = this.#surroundings;
    const isFixed = (key: string): boolean => fixedKeys.has(key) && hasKey(inherited, key);
    return (
      own.some((binding) => isWanted(binding, filter) && !isFixed(binding.key)) ||
      inherited.some(
        (binding) => isWanted(binding, filter) && (!hasKey(own, binding.key) || isFixed(binding.key)),
      )
    );
  }

  #isSeen({ key, name }: WorkspaceRecord): boolean {
    if (this.#viewer === undefined) return true;
    const { home } = this.#surroundings.organization;
    return this.#viewer.sees({ id: printIdentifier('ws', { home, key }), name });
  }

  #all(workspace: WorkspaceRecord): readonly Binding[] {
    const inherited = this.#inherited(workspace);
    const own = bindingsOf(workspace);
    return inherited.length === 0 ? own : [...own, ...inherited];
  }
}

function nameTest({ search, wildcard }: WorkspaceQuery): (name: string) => boolean {
  if (!search && !wildcard) return () => true;
  const part = foldCase(search ?? '');
  const pattern = foldCase(wildcard || '*');
  const front = pattern.startsWith('*');
  const back = pattern.endsWith('*') && pattern.length > 1;
  const text = pattern.slice(front ? 1 : 0, back ? -1 : undefined);
  return (name) => {
    const folded = foldCase(name);
    if (!folded.includes(part)) return false;
    if (front && (back || text === '')) return folded.includes(text);
    if (front) return folded.endsWith(text);
    return back ? folded.startsWith(text) : folded === text;
  };
}
