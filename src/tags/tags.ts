/** Organizations, their workspaces, and each organization's pool of tags. */

import { Pace } from '../ground/pace.ts';
import { BoundTags } from './bound-tags.ts';
import { NameSearches } from './name-search.ts';
import { parseAnyIdentifier, plainName } from './names.ts';
import { organizationAt, type Ports } from './organization.ts';
import { edited, type OrganizationEdit } from './organization-edit.ts';
import { Organizations } from './organizations.ts';
import { Projects } from './projects.ts';
import { RemoteStateConsumers } from './remote-state-consumers.ts';
import { ReservedKeys } from './reserved-keys.ts';
import { called } from './surroundings.ts';
import { TagPool } from './tag-pool.ts';
import { TaggedKeys } from './tagged-keys.ts';
import { WorkspaceIndexes } from './workspace-index.ts';
import { Workspaces } from './workspaces.ts';

/** Entry of a bulk load: a tag for the pool, or a workspace with the names of its tags. */
export type LoadEntry =
  | { readonly tag: string }
  | { readonly workspace: string; readonly tags: readonly string[] };

/** Entry point of this module, over one store. */
export class Tags {
  readonly organizations: Organizations;
  readonly pool: TagPool;
  readonly workspaces: Workspaces;
  readonly projects: Projects;
  readonly bound: BoundTags;
  readonly reservedKeys: ReservedKeys;
  readonly keys: TaggedKeys;
  readonly stateConsumers: RemoteStateConsumers;
  readonly #ports: Ports;

  constructor(ports: Ports) {
    const searches = new NameSearches();
    const indexes = new WorkspaceIndexes();
    this.#ports = ports;
    this.organizations = new Organizations(ports);
    this.pool = new TagPool(ports, searches);
    this.workspaces = new Workspaces(ports, searches, indexes);
    this.projects = new Projects(ports);
    this.bound = new BoundTags(ports, indexes);
    this.reservedKeys = new ReservedKeys(ports);
    this.keys = new TaggedKeys(ports);
    this.stateConsumers = new RemoteStateConsumers(ports);
  }

  /**
   * Returns the name of an identifier's organization, whether or not the resource exists; undefined if there is none.
   */
  async organizationOf(identifier: string): Promise<string | undefined> {
    const address = parseAnyIdentifier(identifier);
    if (address === undefined) return undefined;
    const organization = await this.#ports.store.read((view) => organizationAt(view, address.home));
    return organization?.name;
  }

  /**
   * Adds tags and tagged workspaces to an organization, any number of them in constant memory. Existing ones stay, so
   * an interrupted load can be repeated from the start.
   * @throws `not-found` for an unknown organization; `invalid` for an invalid name; entries long before the invalid one
   * may be loaded then
   */
  async load(organizationName: string, entries: AsyncIterable<LoadEntry> | Iterable<LoadEntry>) {
    // Including existing entries.
    const loaded = { tags: 0, workspaces: 0, attachments: 0 };
    let waiting: LoadEntry[] = [];
    let weight = 0;
    for await (const entry of entries) {
      waiting.push(entry);
      weight += weightOf(entry);
      if ('tag' in entry) loaded.tags++;
      else {
        loaded.workspaces++;
        loaded.attachments += entry.tags.length;
      }
      if (weight < NAMES_AT_ONCE) continue;
      await loadSome(this.#ports, organizationName, waiting);
      waiting = [];
      weight = 0;
    }
    await loadSome(this.#ports, organizationName, waiting);
    return loaded;
  }
}

/** Number of names per transaction: enough that each document is written only a few times in a large load. */
const NAMES_AT_ONCE = 50_000;

const weightOf = (entry: LoadEntry): number => ('tag' in entry ? 1 : 1 + entry.tags.length);

function loadSome(ports: Ports, organizationName: string, entries: readonly LoadEntry[]): Promise<void> {
  return edited(
    ports,
    called(organizationName),
    async (edit) => {
      const pace = new Pace();
      for (const entry of entries) {
        await pace.step();
        if ('tag' in entry) await edit.tagsFor([{ name: entry.tag }]);
        else await loadWorkspace(edit, entry.workspace, entry.tags);
      }
    },
    { alone: true },
  );
}

async function loadWorkspace(edit: OrganizationEdit, name: string, tags: readonly string[]): Promise<void> {
  plainName(name);
  const key =
    (await edit.workspaces.keyOf(name)) ??
    (await edit.addWorkspace(name, { description: null }, undefined)).key;
  await edit.attach(key, await edit.tagsFor(tags.map((tag) => ({ name: tag }))));
}
