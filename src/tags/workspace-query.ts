import type { NameSearches } from './name-search.ts';
import { foldCase } from './names.ts';
import type { TagRecord, WorkspaceRecord } from './organization.ts';
import { offsetOf, type PageRequest, pageFrom } from './page.ts';
import type { Named, RecordTable } from './record-table.ts';

export interface WorkspaceQuery {
  /** Only workspaces whose name contains this, whatever its case. */
  readonly search?: string;
  /** Only names that match as a whole, where `*` at either end stands for anything. */
  readonly wildcard?: string;
  /** Names of tags that a workspace must all carry. */
  readonly tags?: readonly string[];
  /** Names of tags none of which a workspace may carry. */
  readonly excludeTags?: readonly string[];
  /** From the last name to the first. */
  readonly descending?: boolean;
  readonly page: PageRequest;
}

interface Tables {
  readonly workspaces: RecordTable<WorkspaceRecord>;
  readonly tags: RecordTable<TagRecord>;
}

/** The keys of the page of workspaces that a query asks for. Only a query about tags looks into every workspace. */
export async function findWorkspaces(
  tables: Tables,
  searches: NameSearches,
  query: WorkspaceQuery,
): Promise<{ keys: string[]; total: number }> {
  const aboutTags = (query.tags?.length ?? 0) > 0 || (query.excludeTags?.length ?? 0) > 0;
  if (!aboutTags && !query.search && !query.wildcard) return inOrder(tables.workspaces, query);
  const candidates = aboutTags
    ? await carrying(tables, query)
    : await containing(tables.workspaces, searches, query.search ?? '');
  const matches = nameTest(query);
  const found = candidates.filter(({ name }) => matches(name));
  if (query.descending) found.reverse();
  const { items, total } = pageFrom(found, query.page);
  return { keys: items.map(({ key }) => key), total };
}

async function inOrder(
  workspaces: RecordTable<WorkspaceRecord>,
  query: WorkspaceQuery,
): Promise<{ keys: string[]; total: number }> {
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

async function containing(
  workspaces: RecordTable<WorkspaceRecord>,
  searches: NameSearches,
  text: string,
): Promise<Named[]> {
  const search = await searches.of(workspaces);
  return [...search.find(text)].map((place) => search.at(place));
}

async function carrying({ workspaces, tags }: Tables, query: WorkspaceQuery): Promise<Named[]> {
  const wanted = await keysOf(tags, query.tags ?? []);
  const unwanted = await keysOf(tags, query.excludeTags ?? []);
  if (wanted.includes(undefined)) return [];
  const records = await workspaces.all();
  return records
    .filter(
      (record) =>
        wanted.every((key) => key !== undefined && record.tags.includes(key)) &&
        !unwanted.some((key) => key !== undefined && record.tags.includes(key)),
    )
    .map(({ name, key }) => ({ name, key }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const keysOf = (tags: RecordTable<TagRecord>, names: readonly string[]): Promise<(string | undefined)[]> =>
  Promise.all(names.map((name) => tags.keyOf(foldCase(name))));

function nameTest({ search, wildcard }: WorkspaceQuery): (name: string) => boolean {
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
