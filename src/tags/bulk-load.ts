import { Pace } from '../ground/pace.ts';
import { plainName } from './names.ts';
import { organizationCalled, type Ports } from './organization.ts';
import { OrganizationEdit } from './organization-edit.ts';

/** A tag for the pool, or a workspace with the names of tags on it. */
export type LoadEntry =
  | { readonly tag: string }
  | { readonly workspace: string; readonly tags: readonly string[] };

/** What a load found in its entries, new or not. */
export interface BulkLoad {
  readonly tags: number;
  readonly workspaces: number;
  readonly attachments: number;
}

/** Names in one transaction: enough that each document is written only a few times over a large load. */
const NAMES_AT_ONCE = 50_000;

const weightOf = (entry: LoadEntry): number => ('tag' in entry ? 1 : 1 + entry.tags.length);

export async function bulkLoad(
  ports: Ports,
  organizationName: string,
  entries: AsyncIterable<LoadEntry> | Iterable<LoadEntry>,
): Promise<BulkLoad> {
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
    await loadSome(ports, organizationName, waiting);
    waiting = [];
    weight = 0;
  }
  await loadSome(ports, organizationName, waiting);
  return loaded;
}

function loadSome(ports: Ports, organizationName: string, entries: readonly LoadEntry[]): Promise<void> {
  return ports.store.transact(async (tx) => {
    const organization = await organizationCalled(tx, organizationName);
    const edit = await OrganizationEdit.open(tx, organization, ports);
    const pace = new Pace();
    for (const entry of entries) {
      await pace.step();
      if ('tag' in entry) await edit.tagsFor([{ name: entry.tag }]);
      else await loadWorkspace(edit, entry.workspace, entry.tags);
    }
    await edit.save();
  });
}

async function loadWorkspace(edit: OrganizationEdit, name: string, tags: readonly string[]): Promise<void> {
  plainName(name);
  const key = (await edit.workspaces.keyOf(name)) ?? (await edit.addWorkspace(name, null, undefined)).key;
  await edit.attach(key, await edit.tagsFor(tags.map((tag) => ({ name: tag }))));
}
