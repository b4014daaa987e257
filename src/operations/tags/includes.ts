import type { Project } from '../../tags/projects.ts';
import type { Workspace } from '../../tags/workspaces.ts';
import type { Call } from '../declaration/operation.ts';
import { includeParam } from '../json-api/params.ts';
import {
  bindingResource,
  effectiveBindingsOf,
  effectiveBindingsOfProject,
  organizationResource,
  projectResource,
  type ShownBindings,
} from './documents.ts';
import { seesBindings } from './sights.ts';

/** `include`: resources included with workspaces and projects, as far as the caller may see them. */

/** Relationships of a workspace to runs, states and others that do not exist: nothing is included for them. */
const EMPTY = [
  'current_configuration_version',
  'current_configuration_version.ingress_attributes',
  'current_run',
  'current_run.configuration_version',
  'current_run.configuration_version.ingress_attributes',
  'current_run.plan',
  'current_state_version',
  'current_state_version.outputs',
  'locked_by',
  'outputs',
  'readme',
];

const OWN = 'tag_bindings';
const EFFECTIVE = 'effective_tag_bindings';

export const workspaceIncludes = includeParam(['organization', 'project', OWN, EFFECTIVE, ...EMPTY]);
export const projectIncludes = includeParam(['organization', OWN, EFFECTIVE]);
export const organizationIncludes = includeParam(['default_project']);

type Words = readonly string[] | undefined;

const has = (include: Words, word: string): boolean => include?.includes(word) ?? false;

/** Returns the requested tags of a workspace. */
export function shownOf(call: Call, workspace: Workspace, include: Words): ShownBindings {
  if (!has(include, OWN) && !has(include, EFFECTIVE)) return {};
  if (!seesBindings(call, 'workspaces', workspace)) return {};
  return {
    own: has(include, OWN)
      ? workspace.bindings.map((binding) => bindingResource(workspace.id, binding))
      : undefined,
    effective: has(include, EFFECTIVE) ? effectiveBindingsOf(workspace) : undefined,
  };
}

/** Returns the requested tags of a project, which only has its own. */
export function shownOfProject(call: Call, project: Project, include: Words): ShownBindings {
  if (!has(include, OWN) && !has(include, EFFECTIVE)) return {};
  if (!seesBindings(call, 'projects', project)) return {};
  const { id, bindings } = project;
  return {
    own: has(include, OWN) ? bindings.map((binding) => bindingResource(id, binding)) : undefined,
    effective: has(include, EFFECTIVE) ? effectiveBindingsOfProject(project) : undefined,
  };
}

/** Returns the resources to include with workspaces, each once; undefined if none were requested. */
export async function besideWorkspaces(
  call: Call,
  workspaces: readonly Workspace[],
  include: Words,
): Promise<readonly object[] | undefined> {
  if (include === undefined) return undefined;
  const found = new Map<string, object>();
  const add = (resource: { readonly id: string; readonly type: string }): void => {
    found.set(`${resource.type} ${resource.id}`, resource);
  };
  const { organizations, projects } = await call.core.tags();
  for (const workspace of workspaces) {
    const { organization, project } = workspace;
    const path = `organizations/${organization}`;
    if (has(include, 'organization') && !found.has(`organizations ${organization}`)) {
      if (call.caller.may(path, 'read')) {
        add(organizationResource(call, await organizations.get(organization)));
      }
    }
    if (has(include, 'project') && !found.has(`projects ${project}`)) {
      if (call.caller.may(`${path}/projects/${project}`, 'read')) {
        add(projectResource(call, await projects.get({ id: project })));
      }
    }
    const { own = [], effective = [] } = shownOf(call, workspace, include);
    for (const binding of [...own, ...effective]) add(binding);
  }
  return [...found.values()];
}

/** Does the same for projects. */
export async function besideProjects(
  call: Call,
  projects: readonly Project[],
  include: Words,
): Promise<readonly object[] | undefined> {
  if (include === undefined) return undefined;
  const bindings = projects.flatMap((project) => {
    const { own = [], effective = [] } = shownOfProject(call, project, include);
    return [...own, ...effective];
  });
  const [organization] = projects.map((project) => project.organization);
  if (organization === undefined || !has(include, 'organization')) return bindings;
  if (!call.caller.may(`organizations/${organization}`, 'read')) return bindings;
  const { organizations } = await call.core.tags();
  return [organizationResource(call, await organizations.get(organization)), ...bindings];
}
