import { conflict, invalid } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import { Pace } from '../ground/pace.ts';
import type { Transaction, View } from '../store/store.ts';
import {
  type Binding,
  bindingsOf,
  type NewBinding,
  replacedBindings,
  withBindings,
  withoutBindings,
} from './bindings.ts';
import { parseIdentifier, printIdentifier } from './identifiers.ts';
import { foldCase, nameTaken, projectName } from './names.ts';
import {
  defaultProjectKey,
  type Organization,
  organizationAt,
  organizationCalled,
  type Ports,
  type ProjectRecord,
  projectNotFound,
  type Reference,
  type WorkspaceRecord,
  workspacesOf,
} from './organization.ts';
import { isMany, OrganizationEdit } from './organization-edit.ts';
import { type Page, type PageRequest, pageFrom } from './page.ts';
import { ProjectTable } from './project-table.ts';
import { RecordTable } from './record-table.ts';
import { type BindingFilter, holdsAny } from './workspace-query.ts';
import { checkDuration, DEFAULT_EXECUTION_MODE, type ExecutionMode } from './workspace-settings.ts';

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
    return this.#ports.store.read(async (view) => {
      const organization = await organizationCalled(view, organizationName);
      const printing = await Printing.open(view, organization);
      const found = printing.all.filter((project) => fits(organization, project, query));
      if (query.order !== undefined) found.sort((a, b) => (a.name < b.name ? -1 : 1));
      if (query.order === 'descending') found.reverse();
      const { items, total } = pageFrom(found, query.page);
      return { ...query.page, items: items.map((project) => printing.print(project)), total };
    });
  }

  /**
   * Finds a project.
   * @throws `not-found`
   */
  get(reference: Reference): Promise<Project> {
    return this.#ports.store.read(async (view) => {
      const { organization, project } = await find(view, reference);
      return (await Printing.open(view, organization)).print(project);
    });
  }

  /** Whether an identifier is that of the default project. */
  async isDefault(organizationName: string, id: string): Promise<boolean> {
    return this.#ports.store.read(async (view) => {
      const organization = await organizationCalled(view, organizationName);
      return id === printIdentifier('prj', { home: organization.home, key: defaultProjectKey(organization) });
    });
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
    return this.#ports.store.transact(async (tx) => {
      const organization = await organizationCalled(tx, organizationName);
      projectName(name, fields.name);
      const edit = await OrganizationEdit.open(tx, organization, this.#ports);
      const projects = await edit.projects();
      if ((await projects.keyOf(name)) !== undefined) throw nameTaken('a project', name, fields.name);
      const bare: ProjectRecord = {
        key: await projects.freshKey(),
        name,
        description: null,
        createdAt: edit.now,
        workspaces: 0,
      };
      const project = changed(bare, content, fields, edit.now);
      await projects.add(project);
      await edit.save();
      return (await Printing.open(tx, organization)).print(project);
    });
  }

  /**
   * Changes a project.
   * @throws `not-found`; `invalid` for a violated rule; `exists` if the name is taken
   */
  update(reference: Reference, change: ProjectChange, fields: ProjectFields): Promise<Project> {
    return this.#change(reference, async (edit, project) => {
      const { name = project.name, ...content } = change;
      if (name !== project.name) {
        projectName(name, fields.name);
        const projects = await edit.projects();
        if ((await projects.keyOf(name)) !== undefined) throw nameTaken('a project', name, fields.name);
      }
      return { ...changed(project, content, fields, edit.now), name };
    });
  }

  /**
   * Deletes a project.
   * @throws `not-found`; `conflict` for one with workspaces, and for the default one
   */
  delete(reference: Reference): Promise<void> {
    return this.#ports.store.transact(async (tx) => {
      const { organization, project } = await find(tx, reference);
      if (project.key === defaultProjectKey(organization)) {
        throw conflict(ownWords('The default project cannot be deleted'), {
          hint: 'it holds the workspaces that are in no other project',
        });
      }
      const edit = await OrganizationEdit.open(tx, organization, this.#ports);
      // Releases without projects do not update the count when they delete a workspace, so count again.
      const held = project.workspaces === 0 ? 0 : await edit.heldBy(project);
      if (held > 0) {
        throw conflict(ownWords('Project cannot be deleted while it contains workspaces'), {
          hint: `it holds ${held}: move or delete them first`,
        });
      }
      await (await edit.projects()).remove(project);
      await edit.save();
    });
  }

  /**
   * Moves workspaces into a project, atomically.
   * @throws `not-found` naming the project, or a workspace that its organization does not have
   */
  move(projectId: string, workspaceIds: readonly string[]): Promise<void> {
    return this.#ports.store.transact(
      async (tx) => {
        const home = parseIdentifier('prj', projectId)?.home;
        const organization = home === undefined ? undefined : await organizationAt(tx, home);
        if (organization === undefined) throw projectNotFound(projectId);
        const edit = await OrganizationEdit.open(tx, organization, this.#ports);
        const project = await edit.projectKey(projectId);
        const pace = new Pace();
        const workspaces: WorkspaceRecord[] = [];
        for (const id of workspaceIds) {
          workspaces.push(await edit.workspace(id));
          await pace.step();
        }
        for (const workspace of workspaces) {
          const { project: _before, ...rest } = workspace;
          const moved = project === undefined ? rest : { ...rest, project };
          await edit.updateWorkspace(workspace, moved, undefined);
          await pace.step();
        }
        await edit.save();
      },
      { alone: isMany(workspaceIds) },
    );
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
    return this.#ports.store.transact(async (tx: Transaction) => {
      const { organization, project } = await find(tx, reference);
      const edit = await OrganizationEdit.open(tx, organization, this.#ports);
      const projects = await edit.projects();
      const updated = await change(edit, project);
      await projects.replace(project, updated);
      await edit.save();
      return (await Printing.open(tx, organization)).print(updated);
    });
  }
}

function changed(
  project: ProjectRecord,
  { description, bindings, autoDestroyActivityDuration, executionMode }: ProjectContent,
  fields: ProjectFields,
  now: number,
): ProjectRecord {
  if ((description?.length ?? 0) > MAX_DESCRIPTION_LENGTH) {
    throw invalid(`Description is too long (maximum is ${MAX_DESCRIPTION_LENGTH} characters)`, {
      field: fields.description,
      hint: `it has ${description?.length} characters`,
    });
  }
  checkDuration(autoDestroyActivityDuration, fields.autoDestroyActivityDuration);
  const { executionMode: before, ...rest } = project;
  const mode = executionMode === undefined ? before : executionMode;
  return {
    ...rest,
    description: description === undefined ? project.description : description,
    autoDestroyActivityDuration:
      autoDestroyActivityDuration === undefined
        ? project.autoDestroyActivityDuration
        : autoDestroyActivityDuration,
    bindings:
      bindings === undefined ? project.bindings : replacedBindings(bindingsOf(project), bindings, now),
    executionMode: mode ?? undefined,
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

async function find(
  view: View,
  reference: Reference,
): Promise<{ readonly organization: Organization; readonly project: ProjectRecord }> {
  const address = 'id' in reference ? parseIdentifier('prj', reference.id) : undefined;
  const organization =
    'id' in reference
      ? address && (await organizationAt(view, address.home))
      : await organizationCalled(view, reference.organization);
  const table = organization && (await ProjectTable.open(view, organization));
  const project =
    'id' in reference ? address && (await table?.get(address.key)) : await table?.called(reference.name);
  if (organization === undefined || project === undefined) {
    throw projectNotFound('id' in reference ? reference.id : reference.name);
  }
  return { organization, project };
}

/** Context for formatting projects. The default project has all workspaces that no other one has. */
class Printing {
  readonly organization: Organization;
  readonly all: ProjectRecord[];
  readonly #inDefault: number;

  private constructor(organization: Organization, all: ProjectRecord[], inDefault: number) {
    this.organization = organization;
    this.all = all;
    this.#inDefault = inDefault;
  }

  static async open(view: View, organization: Organization): Promise<Printing> {
    const all = await (await ProjectTable.open(view, organization)).all();
    const workspaces = await RecordTable.open<WorkspaceRecord>(view, workspacesOf(organization));
    const elsewhere = all.reduce((sum, project) => sum + project.workspaces, 0);
    return new Printing(organization, all, workspaces.total - elsewhere);
  }

  print(project: ProjectRecord): Project {
    const isDefault = project.key === defaultProjectKey(this.organization);
    return printProject(this.organization, project, isDefault ? this.#inDefault : project.workspaces);
  }
}

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
