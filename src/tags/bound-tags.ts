import { Pace } from '../ground/pace.ts';
import { type Binding, bindingsOf } from './bindings.ts';
import { type IdentifierKind, printIdentifier } from './names.ts';
import {
  defaultProjectKey,
  type Ports,
  type ProjectRecord,
  type WorkspaceRecord,
  workspacesOf,
} from './organization.ts';
import { offsetOf, type Page, type PageRequest, RecordTable } from './record-table.ts';
import { called, reading, type Surroundings, surroundingsOf } from './surroundings.ts';
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
interface BoundBinding {
  readonly binding: Binding;
  readonly kind: TaggableKind;
  readonly record: ProjectRecord | WorkspaceRecord;
}

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
    return reading(this.#ports, called(organizationName), async (organization, _, view) => {
      const surroundings = await surroundingsOf(view, organization);
      const table = await RecordTable.open<WorkspaceRecord>(view, workspacesOf(organization));
      const usual = defaultProjectKey(organization);
      const { records } = await this.#indexes.of(table, revision, usual);
      const idOf = (kind: TaggableKind, key: string): string =>
        printIdentifier(ID_KINDS[kind], { home: organization.home, key });

      const projects = query.kind === 'workspaces' ? [] : await surroundings.projects.all();
      projects.sort((a, b) => (a.name < b.name ? -1 : 1));
      const search = await found(query, { projects, workspaces: records }, idOf);
      const counts = query.isCounted ? await holding(search.page, records, surroundings) : undefined;
      const items = search.page.map(
        (bound): BoundTag => ({
          ...bound.binding,
          kind: bound.kind,
          target: {
            id: idOf(bound.kind, bound.record.key),
            name: bound.record.name,
            organization: organization.name,
          },
          counts:
            counts &&
            (bound.kind === 'projects'
              ? { projects: 1, workspaces: counts.get(bound) ?? 0 }
              : { projects: 0, workspaces: 1 }),
        }),
      );
      return { ...query.page, items, total: search.total };
    });
  }
}

/** Visits all taggable resources, counts the matching tags, and returns those of the requested page. */
async function found(
  { kind: only, any = [], sees, page: request }: BoundTagsQuery,
  records: Readonly<Record<TaggableKind, readonly (ProjectRecord | WorkspaceRecord)[]>>,
  idOf: (kind: TaggableKind, key: string) => string,
): Promise<{ readonly page: readonly BoundBinding[]; readonly total: number }> {
  const page: BoundBinding[] = [];
  const first = offsetOf(request);
  const pace = new Pace();
  let total = 0;
  for (const kind of TAGGABLE_KINDS) {
    for (const record of only === undefined || only === kind ? records[kind] : []) {
      if (pace.isDue()) await pace.pause();
      const all = bindingsOf(record);
      const wanted =
        any.length === 0 ? all : all.filter((binding) => any.some((filter) => holdsAny([binding], filter)));
      if (wanted.length === 0 || !sees(kind, { id: idOf(kind, record.key), name: record.name })) continue;
      for (const binding of wanted) {
        const place = total++;
        if (place >= first && page.length < request.size) page.push({ kind, record, binding });
      }
    }
  }
  return { page, total };
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
  const byProject = Map.groupBy(
    page.filter(({ kind }) => kind === 'projects'),
    ({ record }) => record.key,
  );
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
