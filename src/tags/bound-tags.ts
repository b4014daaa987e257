import { Pace } from '../ground/pace.ts';
import { type Binding, bindingsOf } from './bindings.ts';
import { type IdentifierKind, printIdentifier } from './identifiers.ts';
import {
  defaultProjectKey,
  organizationCalled,
  type Ports,
  type ProjectRecord,
  type WorkspaceRecord,
  workspacesOf,
} from './organization.ts';
import { offsetOf, type Page, type PageRequest } from './page.ts';
import { RecordTable } from './record-table.ts';
import { type Surroundings, surroundingsOf } from './surroundings.ts';
import type { WorkspaceIndexes } from './workspace-index.ts';
import { type BindingFilter, holdsAny } from './workspace-query.ts';

/** Kinds of resources that key-value tags are bound to. */
export const TAGGABLE_KINDS = ['projects', 'workspaces'] as const;
type TaggableKind = (typeof TAGGABLE_KINDS)[number];

interface BoundTagsQuery {
  /** Only tags bound to resources of this kind. */
  readonly kind?: TaggableKind | undefined;
  /** Only tags that match one of these; absent or empty: all. */
  readonly any?: readonly BindingFilter[] | undefined;
  /** Whether the caller may see the tags of a project or workspace; others do not exist for the caller. */
  sees(kind: TaggableKind, target: { readonly id: string; readonly name: string }): boolean;
  /** Whether to count the workspaces of each tag, which requires reading every workspace. */
  readonly isCounted: boolean;
  readonly page: PageRequest;
}

/** Tag bound to one resource. */
export interface BoundTag extends Binding {
  readonly kind: TaggableKind;
  readonly target: { readonly id: string; readonly name: string; readonly organization: string };
  /** Number of resources for which this binding is effective; undefined if not requested. */
  readonly counts?: { readonly projects: number; readonly workspaces: number } | undefined;
}

/** Tag found by a search, with the record that it is bound to. */
type BoundBinding = { readonly binding: Binding } & (
  | { readonly kind: 'projects'; readonly record: ProjectRecord }
  | { readonly kind: 'workspaces'; readonly record: WorkspaceRecord }
);

const ID_KINDS = { projects: 'prj', workspaces: 'ws' } as const satisfies Record<
  TaggableKind,
  IdentifierKind
>;

/**
 * Key-value tags of whole organizations, one entry for each resource with a tag of its own.
 * @see docs/decisions/0289
 */
export class BoundTags {
  readonly #ports: Ports;
  readonly #indexes: WorkspaceIndexes;

  constructor(ports: Ports, indexes: WorkspaceIndexes) {
    this.#ports = ports;
    this.#indexes = indexes;
  }

  /**
   * Lists tags: those of projects, then those of workspaces, each sorted by name.
   * @throws `not-found` for an unknown organization
   */
  async list(organizationName: string, query: BoundTagsQuery): Promise<Page<BoundTag>> {
    const revision = await this.#ports.store.revision();
    return this.#ports.store.read(async (view) => {
      const organization = await organizationCalled(view, organizationName);
      const surroundings = await surroundingsOf(view, organization);
      const table = await RecordTable.open<WorkspaceRecord>(view, workspacesOf(organization));
      const usual = defaultProjectKey(organization);
      const { records } = await this.#indexes.of(table, revision, usual);
      const idOf = (kind: TaggableKind, key: string): string =>
        printIdentifier(ID_KINDS[kind], { home: organization.home, key });

      const search = new BoundTagsSearch(query, idOf);
      if (query.kind !== 'workspaces') await search.through('projects', await byName(surroundings));
      if (query.kind !== 'projects') await search.through('workspaces', records);
      const counts = query.isCounted ? await holding(search.page, records, surroundings) : undefined;
      const items = search.page.map(
        (found): BoundTag => ({
          ...found.binding,
          kind: found.kind,
          target: {
            id: idOf(found.kind, found.record.key),
            name: found.record.name,
            organization: organization.name,
          },
          counts:
            counts &&
            (found.kind === 'projects'
              ? { projects: 1, workspaces: counts.get(found) ?? 0 }
              : { projects: 0, workspaces: 1 }),
        }),
      );
      return { ...query.page, items, total: search.total };
    });
  }
}

async function byName({ projects }: Surroundings): Promise<ProjectRecord[]> {
  return (await projects.all()).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Visits all taggable resources, counts the matching tags, and keeps those of one page. */
class BoundTagsSearch {
  readonly page: BoundBinding[] = [];
  total = 0;
  readonly #query: BoundTagsQuery;
  readonly #idOf: (kind: TaggableKind, key: string) => string;
  readonly #pace = new Pace();

  constructor(query: BoundTagsQuery, idOf: (kind: TaggableKind, key: string) => string) {
    this.#query = query;
    this.#idOf = idOf;
  }

  async through<K extends TaggableKind>(
    kind: K,
    records: readonly Extract<BoundBinding, { kind: K }>['record'][],
  ): Promise<void> {
    const { any = [], page, sees } = this.#query;
    const first = offsetOf(page);
    for (const record of records) {
      if (this.#pace.isDue()) await this.#pace.pause();
      const all = bindingsOf(record);
      const wanted =
        any.length === 0 ? all : all.filter((binding) => any.some((filter) => holdsAny([binding], filter)));
      if (wanted.length === 0 || !sees(kind, { id: this.#idOf(kind, record.key), name: record.name }))
        continue;
      for (const binding of wanted) {
        const place = this.total++;
        if (place < first || this.page.length >= page.size) continue;
        this.page.push({ kind, record, binding } as BoundBinding);
      }
    }
  }
}

/**
 * Counts, for each tag of a project, the workspaces that inherit it: all in the project except those with a value of
 * their own for its key, which a reserved key may not have.
 */
async function holding(
  page: readonly BoundBinding[],
  workspaces: readonly WorkspaceRecord[],
  { organization, fixedKeys }: Surroundings,
): Promise<ReadonlyMap<BoundBinding, number>> {
  const usual = defaultProjectKey(organization);
  const counts = new Map<BoundBinding, number>();
  const byProject = new Map<string, BoundBinding[]>();
  for (const found of page) {
    if (found.kind !== 'projects') continue;
    byProject.set(found.record.key, [...(byProject.get(found.record.key) ?? []), found]);
  }
  if (byProject.size === 0) return counts;
  const pace = new Pace();
  for (const workspace of workspaces) {
    if (pace.isDue()) await pace.pause();
    const own = bindingsOf(workspace);
    for (const found of byProject.get(workspace.project ?? usual) ?? []) {
      const { key } = found.binding;
      if (!fixedKeys.has(key) && own.some((binding) => binding.key === key)) continue;
      counts.set(found, (counts.get(found) ?? 0) + 1);
    }
  }
  return counts;
}
