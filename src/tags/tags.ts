import { type BulkLoad, bulkLoad, type LoadEntry } from './bulk-load.ts';
import { parseAnyIdentifier } from './identifiers.ts';
import { NameSearches } from './name-search.ts';
import { organizationAt, type Ports } from './organization.ts';
import { Organizations } from './organizations.ts';
import { TagPool } from './tag-pool.ts';
import { Workspaces } from './workspaces.ts';

/** Organizations, their workspaces, and the pool of tags that each organization has for them. */
export class Tags {
  readonly organizations: Organizations;
  readonly pool: TagPool;
  readonly workspaces: Workspaces;
  readonly #ports: Ports;

  constructor(ports: Ports) {
    const searches = new NameSearches();
    this.#ports = ports;
    this.organizations = new Organizations(ports);
    this.pool = new TagPool(ports, searches);
    this.workspaces = new Workspaces(ports, searches);
  }

  /**
   * The name of the organization that an identifier leads to, whether or not the tag or workspace itself is there;
   * undefined when it leads to none.
   */
  async organizationOf(identifier: string): Promise<string | undefined> {
    const address = parseAnyIdentifier(identifier);
    if (address === undefined) return undefined;
    const organization = await this.#ports.store.read((view) => organizationAt(view, address.home));
    return organization?.name;
  }

  /**
   * Adds tags and tagged workspaces to an organization, any number of them in constant memory. What is there already
   * is kept, so a load that was cut short can be given again from the start.
   * @throws `not-found` for an unknown organization, `invalid` for a name against the rules; what came long before the
   * bad entry may be in then.
   */
  load(organizationName: string, entries: AsyncIterable<LoadEntry> | Iterable<LoadEntry>): Promise<BulkLoad> {
    return bulkLoad(this.#ports, organizationName, entries);
  }
}
