import type { View } from '../store/store.ts';
import { bindingsOf, type EffectiveBinding, effectiveBindings } from './bindings.ts';
import {
  type Organization,
  type ProjectRecord,
  type ReservedKeyRecord,
  reservedKeysOf,
  type TagRecord,
  tagsOf,
  type WorkspaceRecord,
} from './organization.ts';
import { ProjectTable } from './project-table.ts';
import { RecordTable } from './record-table.ts';
import { DEFAULT_EXECUTION_MODE, type ExecutionMode } from './workspace-settings.ts';

/**
 * Context for formatting and searching workspaces: tags, projects and reserved keys of their organization, in one view.
 */
export class Surroundings {
  readonly organization: Organization;
  readonly tags: RecordTable<TagRecord>;
  readonly projects: ProjectTable;
  /** Reserved keys that workspaces cannot override. */
  readonly fixedKeys: ReadonlySet<string>;

  private constructor(
    organization: Organization,
    tags: RecordTable<TagRecord>,
    projects: ProjectTable,
    fixedKeys: ReadonlySet<string>,
  ) {
    this.organization = organization;
    this.tags = tags;
    this.projects = projects;
    this.fixedKeys = fixedKeys;
  }

  static async open(view: View, organization: Organization): Promise<Surroundings> {
    const tags = await RecordTable.open<TagRecord>(view, tagsOf(organization));
    const projects = await ProjectTable.open(view, organization);
    return new Surroundings(organization, tags, projects, await fixedKeysOf(view, organization));
  }

  /** Returns the effective tags of a workspace. */
  async bindings(workspace: WorkspaceRecord): Promise<readonly EffectiveBinding[]> {
    const project = await this.projects.of(workspace);
    return effectiveBindings(bindingsOf(workspace), bindingsOf(project), this.fixedKeys);
  }

  async executionMode(workspace: WorkspaceRecord): Promise<ExecutionMode> {
    return workspace.executionMode ?? this.projectExecutionMode(await this.projects.of(workspace));
  }

  projectExecutionMode({ executionMode }: ProjectRecord): ExecutionMode {
    return executionMode ?? this.organization.executionMode ?? DEFAULT_EXECUTION_MODE;
  }
}

/** Reads the names of the reserved keys that workspaces cannot override. */
async function fixedKeysOf(view: View, organization: Organization): Promise<ReadonlySet<string>> {
  const table = await RecordTable.open<ReservedKeyRecord>(view, reservedKeysOf(organization));
  if (table.total === 0) return NONE;
  const keys = await table.all();
  return new Set(keys.filter(({ disableOverrides }) => disableOverrides).map(({ name }) => name));
}

const NONE: ReadonlySet<string> = new Set();
