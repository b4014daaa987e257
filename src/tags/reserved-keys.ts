import type { Transaction } from '../store/store.ts';
import { bindingKey, keyTaken } from './bindings.ts';
import { printIdentifier } from './names.ts';
import {
  type Organization,
  organizationCalled,
  type Ports,
  type Reference,
  type ReservedKeyRecord,
  reservedKeysOf,
} from './organization.ts';
import { offsetOf, type Page, type PageRequest, RecordTable } from './record-table.ts';
import { RecordTableEdit } from './record-table-edit.ts';
import { called, findRecord, found, reading } from './surroundings.ts';

export type ReservedKey = ReturnType<typeof printReservedKey>;

interface ReservedKeyChange {
  readonly key?: string | undefined;
  readonly disableOverrides?: boolean | undefined;
}

/** Reserved tag keys of an organization, which may prevent workspaces from overriding their project's value. */
export class ReservedKeys {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /**
   * Lists one page, sorted by key.
   * @throws `not-found` for an unknown organization
   */
  list(organizationName: string, page: PageRequest): Promise<Page<ReservedKey>> {
    return reading(this.#ports, called(organizationName), async (organization, _, view) => {
      const table = await RecordTable.open<ReservedKeyRecord>(view, reservedKeysOf(organization));
      const named = await table.names(offsetOf(page), page.size);
      const records = await table.getAll(named.map(({ key }) => key));
      return {
        ...page,
        items: records.map((key) => printReservedKey(organization, key)),
        total: table.total,
      };
    });
  }

  /**
   * Finds a reserved key.
   * @throws `not-found`
   */
  get(reference: Reference): Promise<ReservedKey> {
    return reading(this.#ports, found('rtk', reference), printReservedKey);
  }

  /**
   * Creates a reserved key.
   * @param field place of the key in the request, for errors
   * @throws `not-found` for an unknown organization; `invalid` for an invalid key; `exists` if it is already reserved
   */
  create(
    organizationName: string,
    key: string,
    disableOverrides: boolean,
    field?: string,
  ): Promise<ReservedKey> {
    return this.#ports.store.transact(async (tx) => {
      const organization = await organizationCalled(tx, organizationName);
      bindingKey(key, field);
      const { clock, random } = this.#ports;
      const table = await RecordTableEdit.open<ReservedKeyRecord>(tx, reservedKeysOf(organization), random);
      if ((await table.keyOf(key)) !== undefined) throw keyTaken(key, field);
      const now = clock.now();
      const record = {
        key: await table.freshKey(),
        name: key,
        disableOverrides,
        createdAt: now,
        updatedAt: now,
      };
      await table.add(record);
      await table.save();
      return printReservedKey(organization, record);
    });
  }

  /**
   * Changes a reserved key.
   * @throws `not-found`; `invalid` and `exists` as `create`
   */
  update(reference: Reference, change: ReservedKeyChange, field?: string): Promise<ReservedKey> {
    return this.#edit(reference, async (table, before, organization) => {
      const { key: name = before.name, disableOverrides = before.disableOverrides } = change;
      bindingKey(name, field);
      if (name !== before.name && (await table.keyOf(name)) !== undefined) throw keyTaken(name, field);
      const updated = { ...before, name, disableOverrides, updatedAt: this.#ports.clock.now() };
      await table.replace(before, updated);
      return printReservedKey(organization, updated);
    });
  }

  /**
   * Deletes a reserved key; existing tags with it stay.
   * @throws `not-found`
   */
  delete(reference: Reference): Promise<void> {
    return this.#edit(reference, (table, before) => table.remove(before));
  }

  #edit<T>(
    reference: Reference,
    change: (
      table: RecordTableEdit<ReservedKeyRecord>,
      before: ReservedKeyRecord,
      organization: Organization,
    ) => Promise<T>,
  ): Promise<T> {
    return this.#ports.store.transact(async (tx: Transaction) => {
      const { organization, record } = await findRecord(tx, 'rtk', reference);
      const { random } = this.#ports;
      const table = await RecordTableEdit.open<ReservedKeyRecord>(tx, reservedKeysOf(organization), random);
      const result = await change(table, record, organization);
      await table.save();
      return result;
    });
  }
}

const printReservedKey = (organization: Organization, record: ReservedKeyRecord) => ({
  /** `rtk-` and 16 letters and digits. */
  id: printIdentifier('rtk', { home: organization.home, key: record.key }),
  key: record.name,
  disableOverrides: record.disableOverrides,
  /** In milliseconds since the Unix epoch. */
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
  /** Name of the organization. */
  organization: organization.name,
});
