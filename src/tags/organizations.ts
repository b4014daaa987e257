import { refusedAs } from '../ground/errors.ts';
import type { DocumentRef, Transaction } from '../store/store.ts';
import { nameTaken, newExternalId, newHome, plainName } from './names.ts';
import {
  homeRef,
  ORGANIZATIONS,
  type Organization,
  organizationCalled,
  organizationRef,
  type Ports,
  tablesOf,
  tagsOf,
  workspacesOf,
} from './organization.ts';
import { RecordTableEdit } from './record-table-edit.ts';
import { changedOrganizationSettings, type ExecutionMode, type OrganizationSettings } from './settings.ts';

const DELETED = 'tags/deleted-organizations';
/** Number of documents of a deleted organization deleted per transaction, so that other writers do not wait long. */
const CLEARED_AT_ONCE = 256;

interface NewOrganization {
  readonly name: string;
  readonly email: string | null;
  readonly settings?: Partial<OrganizationSettings>;
  readonly executionMode?: ExecutionMode | undefined;
  /** Place of the name in the request, for errors. */
  readonly field?: string;
}

/** Change of an organization; absent members stay unchanged. */
interface OrganizationChange {
  readonly name?: string | undefined;
  readonly email?: string | null | undefined;
  readonly settings?: Partial<OrganizationSettings>;
  /** Null: the default. */
  readonly executionMode?: ExecutionMode | null | undefined;
}

/** Organizations of a store. */
export class Organizations {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /**
   * Creates an organization.
   * @throws `invalid` for an invalid name; `exists` if it is taken
   */
  create({ name, email, settings, executionMode, field }: NewOrganization): Promise<Organization> {
    plainName(name, field);
    const { store, clock, random } = this.#ports;
    return store.transact(async (tx) => {
      await requireFree(tx, name, field);
      const organization: Organization = {
        name,
        email,
        externalId: newExternalId(random),
        home: await this.#freeHome(tx),
        createdAt: clock.now(),
        ...withSettings(changedOrganizationSettings(undefined, settings ?? {})),
        executionMode,
      };
      putOrganization(tx, organization);
      RecordTableEdit.create(tx, tagsOf(organization), random);
      RecordTableEdit.create(tx, workspacesOf(organization), random);
      return organization;
    });
  }

  /**
   * Changes an organization. After renaming, identifiers stay valid; paths that contain the name do not.
   * @param field place of the name in the request, for errors
   * @throws `not-found`; `invalid` for an invalid name; `exists` if it is taken
   */
  update(name: string, change: OrganizationChange, field?: string): Promise<Organization> {
    return this.#ports.store.transact(async (tx) => {
      const { executionMode: before, settings, ...rest } = await organizationCalled(tx, name);
      const { name: after = name, email = rest.email, executionMode = before } = change;
      if (after !== name) {
        plainName(after, field);
        await requireFree(tx, after, field);
        tx.delete(organizationRef(name));
      }
      const updated: Organization = {
        ...rest,
        name: after,
        email,
        ...withSettings(changedOrganizationSettings(settings, change.settings ?? {})),
        executionMode: executionMode ?? undefined,
      };
      putOrganization(tx, updated);
      return updated;
    });
  }

  /**
   * Finds an organization.
   * @throws `not-found`
   */
  get(name: string): Promise<Organization> {
    return this.#ports.store.read((view) => organizationCalled(view, name));
  }

  /** Lists all organizations, sorted by name. */
  list(): Promise<Organization[]> {
    return this.#ports.store.read(async (view) => {
      const names = await view.list(ORGANIZATIONS);
      return Promise.all(names.map((name) => organizationCalled(view, name)));
    });
  }

  /**
   * Deletes an organization with its workspaces and tags. All of them are inaccessible at once; their documents are
   * deleted in pieces, by this call or the next one.
   * @throws `not-found`
   */
  async delete(name: string): Promise<void> {
    await this.#ports.store.transact(async (tx) => {
      const organization = await organizationCalled(tx, name);
      tx.delete(organizationRef(name));
      tx.delete(homeRef(organization.home));
      tx.put(deletedRef(organization.externalId), organization);
    });
    // The organization is already deleted; a full or failing disk must not be reported as a failure of that.
    await this.#clearDeleted().catch(refusedAs(undefined));
  }

  async #clearDeleted(): Promise<void> {
    const { store } = this.#ports;
    for (const externalId of await store.read((view) => view.list(DELETED))) {
      while (await store.transact((tx) => clearSome(tx, externalId), { alone: true }));
    }
  }

  async #freeHome(tx: Transaction): Promise<string> {
    for (;;) {
      const home = newHome(this.#ports.random);
      if ((await tx.get(homeRef(home))) === undefined) return home;
    }
  }
}

const withSettings = (settings: Partial<OrganizationSettings> | undefined) =>
  settings === undefined ? {} : { settings };

/** Stores an organization by name and by its prefix of identifiers. */
async function requireFree(tx: Transaction, name: string, field: string | undefined): Promise<void> {
  if ((await tx.get(organizationRef(name))) !== undefined) throw nameTaken('an organization', name, field);
}

function putOrganization(tx: Transaction, organization: Organization): void {
  tx.put(organizationRef(organization.name), organization);
  tx.put(homeRef(organization.home), organization);
}

const deletedRef = (externalId: string): DocumentRef => ({ collection: DELETED, id: externalId });

/**
 * Deletes some documents of a deleted organization.
 * @returns whether more are left
 */
async function clearSome(tx: Transaction, externalId: string): Promise<boolean> {
  const organization = await tx.get<Organization>(deletedRef(externalId));
  if (organization === undefined) return false;
  for (const { collection } of tablesOf(organization)) {
    const ids = await tx.list(collection, { limit: CLEARED_AT_ONCE });
    for (const id of ids) tx.delete({ collection, id });
    if (ids.length > 0) return true;
  }
  tx.delete(deletedRef(externalId));
  return false;
}
