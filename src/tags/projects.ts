import { conflict, ownWords } from '../ground/errors.ts';
import type { View } from '../store/store.ts';
import {
  type Binding,
  bindingsOf,
  type NewBinding,
  replacedBindings,
  withBindings,
  withoutBindings,
} from './bindings.ts';
import { foldCase, nameTaken, printIdentifier, projectName, refuseLonger } from './names.ts';
import {
  defaultProjectKey,
  type Organization,
  type Ports,
  type ProjectRecord,
  type Reference,
  type WorkspaceRecord,
  workspacesOf,
} from './organization.ts';
import { changeWorkspaces, edited, editedAndPrinted, type OrganizationEdit } from './organization-edit.ts';
import { type Page, type PageRequest, pageFrom, RecordTable } from './record-table.ts';
import { checkDuration, DEFAULT_EXECUTION_MODE, type ExecutionMode } from './settings.ts';
import { called, found, ProjectTable, reading } from './surroundings.ts';
import { type BindingFilter, holdsAny } from './workspace-query.ts';

const MAX_DESCRIPTION_LENGTH = 256;

export type Project = ReturnType<typeof printProject>;

/** Places of a project's parts in a request, for errors. */
export interface ProjectFields {
  readonly name: string;
  readonly description: string;
  readonly autoDestroyActivityDuration: string;
}

export interface ProjectContent {
  readonly description?: string | null | undefined;
  /** Complete list of its tags. */
  readonly bindings?: readonly NewBinding[] | undefined;
  readonly autoDestroyActivityDuration?: string | null | undefined;
  /** Null: that of the organization. */
  readonly executionMode?: ExecutionMode | null | undefined;
}

interface ProjectChange extends ProjectContent {
  readonly name?: string | undefined;
}

interface ProjectQuery {
  /** Only projects whose name contains this text, case-insensitive. */
  readonly search?: string | undefined;
  /** Only projects with these names, case-insensitive; takes precedence over `search`. */
  readonly names?: readonly string[] | undefined;
  readonly bindings?: readonly BindingFilter[] | undefined;
  /** Whether the caller may see the tags of a project: filters do not match others. */
  readonly sees?: (project: { readonly id: string; readonly name: string }) => boolean;
  /** Order by name; absent: the default project first. */
  readonly order?: 'ascending' | 'descending' | undefined;
  readonly page: PageRequest;
}

/** Projects of organizations: each workspace is in one, and inherits its key-value tags. */
export class Projects {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /**
   * Lists projects.
   * @throws `not-found` for an unknown organization
   */
  list(organizationName: string, query: ProjectQuery): Promise<Page<Project>> {
    return reading(this.#ports, called(organizationName), async (organization, _, view) => {
      const { all, print } = await projectsOf(view, organization);
      const found = all.filter((project) => fits(organization, project, query));
      if (query.order !== undefined) found.sort((a, b) => (a.name < b.name ? -1 : 1));
      if (query.order === 'descending') found.reverse();
      const { items, total } = pageFrom(found, query.page);
      return { ...query.page, items: items.map(print), total };
    });
  }

  /**
   * Finds a project.
   * @throws `not-found`
   */
  get(reference: Reference): Promise<Project> {
    return reading(this.#ports, found('prj', reference), printed);
  }

  /** Whether an identifier is that of the default project. */
  async isDefault(organizationName: string, id: string): Promise<boolean> {
    const { home, key } = await reading(this.#ports, called(organizationName), (organization) => ({
      home: organization.home,
      key: defaultProjectKey(organization),
    }));
    return id === printIdentifier('prj', { home, key });
  }

  /**
   * Creates a project.
   * @throws `not-found` for an unknown organization; `invalid` for a violated rule; `exists` if the name is taken
   */
  create(
    organizationName: string,
    name: string,
    content: ProjectContent,
    fields: ProjectFields,
  ): Promise<Project> {
    const create = async (edit: OrganizationEdit): Promise<ProjectRecord> => {
      await requireFree(edit, name, fields.name);
      const projects = await edit.projects();
      const bare: ProjectRecord = {
        key: await projects.freshKey(),
        name,
        description: null,
        createdAt: edit.now,
        workspaces: 0,
      };
      const project = changed(bare, content, fields, edit.now);
      await projects.add(project);
      return project;
    };
    return editedAndPrinted(this.#ports, called(organizationName), create, printed);
  }

  /**
   * Changes a project.
   * @throws `not-found`; `invalid` for a violated rule; `exists` if the name is taken
   */
  update(reference: Reference, change: ProjectChange, fields: ProjectFields): Promise<Project> {
    return this.#change(reference, async (edit, project) => {
      const { name = project.name, ...content } = change;
      if (name !== project.name) await requireFree(edit, name, fields.name);
      return { ...changed(project, content, fields, edit.now), name };
    });
  }

  /**
   * Deletes a project.
   * @throws `not-found`; `conflict` for one with workspaces, and for the default one
   */
  delete(reference: Reference): Promise<void> {
    return edited(this.#ports, found('prj', reference), async (edit, project) => {
      if (project.key === defaultProjectKey(edit.organization)) {
        throw conflict(ownWords('The default project cannot be deleted'), {
          hint: 'it holds the workspaces that are in no other project',
        });
      }
      // Releases without projects do not update the count when they delete a workspace, so count again.
      const all = project.workspaces === 0 ? [] : await edit.workspaces.all();
      const held = all.filter((workspace) => workspace.project === project.key).length;
      if (held > 0) {
        throw conflict(ownWords('Project cannot be deleted while it contains workspaces'), {
          hint:
            held === 1
              ? 'it contains 1 workspace: move or delete it first'
              : `it contains ${held} workspaces: move or delete them first`,
        });
      }
      await (await edit.projects()).remove(project);
    });
  }

  /**
   * Moves workspaces into a project, atomically.
   * @throws `not-found` naming the project, or a workspace that its organization does not have
   */
  move(projectId: string, workspaceIds: readonly string[]): Promise<void> {
    return changeWorkspaces(this.#ports, workspaceIds, ['prj', projectId], async (edit) => {
      const project = await edit.projectKey(projectId);
      return (workspace) => {
        const { project: _before, ...rest } = workspace;
        return edit.updateWorkspace(workspace, { ...rest, project }, undefined);
      };
    });
  }

  /**
   * Adds key-value tags, or sets new values of existing ones, atomically.
   * @throws `not-found`, `invalid`
   */
  bind(reference: Reference, added: readonly NewBinding[]): Promise<Project> {
    return this.#changeBindings(reference, (own, now) => withBindings(own, added, now));
  }

  /**
   * Replaces all key-value tags.
   * @throws as `bind`
   */
  rebind(reference: Reference, wanted: readonly NewBinding[]): Promise<Project> {
    return this.#changeBindings(reference, (own, now) => replacedBindings(own, wanted, now));
  }

  /**
   * Removes key-value tags; unknown keys are ignored.
   * @throws `not-found`
   */
  unbind(reference: Reference, keys: readonly string[]): Promise<Project> {
    return this.#changeBindings(reference, (own) => withoutBindings(own, new Set(keys)));
  }

  #changeBindings(
    reference: Reference,
    change: (own: readonly Binding[], now: number) => readonly Binding[],
  ): Promise<Project> {
    return this.#change(reference, async (edit, project) => ({
      ...project,
      bindings: change(bindingsOf(project), edit.now),
    }));
  }

  #change(
    reference: Reference,
    change: (edit: OrganizationEdit, project: ProjectRecord) => Promise<ProjectRecord>,
  ): Promise<Project> {
    const replace = async (edit: OrganizationEdit, project: ProjectRecord): Promise<ProjectRecord> => {
      const projects = await edit.projects();
      const updated = await change(edit, project);
      await projects.replace(project, updated);
      return updated;
    };
    return editedAndPrinted(this.#ports, found('prj', reference), replace, printed);
  }
}

/**
 * Refuses a name for a project.
 * @throws `invalid` for a violated rule; `exists` if it is taken
 */
async function requireFree(edit: OrganizationEdit, name: string, field: string): Promise<void> {
  projectName(name, field);
  if ((await (await edit.projects()).keyOf(name)) !== undefined) throw nameTaken('a project', name, field);
}

function changed(
  project: ProjectRecord,
  content: ProjectContent,
  fields: ProjectFields,
  now: number,
): ProjectRecord {
  refuseLonger('Description', content.description ?? '', MAX_DESCRIPTION_LENGTH, fields.description);
  checkDuration(content.autoDestroyActivityDuration, fields.autoDestroyActivityDuration);
  const {
    description = project.description,
    autoDestroyActivityDuration = project.autoDestroyActivityDuration,
    bindings,
    executionMode = project.executionMode,
  } = content;
  const { executionMode: _before, ...rest } = project;
  return {
    ...rest,
    description,
    autoDestroyActivityDuration,
    bindings:
      bindings === undefined ? project.bindings : replacedBindings(bindingsOf(project), bindings, now),
    executionMode: executionMode ?? undefined,
  };
}

function fits(
  { home }: Organization,
  project: ProjectRecord,
  { search, names, bindings = [], sees }: ProjectQuery,
): boolean {
  const folded = foldCase(project.name);
  if (names !== undefined && names.length > 0) {
    if (!names.some((name) => foldCase(name) === folded)) return false;
  } else if (!folded.includes(foldCase(search ?? ''))) return false;
  const own = bindingsOf(project);
  if (!bindings.every((filter) => holdsAny(own, filter))) return false;
  const { key, name } = project;
  return bindings.length === 0 || (sees?.({ id: printIdentifier('prj', { home, key }), name }) ?? true);
}

/** Returns all projects, and how they are formatted. The default project has all workspaces that no other one has. */
async function projectsOf(view: View, organization: Organization) {
  const all = await (await ProjectTable.open(view, organization)).all();
  const workspaces = await RecordTable.open<WorkspaceRecord>(view, workspacesOf(organization));
  const inDefault = workspaces.total - all.reduce((sum, project) => sum + project.workspaces, 0);
  return {
    all,
    print(project: ProjectRecord): Project {
      const isDefault = project.key === defaultProjectKey(organization);
      return printProject(organization, project, isDefault ? inDefault : project.workspaces);
    },
  };
}

const printed = async (organization: Organization, project: ProjectRecord, view: View): Promise<Project> =>
  (await projectsOf(view, organization)).print(project);

const printProject = (organization: Organization, project: ProjectRecord, workspaces: number) => ({
  /** `prj-` and 16 letters and digits. */
  id: printIdentifier('prj', { home: organization.home, key: project.key }),
  name: project.name,
  description: project.description,
  /** In milliseconds since the Unix epoch. */
  createdAt: project.createdAt,
  /** Name of the organization. */
  organization: organization.name,
  /** Number of its workspaces. */
  workspaces,
  bindings: bindingsOf(project),
  autoDestroyActivityDuration: project.autoDestroyActivityDuration ?? null,
  executionMode: project.executionMode ?? organization.executionMode ?? DEFAULT_EXECUTION_MODE,
  /** Whether the project has an execution mode of its own, which is not inherited from the organization. */
  hasExecutionMode: project.executionMode !== undefined,
});
