import { Pace } from '../ground/pace.ts';
import type { View } from '../store/store.ts';
import type { NameSearches } from './name-search.ts';
import { nameTaken, parseIdentifier, printIdentifier, tagName } from './names.ts';
import {
  type NamedTag,
  type Organization,
  type Ports,
  type Reference,
  type TaggedKeyRecord,
  type TagRecord,
  taggedKeysOf,
  tagsOf,
  type WorkspaceRecord,
  workspacesOf,
} from './organization.ts';
import { changeWorkspaces, edited, isMany, type OrganizationEdit } from './organization-edit.ts';
import { offsetOf, type Page, type PageRequest, RecordTable } from './record-table.ts';
import { addressIn, called, found, reading } from './surroundings.ts';

export type Tag = ReturnType<typeof printTag>;

interface TagQuery {
  /** Only tags whose name contains this text, case-insensitive; there are no wildcards. */
  readonly search?: string | undefined;
  /** Identifier of a workspace whose tags are excluded; anything else excludes nothing. */
  readonly notOnWorkspace?: string | undefined;
  /** Whether the caller may see the tags of that workspace; otherwise nothing is excluded. */
  readonly sees?: (workspace: { readonly id: string; readonly name: string }) => boolean;
  /** Only tags that no workspace has; with `sparesKeys`, that no key has either. */
  readonly unused?: { readonly sparesKeys: boolean } | undefined;
  readonly page: PageRequest;
}

export const printTag = ({ home, name }: Organization, tag: TagRecord) => ({
  /** `tag-` and 16 letters and digits. */
  id: printIdentifier('tag', { home, key: tag.key }),
  name: tag.name,
  /** In milliseconds since the Unix epoch. */
  createdAt: tag.createdAt,
  /** Number of workspaces with this tag. */
  instances: tag.instances,
  /** Name of the organization. */
  organization: name,
});

/** Tags of organizations. */
export class TagPool {
  readonly #ports: Ports;
  readonly #searches: NameSearches;

  constructor(ports: Ports, searches: NameSearches) {
    this.#ports = ports;
    this.#searches = searches;
  }

  /**
   * Lists one page of an organization's tags, sorted by name.
   * @throws `not-found` for an unknown organization
   */
  list(organizationName: string, query: TagQuery): Promise<Page<Tag>> {
    return reading(this.#ports, called(organizationName), async (organization, _, view) => {
      const table = await RecordTable.open<TagRecord>(view, tagsOf(organization));
      const except = new Set([
        ...(await namesOnWorkspace(view, organization, table, query)),
        ...(await namesInUse(view, organization, table, query)),
      ]);
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

  /**
   * Finds a tag.
   * @throws `not-found`
   */
  get(which: Reference): Promise<Tag> {
    return reading(this.#ports, found('tag', which), printTag);
  }

  /**
   * Creates tags without workspaces. A name given twice, in any case, is one tag.
   * @throws `not-found` for an unknown organization; `invalid` for an invalid name; `exists` for a name in use; nothing
   * is created then. A tag remains until it is deleted, even if no workspace has it: users of Terraform Enterprise see
   * both kinds
   */
  create(organizationName: string, tags: readonly NamedTag[]): Promise<Tag[]> {
    return edited(
      this.#ports,
      called(organizationName),
      async (edit) => {
        const fields = new Map(tags.map(({ name, field }) => [tagName(name, field), field]));
        const created: TagRecord[] = [];
        for (const [name, field] of fields) {
          if ((await edit.tags.keyOf(name)) !== undefined) throw nameTaken('a tag', name, field);
          created.push(await edit.addTag(name));
        }
        return created.map((tag) => printTag(edit.organization, tag));
      },
      { alone: isMany(tags) },
    );
  }

  /**
   * Deletes tags from the pool and from all workspaces, all of them or none.
   * @throws `not-found` for the organization, or naming a tag that does not exist: the API documentation requires that
   * tags to delete exist
   */
  delete(organizationName: string, ids: readonly string[]): Promise<void> {
    return edited(
      this.#ports,
      called(organizationName),
      async (edit) => {
        const tags = new Map<string, TagRecord>();
        const pace = new Pace();
        for (const id of ids) {
          tags.set(id, await edit.tag(id));
          await pace.step();
        }
        for (const tag of tags.values()) await edit.tags.remove(tag);
      },
      { alone: true },
    );
  }

  /**
   * Deletes those of the tags that no workspace and no key has. Tags that are already gone are ignored.
   * @returns the deleted tags
   * @throws `not-found` for an unknown organization
   */
  deleteUnused(organizationName: string, ids: readonly string[]): Promise<Tag[]> {
    return edited(
      this.#ports,
      called(organizationName),
      async (edit) => {
        const deleted: Tag[] = [];
        const pace = new Pace();
        const onKeys = new Set((await edit.allTaggedKeys()).flatMap(({ tags }) => tags));
        for (const id of new Set(ids)) {
          const address = addressIn(edit.organization, 'tag', id);
          const tag = address && (await edit.tags.get(address.key));
          await pace.step();
          if (tag === undefined || tag.instances > 0 || onKeys.has(tag.key)) continue;
          await edit.tags.remove(tag);
          deleted.push(printTag(edit.organization, tag));
        }
        return deleted;
      },
      { alone: true },
    );
  }

  /**
   * Renames a tag on all workspaces.
   * @param merge whether to merge into an existing tag of that name instead of failing
   * @param field request field to name in errors
   * @returns the tag with the new name
   * @throws `not-found`, `invalid` for an invalid name, `exists` if the name is taken
   * @see docs/decisions/0196
   */
  rename(which: Reference, newName: string, merge: boolean, field?: string): Promise<Tag> {
    return edited(
      this.#ports,
      found('tag', which),
      async (edit, tag) => {
        const name = tagName(newName, field);
        const takenBy = await edit.tags.keyOf(name);
        if (takenBy === tag.key) return printTag(edit.organization, tag);
        const other = takenBy === undefined ? undefined : await edit.tags.get(takenBy);
        if (other !== undefined && !merge)
          throw nameTaken('a tag', name, field, 'use --merge to merge the two tags');
        const renamed = other === undefined ? { ...tag, name } : await edit.mergeTag(tag, other);
        if (other === undefined) await edit.tags.replace(tag, renamed);
        return printTag(edit.organization, renamed);
      },
      { alone: true },
    );
  }

  /**
   * Adds the tag to workspaces, atomically. Workspaces that already have it are unchanged.
   * @throws `not-found` naming the tag, or a workspace that its organization does not have
   */
  attach(tagId: string, workspaceIds: readonly string[]): Promise<void> {
    return this.#onWorkspaces(tagId, workspaceIds, (edit, workspaceKey, tagKey) =>
      edit.attach(workspaceKey, [tagKey]),
    );
  }

  /**
   * Removes the tag from workspaces, atomically. It stays in the pool.
   * @throws `not-found` naming the tag, or a workspace that its organization does not have
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
    return changeWorkspaces(this.#ports, workspaceIds, ['tag', tagId], async (edit) => {
      const tag = await edit.tag(tagId);
      return (workspace) => change(edit, workspace.key, tag.key);
    });
  }
}

async function inOrder(table: RecordTable<TagRecord>, except: ReadonlySet<string>, page: PageRequest) {
  const named = await table.names(offsetOf(page), page.size, except);
  return { keys: named.map(({ key }) => key), total: table.total - except.size };
}

/** Returns the names of the tags in use, if only unused ones are wanted; otherwise none. */
async function namesInUse(
  view: View,
  organization: Organization,
  tags: RecordTable<TagRecord>,
  { unused }: TagQuery,
): Promise<ReadonlySet<string>> {
  if (unused === undefined) return new Set();
  const onKeys = new Set<string>();
  if (unused.sparesKeys) {
    const keys = await RecordTable.open<TaggedKeyRecord>(view, taggedKeysOf(organization));
    for (const key of await keys.all()) for (const tag of key.tags) onKeys.add(tag);
  }
  const used = (await tags.all()).filter(({ key, instances }) => instances > 0 || onKeys.has(key));
  return new Set(used.map(({ name }) => name));
}

/**
 * Returns the names of a workspace's tags; none for one of another organization, or an unknown one, whose tags must not
 * be revealed.
 */
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
