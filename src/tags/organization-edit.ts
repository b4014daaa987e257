import { Pace } from '../ground/pace.ts';
import type { Random } from '../ground/random.ts';
import type { Transaction, TransactOptions, View } from '../store/store.ts';
import { foldCase, nameTaken, tagName } from './names.ts';
import {
  defaultProjectKey,
  type Organization,
  type Ports,
  type ProjectRecord,
  projectNotFound,
  type TaggedKeyRecord,
  type TagRecord,
  type TagReference,
  taggedKeysOf,
  tagNotFound,
  tagsOf,
  type WorkspaceRecord,
  workspaceNotFound,
  workspacesOf,
} from './organization.ts';
import { RecordTable } from './record-table.ts';
import { RecordTableEdit } from './record-table-edit.ts';
import { addressIn, editProjects, type Find, organizationOf, ProjectTable } from './surroundings.ts';

/** Minimum number of tags before keys of deleted tags are searched for. */
const NOT_WORTH_CLEARING = 32;

/** Number of records above which a change gets a commit of its own, so that no other change waits for it. */
const MANY = 16;

export const isMany = (changed: readonly unknown[]): boolean => changed.length > MANY;

/** Checked content of a new workspace. */
type WorkspaceContent = Pick<
  WorkspaceRecord,
  'description' | 'project' | 'bindings' | 'settings' | 'executionMode'
>;

/**
 * Changes an organization in one transaction.
 * @param find finds the organization, and what is to be changed of it
 * @returns what `change` returns
 */
export function edited<R, T>(
  ports: Ports,
  find: Find<R>,
  change: (edit: OrganizationEdit, record: R) => Promise<T>,
  options?: TransactOptions,
): Promise<T> {
  return ports.store.transact(async (tx) => (await editIn(tx, ports, find, change)).result, options);
}

/** As `edited`, but returns what `print` reads of what was saved. */
export function editedAndPrinted<R, C, T>(
  ports: Ports,
  find: Find<R>,
  change: (edit: OrganizationEdit, record: R, view: View) => Promise<C>,
  print: (organization: Organization, changed: C, view: View) => Promise<T>,
): Promise<T> {
  return ports.store.transact(async (tx) => {
    const { organization, result } = await editIn(tx, ports, find, change);
    return print(organization, result, tx);
  });
}

async function editIn<R, C>(
  tx: Transaction,
  ports: Ports,
  find: Find<R>,
  change: (edit: OrganizationEdit, record: R, view: View) => Promise<C>,
): Promise<{ readonly organization: Organization; readonly result: C }> {
  const { organization, record } = await find(tx);
  const edit = await OrganizationEdit.open(tx, organization, ports);
  const result = await change(edit, record, tx);
  await edit.save();
  return { organization, result };
}

/**
 * Changes workspaces of one organization, all of them or none.
 * @param which tag or project of the organization, which they get
 * @param prepare returns the change of each
 * @throws `not-found` also for a workspace that the organization does not have
 */
export function changeWorkspaces(
  ports: Ports,
  ids: readonly string[],
  which: readonly ['tag' | 'prj', id: string],
  prepare: (edit: OrganizationEdit) => Promise<(workspace: WorkspaceRecord) => Promise<void>>,
): Promise<void> {
  return edited(
    ports,
    async (view) => ({ organization: await organizationOf(view, ...which), record: undefined }),
    async (edit) => {
      const change = await prepare(edit);
      const pace = new Pace();
      const workspaces: WorkspaceRecord[] = [];
      for (const id of ids) {
        workspaces.push(await edit.workspace(id));
        await pace.step();
      }
      for (const workspace of workspaces) {
        await change(workspace);
        await pace.step();
      }
    },
    { alone: isMany(ids) },
  );
}

/** Tags and workspaces of one organization within one transaction; `save` must be called last. */
export class OrganizationEdit {
  readonly organization: Organization;
  /**
   * Where a tag is removed, the workspaces and keys with it, of which there may be 10,000, are not modified: its key in
   * them becomes dangling, is ignored, and is removed by a later change.
   */
  readonly tags: RecordTableEdit<TagRecord>;
  readonly workspaces: RecordTableEdit<WorkspaceRecord>;
  /** In milliseconds since the Unix epoch. */
  readonly now: number;
  readonly #tx: Transaction;
  readonly #random: Random;
  #projects: Promise<RecordTableEdit<ProjectRecord>> | undefined;
  #taggedKeys: Promise<RecordTableEdit<TaggedKeyRecord>> | undefined;

  private constructor(
    tx: Transaction,
    organization: Organization,
    tags: RecordTableEdit<TagRecord>,
    workspaces: RecordTableEdit<WorkspaceRecord>,
    { clock, random }: Ports,
  ) {
    this.#tx = tx;
    this.organization = organization;
    this.tags = tags;
    this.workspaces = workspaces;
    this.now = clock.now();
    this.#random = random;
  }

  static async open(tx: Transaction, organization: Organization, ports: Ports): Promise<OrganizationEdit> {
    const { random } = ports;
    const tags = await RecordTableEdit.open<TagRecord>(tx, tagsOf(organization), random);
    const workspaces = await RecordTableEdit.open<WorkspaceRecord>(tx, workspacesOf(organization), random);
    return new OrganizationEdit(tx, organization, tags, workspaces, ports);
  }

  async save(): Promise<void> {
    await this.tags.save();
    await this.workspaces.save();
    await (await this.#projects)?.save();
    await (await this.#taggedKeys)?.save();
  }

  /** Opens the table of named keys with tags, for changes. */
  taggedKeys(): Promise<RecordTableEdit<TaggedKeyRecord>> {
    this.#taggedKeys ??= RecordTableEdit.open(this.#tx, taggedKeysOf(this.organization), this.#random);
    return this.#taggedKeys;
  }

  /** Reads all named keys with tags. */
  async allTaggedKeys(): Promise<readonly TaggedKeyRecord[]> {
    const table = await RecordTable.open<TaggedKeyRecord>(this.#tx, taggedKeysOf(this.organization));
    return table.all();
  }

  /** Opens the table of projects, for changes. */
  projects(): Promise<RecordTableEdit<ProjectRecord>> {
    this.#projects ??= editProjects(this.#tx, this.organization, this.#random);
    return this.#projects;
  }

  /**
   * Finds a tag.
   * @throws `not-found` also for a tag of another organization
   */
  async tag(id: string): Promise<TagRecord> {
    const address = addressIn(this.organization, 'tag', id);
    const known = address && (await this.tags.get(address.key));
    if (known === undefined) throw tagNotFound(id);
    return known;
  }

  /**
   * Finds a workspace.
   * @throws `not-found` also for a workspace of another organization
   */
  async workspace(id: string): Promise<WorkspaceRecord> {
    const address = addressIn(this.organization, 'ws', id);
    const known = address && (await this.workspaces.get(address.key));
    if (known === undefined) throw workspaceNotFound(id);
    return known;
  }

  /**
   * Returns the key of a project as stored in workspaces.
   * @throws `not-found` also for a project of another organization
   */
  async projectKey(id: string): Promise<string | undefined> {
    const address = addressIn(this.organization, 'prj', id);
    if (address?.key === defaultProjectKey(this.organization)) return undefined;
    const known = address && (await (await ProjectTable.open(this.#tx, this.organization)).get(address.key));
    if (known === undefined) throw projectNotFound(id);
    return known.key;
  }

  /**
   * Adds a tag to the pool.
   * @param name valid name that is not in the pool yet
   */
  async addTag(name: string): Promise<TagRecord> {
    const tag: TagRecord = { key: await this.tags.freshKey(), name, createdAt: this.now, instances: 0 };
    await this.tags.add(tag);
    return tag;
  }

  /**
   * Returns the unique keys of tags; names that are not in the pool are added to it.
   * @throws `not-found` for an unknown identifier; `invalid` for an invalid name
   */
  async tagsFor(references: readonly TagReference[]): Promise<string[]> {
    const keys = new Set<string>();
    for (const reference of references) {
      if ('id' in reference) keys.add((await this.tag(reference.id)).key);
      else {
        const name = tagName(reference.name, reference.field);
        keys.add((await this.tags.keyOf(name)) ?? (await this.addTag(name)).key);
      }
    }
    return [...keys];
  }

  /**
   * Returns the unique keys of existing tags; unknown names are ignored.
   * @throws `not-found` for an unknown identifier
   */
  async existingTagsFor(references: readonly TagReference[]): Promise<string[]> {
    const keys = new Set<string>();
    for (const reference of references) {
      const key =
        'id' in reference
          ? (await this.tag(reference.id)).key
          : await this.tags.keyOf(foldCase(reference.name));
      if (key !== undefined) keys.add(key);
    }
    return [...keys];
  }

  /**
   * Adds tags to a workspace.
   * @param tagKeys keys of existing tags; those that the workspace already has are unchanged
   */
  async attach(workspaceKey: string, tagKeys: readonly string[]): Promise<void> {
    const workspace = await this.#workspaceAt(workspaceKey);
    const carried = new Set(workspace.tags);
    const added = tagKeys.filter((key) => !carried.has(key));
    if (added.length === 0) return;
    for (const key of added) await this.#count(key, 1);
    const cleared = await this.#cleared(workspace, added.length);
    await this.workspaces.replace(workspace, { ...cleared, tags: [...cleared.tags, ...added] });
  }

  async detach(workspaceKey: string, tagKeys: readonly string[]): Promise<void> {
    const workspace = await this.#workspaceAt(workspaceKey);
    const carried = new Set(workspace.tags);
    const removed = new Set(tagKeys.filter((key) => carried.has(key)));
    if (removed.size === 0) return;
    for (const key of removed) await this.#count(key, -1);
    const tags = workspace.tags.filter((key) => !removed.has(key));
    const tagsWhenCleared = Math.min(workspace.tagsWhenCleared, tags.length);
    await this.workspaces.replace(workspace, { ...workspace, tags, tagsWhenCleared });
  }

  async #workspaceAt(key: string): Promise<WorkspaceRecord> {
    const workspace = await this.workspaces.get(key);
    if (workspace === undefined) throw workspaceNotFound(key);
    return workspace;
  }

  /**
   * Merges `tag` into `into` in every workspace and key, and deletes `tag`.
   * @see docs/decisions/0196
   */
  async mergeTag(tag: TagRecord, into: TagRecord): Promise<TagRecord> {
    let added = 0;
    const pace = new Pace();
    for (const workspace of await this.workspaces.all()) {
      await pace.step();
      if (!workspace.tags.includes(tag.key)) continue;
      const isNew = !workspace.tags.includes(into.key);
      if (isNew) added++;
      const tags = workspace.tags.flatMap((key) => (key !== tag.key ? [key] : isNew ? [into.key] : []));
      await this.workspaces.replace(workspace, { ...workspace, tags });
    }
    for (const known of await this.allTaggedKeys()) {
      await pace.step();
      if (!known.tags.includes(tag.key)) continue;
      const tags = [...new Set(known.tags.map((key) => (key === tag.key ? into.key : key)))];
      await (await this.taggedKeys()).replace(known, { ...known, tags });
    }
    const merged = { ...into, instances: into.instances + added };
    await this.tags.replace(into, merged);
    await this.tags.remove(tag);
    return merged;
  }

  /**
   * Adds a workspace.
   * @param field place of the name in the request, for errors
   * @throws `exists` if the name is taken
   */
  async addWorkspace(
    name: string,
    content: WorkspaceContent,
    field: string | undefined,
  ): Promise<WorkspaceRecord> {
    await this.#refuseTaken(name, field);
    const workspace: WorkspaceRecord = {
      key: await this.workspaces.freshKey(),
      name,
      createdAt: this.now,
      updatedAt: this.now,
      tags: [],
      tagsWhenCleared: 0,
      ...content,
    };
    await this.workspaces.add(workspace);
    await this.#countIn(workspace.project, 1);
    return workspace;
  }

  /**
   * Updates a workspace.
   * @param updated new version of the workspace, which may be in another project
   */
  async updateWorkspace(
    workspace: WorkspaceRecord,
    updated: WorkspaceRecord,
    field: string | undefined,
  ): Promise<void> {
    if (updated.name !== workspace.name) await this.#refuseTaken(updated.name, field);
    if (updated.project !== workspace.project) {
      await this.#countIn(workspace.project, -1);
      await this.#countIn(updated.project, 1);
    }
    await this.workspaces.replace(workspace, { ...updated, updatedAt: this.now });
  }

  async #refuseTaken(name: string, field: string | undefined): Promise<void> {
    const taken = await this.workspaces.keyOf(name);
    if (taken !== undefined) throw nameTaken('a workspace', name, field);
  }

  async removeWorkspace(workspace: WorkspaceRecord): Promise<void> {
    for (const key of workspace.tags) await this.#count(key, -1);
    await this.workspaces.remove(workspace);
    await this.#countIn(workspace.project, -1);
  }

  /** Changes the count of a tag; tags deleted in the meantime have none. */
  async #count(tagKey: string, change: 1 | -1): Promise<void> {
    const tag = await this.tags.get(tagKey);
    if (tag !== undefined) await this.tags.replace(tag, { ...tag, instances: tag.instances + change });
  }

  /**
   * Changes the stored number of workspaces of a project. The default project has no such number: its workspaces are
   * those that belong to no other project.
   */
  async #countIn(projectKey: string | undefined, change: 1 | -1): Promise<void> {
    if (projectKey === undefined) return;
    const projects = await this.projects();
    const project = await projects.get(projectKey);
    if (project === undefined) return;
    await projects.replace(project, { ...project, workspaces: project.workspaces + change });
  }

  /**
   * Removes keys of deleted tags from a workspace, once its keys have doubled since the last removal: however many tags
   * come and go, a workspace has at most twice as many keys as tags, at a constant amortized cost.
   */
  async #cleared(workspace: WorkspaceRecord, adding: number): Promise<WorkspaceRecord> {
    const { tags, tagsWhenCleared } = workspace;
    if (tags.length === 0) return { ...workspace, tagsWhenCleared: adding };
    if (tags.length + adding <= 2 * Math.max(NOT_WORTH_CLEARING, tagsWhenCleared)) return workspace;
    const left = await this.tags.living(tags);
    return { ...workspace, tags: left, tagsWhenCleared: left.length + adding };
  }
}
