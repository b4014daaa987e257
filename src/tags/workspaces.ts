import type { View } from '../store/store.ts';
import {
  type Binding,
  bindingsOf,
  effectiveBindings,
  type NewBinding,
  refuseOverrides,
  replacedBindings,
  withBindings,
  withoutBindings,
} from './bindings.ts';
import type { NameSearches } from './name-search.ts';
import { foldCase, plainName, printIdentifier } from './names.ts';
import {
  type Organization,
  type Ports,
  type Reference,
  type TagRecord,
  type TagReference,
  type WorkspaceRecord,
  workspaceNotFound,
  workspacesOf,
} from './organization.ts';
import { edited, editedAndPrinted, type OrganizationEdit } from './organization-edit.ts';
import { type Page, type PageRequest, pageFrom, RecordTable } from './record-table.ts';
import {
  changedSettings,
  DEFAULT_EXECUTION_MODE,
  DEFAULT_SETTINGS,
  type ExecutionMode,
  type WorkspaceSettings,
} from './settings.ts';
import { called, type Find, found, reading, type Surroundings, surroundingsOf } from './surroundings.ts';
import { printTag, type Tag } from './tag-pool.ts';
import type { WorkspaceIndexes } from './workspace-index.ts';
import { findWorkspaces, type WorkspaceQuery } from './workspace-query.ts';

export type Workspace = Awaited<ReturnType<typeof printWorkspace>>;

/** Places of a workspace's parts in a request, for errors. */
export interface WorkspaceFields {
  readonly name?: string;
  setting(name: keyof WorkspaceSettings): string;
}

const NO_FIELDS: WorkspaceFields = { setting: (name) => name };

interface NewWorkspace {
  readonly name: string;
  readonly description: string | null;
  readonly tags: readonly TagReference[];
  readonly bindings?: readonly NewBinding[];
  /** Identifier of its project; absent for the default one. */
  readonly project?: string | undefined;
  readonly settings?: Partial<WorkspaceSettings>;
  readonly executionMode?: ExecutionMode | undefined;
  readonly fields?: WorkspaceFields;
}

/** Change of a workspace; absent members stay unchanged. */
interface WorkspaceChange {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  /** Complete list of its own tags. */
  readonly bindings?: readonly NewBinding[] | undefined;
  /** Null: the default one. */
  readonly project?: string | null | undefined;
  readonly settings?: Partial<WorkspaceSettings>;
  /** Null: that of the project. */
  readonly executionMode?: ExecutionMode | null | undefined;
}

/** Workspaces of organizations, and their tags. */
export class Workspaces {
  readonly #ports: Ports;
  readonly #searches: NameSearches;
  readonly #indexes: WorkspaceIndexes;

  constructor(ports: Ports, searches: NameSearches, indexes: WorkspaceIndexes) {
    this.#ports = ports;
    this.#searches = searches;
    this.#indexes = indexes;
  }

  /**
   * Lists workspaces.
   * @throws `not-found` for an unknown organization
   */
  async list(organizationName: string, query: WorkspaceQuery): Promise<Page<Workspace>> {
    const revision = await this.#ports.store.revision();
    return reading(this.#ports, called(organizationName), async (organization, _, view) => {
      const surroundings = await surroundingsOf(view, organization);
      const workspaces = await RecordTable.open<WorkspaceRecord>(view, workspacesOf(organization));
      const searched = { workspaces, surroundings, revision };
      const { keys, total } = await findWorkspaces(searched, this.#searches, this.#indexes, query);
      const records = await workspaces.getAll(keys);
      const items = await Promise.all(records.map((record) => printWorkspace(surroundings, record)));
      return { ...query.page, items, total };
    });
  }

  /**
   * Finds a workspace.
   * @throws `not-found`
   */
  get(reference: Reference): Promise<Workspace> {
    return reading(this.#ports, found('ws', reference), async (organization, workspace, view) =>
      printWorkspace(await surroundingsOf(view, organization), workspace),
    );
  }

  /**
   * Creates a workspace with tags; names that are not in the pool are added to it.
   * @throws `not-found` for an unknown organization, project or tag; `invalid` for a violated rule; `exists` if the
   * name is taken; nothing is created then
   */
  create(organizationName: string, wanted: NewWorkspace): Promise<Workspace> {
    return this.#print(called(organizationName), async (edit, _, view) => {
      const { fields = NO_FIELDS } = wanted;
      plainName(wanted.name, fields.name);
      const project = wanted.project === undefined ? undefined : await edit.projectKey(wanted.project);
      const bindings = withBindings([], wanted.bindings ?? [], edit.now);
      await refuseFixed(view, edit.organization, project, wanted.bindings ?? []);
      const settings = changedSettings(undefined, wanted.settings ?? {}, fields.setting);
      const { description, executionMode } = wanted;
      const content = { description, project, bindings: kept(bindings), settings, executionMode };
      const { key } = await edit.addWorkspace(wanted.name, content, fields.name);
      await edit.attach(key, await edit.tagsFor(wanted.tags));
      return key;
    });
  }

  /**
   * Changes a workspace.
   * @throws `not-found` also for a project; `invalid` for a violated rule; `exists` if the name is taken
   */
  update(
    reference: Reference,
    change: WorkspaceChange,
    fields: WorkspaceFields = NO_FIELDS,
  ): Promise<Workspace> {
    return this.#print(found('ws', reference), async (edit, workspace, view) => {
      const { name, description, bindings } = change;
      if (name !== undefined) plainName(name, fields.name);
      const { project: before, bindings: _bindings, settings, executionMode, ...rest } = workspace;
      const { project: wanted } = change;
      const project =
        wanted === undefined ? before : wanted === null ? undefined : await edit.projectKey(wanted);
      if (bindings !== undefined) await refuseFixed(view, edit.organization, project, bindings);
      const bound =
        bindings === undefined
          ? workspace.bindings
          : kept(replacedBindings(bindingsOf(workspace), bindings, edit.now));
      const updated = {
        ...rest,
        name: name ?? rest.name,
        description: description === undefined ? rest.description : description,
        project,
        bindings: bound,
        settings: changedSettings(settings, change.settings ?? {}, fields.setting),
        executionMode:
          change.executionMode === undefined ? executionMode : (change.executionMode ?? undefined),
      };
      await edit.updateWorkspace(workspace, updated, fields.name);
      return workspace.key;
    });
  }

  /**
   * Deletes a workspace. Its tags stay in the pool.
   * @throws `not-found`
   */
  delete(reference: Reference): Promise<void> {
    return this.#edit(reference, (edit, workspace) => edit.removeWorkspace(workspace));
  }

  /**
   * Lists one page of the pool tags of a workspace, sorted by name.
   * @param search only tags whose name contains this text, case-insensitive
   * @throws `not-found`
   */
  tags(reference: Reference, search: string, page: PageRequest): Promise<Page<Tag>> {
    return reading(this.#ports, found('ws', reference), async (organization, workspace, view) => {
      const { tags } = await surroundingsOf(view, organization);
      const wanted = foldCase(search);
      const carried = await tagsOn(workspace, tags);
      const found = carried.filter(({ name }) => name.includes(wanted));
      const { items, total } = pageFrom(found, page);
      return { ...page, items: items.map((tag) => printTag(organization, tag)), total };
    });
  }

  /**
   * Adds pool tags to a workspace, atomically. Names that are not in the pool are added to it.
   * @throws `not-found` naming the workspace or an unknown tag; `invalid` for an invalid name
   */
  tag(reference: Reference, tags: readonly TagReference[]): Promise<void> {
    return this.#edit(reference, async (edit, workspace) =>
      edit.attach(workspace.key, await edit.tagsFor(tags)),
    );
  }

  /**
   * Removes pool tags from a workspace, atomically. They stay in the pool. Unknown names are ignored.
   * @throws `not-found` naming the workspace or an unknown tag
   */
  untag(reference: Reference, tags: readonly TagReference[]): Promise<void> {
    return this.#edit(reference, async (edit, workspace) =>
      edit.detach(workspace.key, await edit.existingTagsFor(tags)),
    );
  }

  /**
   * Replaces all pool tags of a workspace; names that are not in the pool are added to it.
   * @throws `not-found`; `invalid` for an invalid name; nothing is changed then
   */
  retag(reference: Reference, tags: readonly TagReference[]): Promise<void> {
    return this.#edit(reference, async (edit, workspace) => {
      const wanted = await edit.tagsFor(tags);
      const kept = new Set(wanted);
      await edit.detach(
        workspace.key,
        workspace.tags.filter((key) => !kept.has(key)),
      );
      await edit.attach(workspace.key, wanted);
    });
  }

  /**
   * Adds key-value tags, or sets new values of existing ones, atomically.
   * @throws `not-found`; `invalid` for a violated rule
   */
  bind(reference: Reference, added: readonly NewBinding[]): Promise<Workspace> {
    return this.#changeBindings(reference, added, (own, now) => withBindings(own, added, now));
  }

  /**
   * Replaces all own key-value tags.
   * @throws as `bind`
   */
  rebind(reference: Reference, wanted: readonly NewBinding[]): Promise<Workspace> {
    return this.#changeBindings(reference, wanted, (own, now) => replacedBindings(own, wanted, now));
  }

  /**
   * Removes key-value tags; unknown keys are ignored.
   * @throws `not-found`
   */
  unbind(reference: Reference, keys: readonly string[]): Promise<Workspace> {
    return this.#changeBindings(reference, [], (own) => withoutBindings(own, new Set(keys)));
  }

  #changeBindings(
    reference: Reference,
    given: readonly NewBinding[],
    change: (own: readonly Binding[], now: number) => readonly Binding[],
  ): Promise<Workspace> {
    return this.#print(found('ws', reference), async (edit, workspace, view) => {
      await refuseFixed(view, edit.organization, workspace.project, given);
      const bindings = kept(change(bindingsOf(workspace), edit.now));
      await edit.updateWorkspace(workspace, { ...workspace, bindings }, undefined);
      return workspace.key;
    });
  }

  #edit(
    reference: Reference,
    change: (edit: OrganizationEdit, workspace: WorkspaceRecord) => Promise<void>,
  ): Promise<void> {
    return edited(this.#ports, found('ws', reference), change);
  }

  /** Changes a workspace, whose key `change` returns, and prints it. */
  #print<R>(
    find: Find<R>,
    change: (edit: OrganizationEdit, record: R, view: View) => Promise<string>,
  ): Promise<Workspace> {
    return editedAndPrinted(this.#ports, find, change, getAt);
  }
}

/**
 * Refuses overrides.
 * @throws `invalid` for a value that only the project determines
 */
async function refuseFixed(
  view: View,
  organization: Organization,
  project: string | undefined,
  wanted: readonly NewBinding[],
): Promise<void> {
  if (wanted.length === 0) return;
  const { projects, fixedKeys } = await surroundingsOf(view, organization);
  if (fixedKeys.size === 0) return;
  const holder = await projects.of(project === undefined ? {} : { project });
  refuseOverrides(wanted, bindingsOf(holder), fixedKeys);
}

/** Returns undefined for an empty list, which is not stored. */
const kept = (bindings: readonly Binding[]): readonly Binding[] | undefined =>
  bindings.length === 0 ? undefined : bindings;

async function getAt(organization: Organization, key: string, view: View): Promise<Workspace> {
  const surroundings = await surroundingsOf(view, organization);
  const workspaces = await RecordTable.open<WorkspaceRecord>(view, workspacesOf(organization));
  const workspace = await workspaces.get(key);
  if (workspace === undefined) throw workspaceNotFound(key);
  return printWorkspace(surroundings, workspace);
}

const byName = (a: TagRecord, b: TagRecord): number => (a.name < b.name ? -1 : 1);

const tagsOn = async (workspace: WorkspaceRecord, tags: RecordTable<TagRecord>): Promise<TagRecord[]> =>
  (await tags.getAll(workspace.tags)).sort(byName);

/** A workspace as those above see it. */
export async function printWorkspace(surroundings: Surroundings, workspace: WorkspaceRecord) {
  const { organization, projects, tags, fixedKeys } = surroundings;
  const { home, name } = organization;
  const carried = await tagsOn(workspace, tags);
  const project = await projects.of(workspace);
  return {
    /** `ws-` and 16 letters and digits. */
    id: printIdentifier('ws', { home, key: workspace.key }),
    name: workspace.name,
    description: workspace.description,
    /** In milliseconds since the Unix epoch. */
    createdAt: workspace.createdAt,
    updatedAt: workspace.updatedAt,
    /** Name of the organization. */
    organization: name,
    /** `prj-` and 16 letters and digits. */
    project: printIdentifier('prj', { home, key: project.key }),
    /** Sorted. */
    tagNames: carried.map((tag) => tag.name),
    /** Its own tags, in insertion order. */
    bindings: bindingsOf(workspace),
    /** Its own tags and inherited ones. */
    effectiveBindings: effectiveBindings(bindingsOf(workspace), bindingsOf(project), fixedKeys),
    settings: { ...DEFAULT_SETTINGS, ...workspace.settings },
    executionMode:
      workspace.executionMode ??
      project.executionMode ??
      organization.executionMode ??
      DEFAULT_EXECUTION_MODE,
    /** Whether the mode is its own, not inherited. */
    hasExecutionMode: workspace.executionMode !== undefined,
  };
}
