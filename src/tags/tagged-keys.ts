import { type CofferError, conflict } from '../ground/errors.ts';
import { Pace } from '../ground/pace.ts';
import type { Transaction, View } from '../store/store.ts';
import { bindingsOf, type NewBinding, withBindings, withoutBindings } from './bindings.ts';
import { addressOf, anyOf, parseIdentifier } from './names.ts';
import {
  ORGANIZATIONS,
  type Organization,
  organizationAt,
  organizationCalled,
  organizationRef,
  type Ports,
  type TaggedKeyRecord,
  type TagRecord,
  type TagReference,
  taggedKeysOf,
  tagsOf,
} from './organization.ts';
import { OrganizationEdit } from './organization-edit.ts';
import { RecordTable } from './record-table.ts';

/**
 * Tags of an organization on named transit keys. Only the location of a key is stored here. A key refers to its record,
 * so that a later key with the same name has none of its tags, and using a key requires no lookup.
 * @see docs/decisions/0303
 */

/** Location of a key: UUID of its mount, and its name there. */
interface KeyPlace {
  readonly mount: string;
  readonly name: string;
}

/** Tags of a key. */
export interface KeyTags {
  /** Name of the organization. */
  readonly organization: string;
  /** Sorted names of pool tags, then KEY=VALUE in insertion order. */
  readonly tags: readonly string[];
}

const nameOf = ({ mount, name }: KeyPlace): string => `${mount}/${name}`;

export class TaggedKeys {
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /**
   * Reads the tags of a key.
   * @param record record reference of the key
   * @returns undefined if it has none any more
   */
  async of(view: View, record: string): Promise<KeyTags | undefined> {
    const found = await recordAt(view, record);
    if (found === undefined) return undefined;
    const tags = await printed(await poolOf(view, found.organization), found.known);
    return tags.length === 0 ? undefined : { organization: found.organization.name, tags };
  }

  /**
   * Returns the names and records of a mount's keys that have all of the tags, unsorted. A key may be gone, or be a
   * different one by now.
   * @param wanted names of tags, with `*` as a wildcard, or KEY=VALUE; a name also matches a KEY with any value
   * @throws `not-found` for an unknown organization
   */
  async carrying(
    view: View,
    organizationName: string,
    mount: string,
    wanted: readonly string[],
  ): Promise<readonly { readonly name: string; readonly record: string }[]> {
    const organization = await organizationCalled(view, organizationName);
    const table = await RecordTable.open<TaggedKeyRecord>(view, taggedKeysOf(organization));
    const pool = await poolOf(view, organization);
    const tests = wanted.map((text) => anyOf([text]));
    const pace = new Pace();
    const found: { name: string; record: string }[] = [];
    for (const known of await table.all()) {
      if (!known.name.startsWith(`${mount}/`)) continue;
      await pace.step();
      const tags = await printed(pool, known);
      const keys = bindingsOf(known).map(({ key }) => key);
      if (!tests.every((fits) => [...tags, ...keys].some(fits))) continue;
      found.push({ name: known.name.slice(mount.length + 1), record: organization.home + known.key });
    }
    return found;
  }

  /**
   * Adds tags to a key, atomically. Names that are not in the pool are added to it.
   * @param at record reference of the key, if it has one; and the organization, which may be omitted if the key has one
   * @param texts identifiers and names of tags, and KEY=VALUE
   * @returns the record reference from now on
   * @throws `not-found` for the organization, or a tag that it does not have; `conflict` if the key has tags of another
   * one; `invalid` for a violated rule
   */
  async tag(
    tx: Transaction,
    place: KeyPlace,
    at: { readonly record: string | undefined; readonly organization: string },
    texts: readonly string[],
  ): Promise<string> {
    const organization = await organizationCalled(tx, at.organization);
    const before = at.record === undefined ? undefined : await recordAt(tx, at.record);
    const isElsewhere = before !== undefined && before.organization.home !== organization.home;
    if (isElsewhere) {
      const carried = await printed(await poolOf(tx, before.organization), before.known);
      if (carried.length > 0) throw otherOrganization(before.organization.name);
      await this.forget(tx, at.record ?? '');
    }
    const edit = await OrganizationEdit.open(tx, organization, this.#ports);
    const { references, bindings } = sorted(texts);
    const added = await edit.tagsFor(references);
    const keys = await edit.taggedKeys();
    const known = (isElsewhere ? undefined : before?.known) ?? (await freshRecord(edit, nameOf(place)));
    const tags = await edit.tags.living([...new Set([...known.tags, ...added])]);
    await keys.replace(known, {
      ...known,
      tags,
      bindings: withBindings(bindingsOf(known), bindings, edit.now),
    });
    await edit.save();
    return organization.home + known.key;
  }

  /**
   * Removes tags from a key; tags that it does not have are ignored.
   * @param texts identifiers and names of tags, and KEY=VALUE
   * @throws `not-found` for an identifier that its organization does not have
   */
  async untag(tx: Transaction, record: string, texts: readonly string[]): Promise<void> {
    const before = await recordAt(tx, record);
    if (before === undefined) return;
    const { organization, known } = before;
    const edit = await OrganizationEdit.open(tx, organization, this.#ports);
    const { references, bindings } = sorted(texts);
    const removed = new Set(await edit.existingTagsFor(references));
    const tags = await edit.tags.living(known.tags.filter((key) => !removed.has(key)));
    const unbound = bindings.filter(({ key, value }) =>
      bindingsOf(known).some((own) => own.key === key && own.value === value),
    );
    const left = withoutBindings(bindingsOf(known), new Set(unbound.map(({ key }) => key)));
    const keys = await edit.taggedKeys();
    if (tags.length + left.length === 0) await keys.remove(known);
    else await keys.replace(known, { ...known, tags, bindings: left });
    await edit.save();
  }

  /** Deletes the records of a removed mount's keys. */
  async forgetMount(mount: string): Promise<void> {
    const { store } = this.#ports;
    for (const name of await store.read((view) => view.list(ORGANIZATIONS))) {
      const ofMount = async (view: View) => {
        const organization = await view.get<Organization>(organizationRef(name));
        if (organization === undefined) return undefined;
        const table = await RecordTable.open<TaggedKeyRecord>(view, taggedKeysOf(organization));
        const gone = (await table.all()).filter((known) => known.name.startsWith(`${mount}/`));
        return gone.length === 0 ? undefined : { organization, gone };
      };
      if ((await store.read(ofMount)) === undefined) continue;
      await store.transact(async (tx) => {
        const found = await ofMount(tx);
        if (found === undefined) return;
        const edit = await OrganizationEdit.open(tx, found.organization, this.#ports);
        const keys = await edit.taggedKeys();
        for (const known of found.gone) await keys.remove(known);
        await edit.save();
      });
    }
  }

  /** Deletes the record of a deleted key. */
  async forget(tx: Transaction, record: string): Promise<void> {
    const found = await recordAt(tx, record);
    if (found === undefined) return;
    const edit = await OrganizationEdit.open(tx, found.organization, this.#ports);
    await (await edit.taggedKeys()).remove(found.known);
    await edit.save();
  }
}

async function recordAt(view: View, record: string) {
  const { home, key } = addressOf(record);
  const organization = await organizationAt(view, home);
  if (organization === undefined) return undefined;
  const table = await RecordTable.open<TaggedKeyRecord>(view, taggedKeysOf(organization));
  const known = await table.get(key);
  return known && { organization, known };
}

/** Creates a record; deletes that of an earlier key with the same name. */
async function freshRecord(edit: OrganizationEdit, name: string): Promise<TaggedKeyRecord> {
  const keys = await edit.taggedKeys();
  const taken = await keys.keyOf(name);
  const orphan = taken === undefined ? undefined : await keys.get(taken);
  if (orphan !== undefined) await keys.remove(orphan);
  const record: TaggedKeyRecord = { key: await keys.freshKey(), name, tags: [] };
  await keys.add(record);
  return record;
}

const poolOf = (view: View, organization: Organization): Promise<RecordTable<TagRecord>> =>
  RecordTable.open<TagRecord>(view, tagsOf(organization));

async function printed(pool: RecordTable<TagRecord>, known: TaggedKeyRecord): Promise<readonly string[]> {
  const names = (await pool.getAll(known.tags)).map(({ name }) => name).sort();
  return [...names, ...bindingsOf(known).map(({ key, value }) => `${key}=${value}`)];
}

/** Separates tag references from KEY=VALUE: names of pool tags contain no `=`. */
function sorted(texts: readonly string[]): {
  readonly references: readonly TagReference[];
  readonly bindings: readonly NewBinding[];
} {
  const references: TagReference[] = [];
  const bindings: NewBinding[] = [];
  for (const text of texts) {
    const sign = text.indexOf('=');
    if (sign >= 0) bindings.push({ key: text.slice(0, sign), value: text.slice(sign + 1) });
    else references.push(parseIdentifier('tag', text) === undefined ? { name: text } : { id: text });
  }
  return { references, bindings };
}

const otherOrganization = (name: string): CofferError =>
  conflict(`the key has tags of the organization ${name}`, {
    field: 'organization',
    hint: 'remove these tags first: all tags of a key must belong to one organization',
  });
