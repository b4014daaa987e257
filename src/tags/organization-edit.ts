import type { Transaction } from '../store/store.ts';
import { parseIdentifier } from './identifiers.ts';
import { foldCase, nameTaken, tagName } from './names.ts';
import type { TagReference } from './organization.ts';
import {
  type Organization,
  type Ports,
  type TagRecord,
  tagNotFound,
  tagsOf,
  type WorkspaceRecord,
  workspaceNotFound,
  workspacesOf,
} from './organization.ts';
import { RecordTableEdit } from './record-table-edit.ts';

/** Keys of deleted tags are not looked for among fewer. */
const NOT_WORTH_CLEARING = 32;

/** The tags and workspaces of one organization within one transaction; `save` comes last. */
export class OrganizationEdit {
  readonly organization: Organization;
  readonly tags: RecordTableEdit<TagRecord>;
  readonly workspaces: RecordTableEdit<WorkspaceRecord>;
  readonly #now: number;

  private constructor(
    organization: Organization,
    tags: RecordTableEdit<TagRecord>,
    workspaces: RecordTableEdit<WorkspaceRecord>,
    now: number,
  ) {
    this.organization = organization;
    this.tags = tags;
    this.workspaces = workspaces;
    this.#now = now;
  }

  static async open(
    tx: Transaction,
    organization: Organization,
    { clock, random }: Ports,
  ): Promise<OrganizationEdit> {
    const tags = await RecordTableEdit.open<TagRecord>(tx, tagsOf(organization), random);
    const workspaces = await RecordTableEdit.open<WorkspaceRecord>(tx, workspacesOf(organization), random);
    return new OrganizationEdit(organization, tags, workspaces, clock.now());
  }

  async save(): Promise<void> {
    await this.tags.save();
    await this.workspaces.save();
  }

  /** @throws `not-found` also for a tag of another organization. */
  async tag(id: string): Promise<TagRecord> {
    const address = parseIdentifier('tag', id);
    const known = address?.home === this.organization.home ? await this.tags.get(address.key) : undefined;
    if (known === undefined) throw tagNotFound(id);
    return known;
  }

  /** @throws `not-found` also for a workspace of another organization. */
  async workspace(id: string): Promise<WorkspaceRecord> {
    const address = parseIdentifier('ws', id);
    const known =
      address?.home === this.organization.home ? await this.workspaces.get(address.key) : undefined;
    if (known === undefined) throw workspaceNotFound(id);
    return known;
  }

  /** @param name By the rules, and not in the pool yet. */
  async addTag(name: string): Promise<TagRecord> {
    const tag: TagRecord = { key: await this.tags.freshKey(), name, createdAt: this.#now, instances: 0 };
    await this.tags.add(tag);
    return tag;
  }

  /**
   * The keys of the tags meant, each once; names that the pool does not have are added to it.
   * @throws `not-found` for an unknown identifier, `invalid` for a name against the rules.
   */
  async tagsFor(references: readonly TagReference[]): Promise<string[]> {
    const keys = new Set<string>();
    for (const reference of references) {
      if ('id' in reference) keys.add((await this.tag(reference.id)).key);
      else keys.add(await this.#tagCalled(tagName(reference.name, reference.field)));
    }
    return [...keys];
  }

  async #tagCalled(name: string): Promise<string> {
    return (await this.tags.keyOf(name)) ?? (await this.addTag(name)).key;
  }

  /**
   * The keys of those tags meant that exist, each once; a name that nobody has is passed over.
   * @throws `not-found` for an unknown identifier.
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

  /** @param tagKeys Of existing tags. Those that the workspace carries already stay as they are. */
  async attach(workspaceKey: string, tagKeys: readonly string[]): Promise<void> {
    const workspace = await this.workspaces.get(workspaceKey);
    if (workspace === undefined) throw workspaceNotFound(workspaceKey);
    const carried = new Set(workspace.tags);
    const added = tagKeys.filter((key) => !carried.has(key));
    if (added.length === 0) return;
    for (const key of added) await this.#count(key, 1);
    const cleared = await this.#cleared(workspace, added.length);
    await this.workspaces.replace(workspace, { ...cleared, tags: [...cleared.tags, ...added] });
  }

  async detach(workspaceKey: string, tagKeys: readonly string[]): Promise<void> {
    const workspace = await this.workspaces.get(workspaceKey);
    if (workspace === undefined) throw workspaceNotFound(workspaceKey);
    const carried = new Set(workspace.tags);
    const removed = new Set(tagKeys.filter((key) => carried.has(key)));
    if (removed.size === 0) return;
    for (const key of removed) await this.#count(key, -1);
    const tags = workspace.tags.filter((key) => !removed.has(key));
    const tagsWhenCleared = Math.min(workspace.tagsWhenCleared, tags.length);
    await this.workspaces.replace(workspace, { ...workspace, tags, tagsWhenCleared });
  }

  /**
   * The workspaces that carry the tag are not touched: its key in them leads nowhere from now on.
   * @see docs/decisions/0043
   */
  async removeTag(tag: TagRecord): Promise<void> {
    await this.tags.remove(tag);
  }

  async addWorkspace(
    name: string,
    description: string | null,
    field: string | undefined,
  ): Promise<WorkspaceRecord> {
    await this.#refuseTaken(name, field);
    const workspace: WorkspaceRecord = {
      key: await this.workspaces.freshKey(),
      name,
      description,
      createdAt: this.#now,
      updatedAt: this.#now,
      tags: [],
      tagsWhenCleared: 0,
    };
    await this.workspaces.add(workspace);
    return workspace;
  }

  async updateWorkspace(
    workspace: WorkspaceRecord,
    change: { readonly name?: string; readonly description?: string | null },
    field: string | undefined,
  ): Promise<void> {
    const updated = { ...workspace, ...change, updatedAt: this.#now };
    if (updated.name !== workspace.name) await this.#refuseTaken(updated.name, field);
    await this.workspaces.replace(workspace, updated);
  }

  async #refuseTaken(name: string, field: string | undefined): Promise<void> {
    const taken = await this.workspaces.keyOf(name);
    if (taken !== undefined) throw nameTaken('a workspace', name, field);
  }

  async removeWorkspace(workspace: WorkspaceRecord): Promise<void> {
    for (const key of workspace.tags) await this.#count(key, -1);
    await this.workspaces.remove(workspace);
  }

  /** Tags that were deleted since have no count left. */
  async #count(tagKey: string, change: 1 | -1): Promise<void> {
    const tag = await this.tags.get(tagKey);
    if (tag !== undefined) await this.tags.replace(tag, { ...tag, instances: tag.instances + change });
  }

  /**
   * The workspace without keys of deleted tags, once its keys have doubled since they were last cleared: however many
   * tags come and go, a workspace keeps at most twice as many keys as it carries tags, at a cost that averages out.
   */
  async #cleared(workspace: WorkspaceRecord, adding: number): Promise<WorkspaceRecord> {
    const { tags, tagsWhenCleared } = workspace;
    if (tags.length === 0) return { ...workspace, tagsWhenCleared: adding };
    if (tags.length + adding <= 2 * Math.max(NOT_WORTH_CLEARING, tagsWhenCleared)) return workspace;
    const left: string[] = [];
    for (const key of tags) if ((await this.tags.get(key)) !== undefined) left.push(key);
    return { ...workspace, tags: left, tagsWhenCleared: left.length + adding };
  }
}
