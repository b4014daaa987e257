import type { Transaction, View } from '../store/store.ts';
import { printIdentifier } from './identifiers.ts';
import type { NameSearches } from './name-search.ts';
import { foldCase, plainName } from './names.ts';
import {
  findRecord,
  type Organization,
  organizationCalled,
  type Ports,
  type Reference,
  type TagRecord,
  type TagReference,
  tagsOf,
  type WorkspaceRecord,
  workspaceNotFound,
  workspacesOf,
} from './organization.ts';
import { OrganizationEdit } from './organization-edit.ts';
import { type Page, type PageRequest, pageFrom } from './page.ts';
import { RecordTable } from './record-table.ts';
import { printTag, type Tag } from './tag-pool.ts';
import { findWorkspaces, type WorkspaceQuery } from './workspace-query.ts';

export type Workspace = Awaited<ReturnType<typeof printWorkspace>>;

export interface NewWorkspace {
  readonly name: string;
  readonly description: string | null;
  readonly tags: readonly TagReference[];
  /** Where the name stands in the request, for errors. */
  readonly field?: string;
}

export interface WorkspaceChange {
  readonly name?: string;
  readonly description?: string | null;
}

/** The workspaces of organizations, and the tags on them. */
export class Workspaces {
  readonly #ports: Ports;
  readonly #searches: NameSearches;

  constructor(ports: Ports, searches: NameSearches) {
    this.#ports = ports;
    this.#searches = searches;
  }

  /** @throws `not-found` for an unknown organization. */
  list(organizationName: string, query: WorkspaceQuery): Promise<Page<Workspace>> {
    return this.#ports.store.read(async (view) => {
      const organization = await organizationCalled(view, organizationName);
      const tags = await RecordTable.open<TagRecord>(view, tagsOf(organization));
      const workspaces = await RecordTable.open<WorkspaceRecord>(view, workspacesOf(organization));
      const { keys, total } = await findWorkspaces({ workspaces, tags }, this.#searches, query);
      const records = await workspaces.getAll(keys);
      const items = await Promise.all(records.map((record) => printWorkspace(organization, record, tags)));
      return { ...query.page, items, total };
    });
  }

  /** @throws `not-found` */
  get(reference: Reference): Promise<Workspace> {
    return this.#ports.store.read(async (view) => {
      const { organization, workspace } = await find(view, reference);
      return getAt(view, organization, workspace.key);
    });
  }

  /**
   * Makes a workspace with tags on it; names that the pool does not have are added to it.
   * @throws `not-found` for an unknown organization or tag, `invalid` for a name that breaks a rule or is taken;
   * nothing is made then.
   */
  create(organizationName: string, wanted: NewWorkspace): Promise<Workspace> {
    return this.#ports.store.transact(async (tx) => {
      const organization = await organizationCalled(tx, organizationName);
      plainName(wanted.name, wanted.field);
      const edit = await OrganizationEdit.open(tx, organization, this.#ports);
      const { key } = await edit.addWorkspace(wanted.name, wanted.description, wanted.field);
      await edit.attach(key, await edit.tagsFor(wanted.tags));
      await edit.save();
      return getAt(tx, organization, key);
    });
  }

  /**
   * Changes name or description; what is absent stays.
   * @param field Where the name stands in the request, for errors.
   * @throws `not-found`; `invalid` for a name that breaks a rule or is taken.
   */
  update(reference: Reference, change: WorkspaceChange, field?: string): Promise<Workspace> {
    return this.#ports.store.transact(async (tx) => {
      const { organization, workspace } = await find(tx, reference);
      if (change.name !== undefined) plainName(change.name, field);
      const edit = await OrganizationEdit.open(tx, organization, this.#ports);
      await edit.updateWorkspace(workspace, change, field);
      await edit.save();
      return getAt(tx, organization, workspace.key);
    });
  }

  /**
   * Its tags count one instance less, and stay in the pool.
   * @throws `not-found`
   */
  delete(reference: Reference): Promise<void> {
    return this.#edit(reference, (edit, workspace) => edit.removeWorkspace(workspace));
  }

  /**
   * One page of the tags that a workspace carries, in the order of names.
   * @param search Only tags whose name contains this, whatever its case.
   * @throws `not-found`
   */
  tags(reference: Reference, search: string, page: PageRequest): Promise<Page<Tag>> {
    return this.#ports.store.read(async (view) => {
      const { organization, workspace } = await find(view, reference);
      const tags = await RecordTable.open<TagRecord>(view, tagsOf(organization));
      const wanted = foldCase(search);
      const carried = await tagsOn(workspace, tags);
      const found = carried.filter(({ name }) => name.includes(wanted));
      const { items, total } = pageFrom(found, page);
      return { ...page, items: items.map((tag) => printTag(organization, tag)), total };
    });
  }

  /**
   * Puts tags on a workspace: all of them, or none. Names that the pool does not have are added to it.
   * @throws `not-found` naming the workspace or an unknown tag, `invalid` for a name against the rules.
   */
  tag(reference: Reference, tags: readonly TagReference[]): Promise<void> {
    return this.#edit(reference, async (edit, workspace) =>
      edit.attach(workspace.key, await edit.tagsFor(tags)),
    );
  }

  /**
   * Takes tags off a workspace: all of them, or none. They stay in the pool. A name that nobody has is passed over.
   * @throws `not-found` naming the workspace or an unknown tag.
   */
  untag(reference: Reference, tags: readonly TagReference[]): Promise<void> {
    return this.#edit(reference, async (edit, workspace) =>
      edit.detach(workspace.key, await edit.existingTagsFor(tags)),
    );
  }

  #edit<T>(
    reference: Reference,
    change: (edit: OrganizationEdit, workspace: WorkspaceRecord) => Promise<T>,
  ): Promise<T> {
    return this.#ports.store.transact(async (tx: Transaction) => {
      const { organization, workspace } = await find(tx, reference);
      const edit = await OrganizationEdit.open(tx, organization, this.#ports);
      const result = await change(edit, workspace);
      await edit.save();
      return result;
    });
  }
}

async function find(view: View, reference: Reference) {
  const found = await findRecord<WorkspaceRecord>(view, 'ws', reference, workspacesOf);
  if (found === undefined) throw workspaceNotFound('id' in reference ? reference.id : reference.name);
  return { organization: found.organization, workspace: found.record };
}

async function getAt(view: View, organization: Organization, key: string): Promise<Workspace> {
  const tags = await RecordTable.open<TagRecord>(view, tagsOf(organization));
  const workspaces = await RecordTable.open<WorkspaceRecord>(view, workspacesOf(organization));
  const workspace = await workspaces.get(key);
  if (workspace === undefined) throw workspaceNotFound(key);
  return printWorkspace(organization, workspace, tags);
}

const byName = (a: TagRecord, b: TagRecord): number => (a.name < b.name ? -1 : 1);

const tagsOn = async (workspace: WorkspaceRecord, tags: RecordTable<TagRecord>): Promise<TagRecord[]> =>
  (await tags.getAll(workspace.tags)).sort(byName);

async function printWorkspace(
  { home, name }: Organization,
  workspace: WorkspaceRecord,
  tags: RecordTable<TagRecord>,
) {
  const carried = await tagsOn(workspace, tags);
  return {
    /** `ws-` and 16 letters and digits. */
    id: printIdentifier('ws', { home, key: workspace.key }),
    name: workspace.name,
    description: workspace.description,
    /** Milliseconds since the Unix epoch. */
    createdAt: workspace.createdAt,
    updatedAt: workspace.updatedAt,
    /** The name of the organization. */
    organization: name,
    /** In order. */
    tagNames: carried.map((tag) => tag.name),
  };
}
