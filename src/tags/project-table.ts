import type { Random } from '../ground/random.ts';
import type { Transaction, View } from '../store/store.ts';
import { parseIdentifier, type RecordAddress } from './identifiers.ts';
import {
  defaultProject,
  defaultProjectKey,
  type Organization,
  type ProjectRecord,
  projectsOf,
} from './organization.ts';
import { RecordTable } from './record-table.ts';
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

  async called(name: string): Promise<ProjectRecord | undefined> {
    const key = await this.#table.keyOf(name);
    if (key !== undefined) return this.#table.get(key);
    const usual = this.#unwritten(defaultProjectKey(this.organization));
    return usual?.name === name ? usual : undefined;
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
