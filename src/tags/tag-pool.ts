import { Pace } from '../ground/pace.ts';
import type { Transaction, View } from '../store/store.ts';
import { parseIdentifier, printIdentifier } from './identifiers.ts';
import type { NameSearches } from './name-search.ts';
import { foldCase, nameTaken, tagName } from './names.ts';
import {
  findRecord,
  type NamedTag,
  type Organization,
  organizationAt,
  organizationCalled,
  type Ports,
  type Reference,
  type TagRecord,
  tagNotFound,
  tagsOf,
  type WorkspaceRecord,
  workspacesOf,
} from './organization.ts';
import { OrganizationEdit } from './organization-edit.ts';
import { offsetOf, type Page, type PageRequest } from './page.ts';
import { addressIn } from './project-table.ts';
import { RecordTable } from './record-table.ts';

export type Tag = ReturnType<typeof printTag>;

export interface TagQuery {
  /** Only tags whose name contains this, whatever its case; nothing in it is a wildcard. */
  readonly search?: string;
  /** The identifier of a workspace whose tags are left out; anything else leaves out nothing. */
  readonly notOnWorkspace?: string;
  /** Whether the caller may know of the tags of that workspace: of another one nothing is left out. */
  readonly sees?: (workspace: { readonly id: string; readonly name: string }) => boolean;
  readonly page: PageRequest;
}

export const printTag = ({ home, name }: Organization, tag: TagRecord) => ({
  /** `tag-` and 16 letters and digits. */
  id: printIdentifier('tag', { home, key: tag.key }),
  name: tag.name,
  /** Milliseconds since the Unix epoch. */
  createdAt: tag.createdAt,
  /** How many workspaces carry it. */
  instances: tag.instances,
  /** The name of the organization. */
  organization: name,
});

/** The tags of organizations. */
export class TagPool {
  readonly #ports: Ports;
  readonly #searches: NameSearches;

  constructor(ports: Ports, searches: NameSearches) {
    this.#ports = ports;
    this.#searches = searches;
  }

  /**
   * One page of an organization's tags, in the order of names.
   * @throws `not-found` for an unknown organization.
   */
  list(organizationName: string, query: TagQuery): Promise<Page<Tag>> {
    return this.#ports.store.read(async (view) => {
      const organization = await organizationCalled(view, organizationName);
      const table = await RecordTable.open<TagRecord>(view, tagsOf(organization));
      const except = await namesOnWorkspace(view, organization, table, query);
      const { keys, total } = query.search
        ? await this.#found(table, query.search, except, query.page)
        : await inOrder(table, except, query.page);
      const records = await table.getAll(keys);
      return { ...query.page, items: records.map((tag) => printTag(organization, tag)), total };
    });
  }

  async #found(table: RecordTable<TagRecord>, text: string, except: ReadonlySet<string>, page: PageRequest) {
    const search = await this.#searches.of(table);
    const all = search.find(text);
    const places = except.size === 0 ? all : all.filter((place) => !except.has(search.at(place).name));
    const offset = offsetOf(page);
    const keys = [...places.subarray(offset, offset + page.size)].map((place) => search.at(place).key);
    return { keys, total: places.length };
  }

  /** @throws `not-found` */
  get(which: Reference): Promise<Tag> {
    const folded = 'id' in which ? which : { ...which, name: foldCase(which.name) };
    return this.#ports.store.read(async (view) => {
      const found = await findRecord<TagRecord>(view, 'tag', folded, tagsOf);
      if (found === undefined) throw tagNotFound('id' in which ? which.id : which.name);
      return printTag(found.organization, found.record);
    });
  }

  /**
   * Adds tags that no workspace carries yet. A name given twice, in whatever case, is one tag.
   * @throws `not-found` for an unknown organization, `invalid` for a name that breaks a rule, `exists` for one that is taken; nothing is
   * added then. A tag stays until it is deleted, also when no workspace carries it: users of Terraform Enterprise see both.
   */
  create(organizationName: string, tags: readonly NamedTag[]): Promise<Tag[]> {
    return this.#edit(organizationName, async (edit) => {
      const fields = new Map(tags.map(({ name, field }) => [tagName(name, field), field]));
      const created: TagRecord[] = [];
      for (const [name, field] of fields) {
        if ((await edit.tags.keyOf(name)) !== undefined) throw nameTaken('a tag', name, field);
        created.push(await edit.addTag(name));
      }
      return created.map((tag) => printTag(edit.organization, tag));
    });
  }

  /**
   * Deletes tags from the pool and from all workspaces that carry them: all of them, or none.
   * @throws `not-found` for the organization, or naming a tag that it does not have: the document of the API says that tags to
   * delete must exist.
   */
  delete(organizationName: string, ids: readonly string[]): Promise<void> {
    return this.#edit(organizationName, async (edit) => {
      const tags = new Map<string, TagRecord>();
      const pace = new Pace();
      for (const id of ids) {
        tags.set(id, await edit.tag(id));
        await pace.step();
      }
      for (const tag of tags.values()) await edit.removeTag(tag);
    });
  }

  /**
   * Deletes those of these tags that no workspace and no key carries at that moment. One that is gone already is passed over.
   * @returns the tags that were deleted.
   * @throws `not-found` for the organization.
   */
  deleteUnused(organizationName: string, ids: readonly string[]): Promise<Tag[]> {
    return this.#edit(organizationName, async (edit) => {
      const deleted: Tag[] = [];
      const pace = new Pace();
      const onKeys = new Set((await edit.allTaggedKeys()).flatMap(({ tags }) => tags));
      for (const id of new Set(ids)) {
        const address = addressIn(edit.organization, 'tag', id);
        const tag = address && (await edit.tags.get(address.key));
        await pace.step();
        if (tag === undefined || tag.instances > 0 || onKeys.has(tag.key)) continue;
        await edit.removeTag(tag);
        deleted.push(printTag(edit.organization, tag));
      }
      return deleted;
    });
  }

  /**
   * Gives a tag another name; the workspaces that carry it carry it by that name from then on, at once.
   * @param merge Where another tag has the name already: whether that one takes its place on every workspace. Otherwise that is
   * refused.
   * @param field Where the name stands in the request, for errors.
   * @returns the tag of that name.
   * @throws `not-found`, `invalid` for a name that breaks a rule, `exists` for one that is taken.
   * @see docs/decisions/0196
   */
  rename(which: Reference, newName: string, merge: boolean, field?: string): Promise<Tag> {
    const folded = 'id' in which ? which : { ...which, name: foldCase(which.name) };
    return this.#ports.store.transact(async (tx) => {
      const found = await findRecord<TagRecord>(tx, 'tag', folded, tagsOf);
      if (found === undefined) throw tagNotFound('id' in which ? which.id : which.name);
      const { organization, record: tag } = found;
      const name = tagName(newName, field);
      const edit = await OrganizationEdit.open(tx, organization, this.#ports);
      const takenBy = await edit.tags.keyOf(name);
      if (takenBy === tag.key) return printTag(organization, tag);
      const other = takenBy === undefined ? undefined : await edit.tags.get(takenBy);
      if (other !== undefined && !merge) throw nameTaken('a tag', name, field);
      const renamed = other === undefined ? { ...tag, name } : await edit.mergeTag(tag, other);
      if (other === undefined) await edit.tags.replace(tag, renamed);
      await edit.save();
      return printTag(organization, renamed);
    });
  }

  /**
   * Puts the tag on workspaces: on all of them, or none. Those that carry it already stay as they are.
   * @throws `not-found` naming the tag, or a workspace that its organization does not have.
   */
  attach(tagId: string, workspaceIds: readonly string[]): Promise<void> {
    return this.#onWorkspaces(tagId, workspaceIds, (edit, workspaceKey, tagKey) =>
      edit.attach(workspaceKey, [tagKey]),
    );
  }

  /**
   * Takes the tag off workspaces: off all of them, or none. It stays in the pool.
   * @throws `not-found` naming the tag, or a workspace that its organization does not have.
   */
  detach(tagId: string, workspaceIds: readonly string[]): Promise<void> {
    return this.#onWorkspaces(tagId, workspaceIds, (edit, workspaceKey, tagKey) =>
      edit.detach(workspaceKey, [tagKey]),
    );
  }

  #onWorkspaces(
    tagId: string,
    workspaceIds: readonly string[],
    change: (edit: OrganizationEdit, workspaceKey: string, tagKey: string) => Promise<void>,
  ): Promise<void> {
    const { store } = this.#ports;
    return store.transact(async (tx) => {
      const home = parseIdentifier('tag', tagId)?.home;
      const organization = home === undefined ? undefined : await organizationAt(tx, home);
      if (organization === undefined) throw tagNotFound(tagId);
      const edit = await OrganizationEdit.open(tx, organization, this.#ports);
      const tag = await edit.tag(tagId);
      const workspaces: WorkspaceRecord[] = [];
      const pace = new Pace();
      for (const id of workspaceIds) {
        workspaces.push(await edit.workspace(id));
        await pace.step();
      }
      for (const workspace of workspaces) {
        await change(edit, workspace.key, tag.key);
        await pace.step();
      }
      await edit.save();
    });
  }

  #edit<T>(organizationName: string, change: (edit: OrganizationEdit) => Promise<T>): Promise<T> {
    return this.#ports.store.transact(async (tx: Transaction) => {
      const organization = await organizationCalled(tx, organizationName);
      const edit = await OrganizationEdit.open(tx, organization, this.#ports);
      const result = await change(edit);
      await edit.save();
      return result;
    });
  }
}

async function inOrder(table: RecordTable<TagRecord>, except: ReadonlySet<string>, page: PageRequest) {
  const named = await table.names(offsetOf(page), page.size, except);
  return { keys: named.map(({ key }) => key), total: table.total - except.size };
}

/** A workspace of another organization, or nothing that is a workspace, has no names here: what it carries is not told. */
async function namesOnWorkspace(
  view: View,
  organization: Organization,
  tags: RecordTable<TagRecord>,
  { notOnWorkspace: id, sees }: TagQuery,
): Promise<ReadonlySet<string>> {
  const address = id === undefined ? undefined : parseIdentifier('ws', id);
  if (address?.home !== organization.home) return new Set();
  const workspaces = await RecordTable.open<WorkspaceRecord>(view, workspacesOf(organization));
  const workspace = await workspaces.get(address.key);
  if (workspace !== undefined && sees?.({ id: id ?? '', name: workspace.name }) === false) return new Set();
  const carried = await tags.getAll(workspace?.tags ?? []);
  return new Set(carried.map(({ name }) => name));
}
