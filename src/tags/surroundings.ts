import type { CofferError } from '../ground/errors.ts';
import type { Random } from '../ground/random.ts';
import type { Transaction, View } from '../store/store.ts';
import { foldCase, parseIdentifier, type RecordAddress } from './names.ts';
import {
  defaultProject,
  defaultProjectKey,
  type Organization,
  organizationAt,
  organizationCalled,
  type Ports,
  type ProjectRecord,
  projectNotFound,
  projectsOf,
  type Reference,
  type ReservedKeyRecord,
  reservedKeyNotFound,
  reservedKeysOf,
  type TagRecord,
  tagNotFound,
  tagsOf,
  type WorkspaceRecord,
  workspaceNotFound,
  workspacesOf,
} from './organization.ts';
import { RecordTable, type TableRecord } from './record-table.ts';
import { RecordTableEdit } from './record-table-edit.ts';

/** Projects of an organization, including the default one, which need not be stored. */
export class ProjectTable {
  readonly organization: Organization;
  readonly #table: RecordTable<ProjectRecord>;

  private constructor(organization: Organization, table: RecordTable<ProjectRecord>) {
    this.organization = organization;
    this.#table = table;
  }

  static async open(view: View, organization: Organization): Promise<ProjectTable> {
    return new ProjectTable(
      organization,
      await RecordTable.open<ProjectRecord>(view, projectsOf(organization)),
    );
  }

  async get(key: string): Promise<ProjectRecord | undefined> {
    return (await this.#table.get(key)) ?? this.#unwritten(key);
  }

  /** Returns the project of a workspace. */
  async of({ project }: { readonly project?: string | undefined }): Promise<ProjectRecord> {
    const { organization } = this;
    const found = project === undefined ? undefined : await this.get(project);
    return found ?? (await this.get(defaultProjectKey(organization))) ?? defaultProject(organization);
  }

  async keyOf(name: string): Promise<string | undefined> {
    const key = await this.#table.keyOf(name);
    if (key !== undefined) return key;
    const usual = this.#unwritten(defaultProjectKey(this.organization));
    return usual?.name === name ? usual.key : undefined;
  }

  /** Returns all projects: the default one first, as Terraform's provider expects, then the others sorted by name. */
  async all(): Promise<ProjectRecord[]> {
    const key = defaultProjectKey(this.organization);
    const others = (await this.#table.all()).filter((project) => project.key !== key);
    others.sort((a, b) => (a.name < b.name ? -1 : 1));
    const usual = await this.get(key);
    return usual === undefined ? others : [usual, ...others];
  }

  /** Returns the default project if it is not stored; it is stored together with the first other one. */
  #unwritten(key: string): ProjectRecord | undefined {
    if (this.#table.total > 0 || key !== defaultProjectKey(this.organization)) return undefined;
    return defaultProject(this.organization);
  }
}

/** Opens the table in a transaction, for changes. */
export async function editProjects(
  tx: Transaction,
  organization: Organization,
  random: Random,
): Promise<RecordTableEdit<ProjectRecord>> {
  const table = await RecordTableEdit.open<ProjectRecord>(tx, projectsOf(organization), random);
  if ((await table.get(defaultProjectKey(organization))) === undefined) {
    await table.add(defaultProject(organization));
  }
  return table;
}

/** Parses an identifier of this organization; undefined for one of another. */
export function addressIn(
  { home }: Organization,
  kind: 'tag' | 'ws' | 'prj' | 'rtk',
  id: string,
): RecordAddress | undefined {
  const address = parseIdentifier(kind, id);
  return address?.home === home ? address : undefined;
}

/**
 * Context for formatting and searching workspaces: tags, projects and reserved keys of their organization, in one view.
 */
export type Surroundings = Awaited<ReturnType<typeof surroundingsOf>>;

export async function surroundingsOf(view: View, organization: Organization) {
  return {
    organization,
    tags: await RecordTable.open<TagRecord>(view, tagsOf(organization)),
    projects: await ProjectTable.open(view, organization),
    /** Reserved keys that workspaces cannot override. */
    fixedKeys: await fixedKeysOf(view, organization),
  };
}

/** Reads the names of the reserved keys that workspaces cannot override. */
async function fixedKeysOf(view: View, organization: Organization): Promise<ReadonlySet<string>> {
  const table = await RecordTable.open<ReservedKeyRecord>(view, reservedKeysOf(organization));
  if (table.total === 0) return NONE;
  const keys = await table.all();
  return new Set(keys.filter(({ disableOverrides }) => disableOverrides).map(({ name }) => name));
}

const NONE: ReadonlySet<string> = new Set();

/** Records that requests refer to, by the prefix of their identifiers. */
interface FoundRecords {
  readonly tag: TagRecord;
  readonly ws: WorkspaceRecord;
  readonly prj: ProjectRecord;
  readonly rtk: ReservedKeyRecord;
}

interface FoundKind<R> {
  readonly open: (
    view: View,
    organization: Organization,
  ) => Promise<Pick<RecordTable<R & TableRecord>, 'get' | 'keyOf'>>;
  readonly notFound: (id: string) => CofferError;
  /** Normalizes a name. */
  readonly named?: (name: string) => string;
}

const KINDS: { readonly [K in keyof FoundRecords]: FoundKind<FoundRecords[K]> } = {
  tag: { open: (view, of) => RecordTable.open(view, tagsOf(of)), notFound: tagNotFound, named: foldCase },
  ws: { open: (view, of) => RecordTable.open(view, workspacesOf(of)), notFound: workspaceNotFound },
  prj: { open: ProjectTable.open, notFound: projectNotFound },
  rtk: { open: (view, of) => RecordTable.open(view, reservedKeysOf(of)), notFound: reservedKeyNotFound },
};

interface InOrganization<R> {
  readonly organization: Organization;
  readonly record: R;
}

export type Find<R> = (view: View) => Promise<InOrganization<R>>;

/**
 * Finds a record with its organization.
 * @throws `not-found` also for an unknown organization
 */
export async function findRecord<K extends keyof FoundRecords>(
  view: View,
  kind: K,
  reference: Reference,
): Promise<InOrganization<FoundRecords[K]>> {
  const { open, notFound, named = String } = KINDS[kind];
  const isId = 'id' in reference;
  const organization = isId
    ? await organizationOf(view, kind, reference.id)
    : await organizationCalled(view, reference.organization);
  const table = await open(view, organization);
  const key = isId ? parseIdentifier(kind, reference.id)?.key : await table.keyOf(named(reference.name));
  const record = key === undefined ? undefined : await table.get(key);
  if (record === undefined) throw notFound(isId ? reference.id : reference.name);
  return { organization, record };
}

/** Returns what finds a record, or throws as `findRecord`. */
export const found =
  <K extends keyof FoundRecords>(kind: K, reference: Reference): Find<FoundRecords[K]> =>
  (view) =>
    findRecord(view, kind, reference);

/** Returns what finds an organization by its name, or throws `not-found`. */
export const called =
  (name: string): Find<undefined> =>
  async (view) => ({ organization: await organizationCalled(view, name), record: undefined });

/** Reads something of an organization. */
export const reading = <R, T>(
  { store }: Ports,
  find: Find<R>,
  read: (organization: Organization, record: R, view: View) => T | Promise<T>,
): Promise<T> =>
  store.read(async (view) => {
    const { organization, record } = await find(view);
    return read(organization, record, view);
  });

/**
 * Finds the organization of an identifier.
 * @throws `not-found` for the record
 */
export async function organizationOf(
  view: View,
  kind: keyof FoundRecords,
  id: string,
): Promise<Organization> {
  const address = parseIdentifier(kind, id);
  const organization = address && (await organizationAt(view, address.home));
  if (organization === undefined) throw KINDS[kind].notFound(id);
  return organization;
}
