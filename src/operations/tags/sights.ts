import type { Project } from '../../tags/projects.ts';
import type { Workspace } from '../../tags/workspaces.ts';
import type { Call, Caller } from '../declaration/operation.ts';
import { includeParam } from '../json-api/params.ts';
import {
  bindingResource,
  effectiveBindingsOf,
  organizationResource,
  projectResource,
  type ShownBindings,
  type TagsCall,
} from './documents.ts';

/**
 * Visibility of single workspaces and projects where a parameter would reveal them indirectly: filters, included
 * relationships, and the resources of a tag.
 * @see docs/decisions/0197
 */

interface Seen {
  readonly organization: string;
  readonly id: string;
  readonly name: string;
}

type TaggedKind = 'workspaces' | 'projects';

const pathOf = (kind: TaggedKind, organization: string, which: string): string =>
  `organizations/${organization}/${kind}/${which}`;

const mayRead = (caller: Caller, kind: TaggedKind, { organization, id, name }: Seen): boolean =>
  caller.may(pathOf(kind, organization, id), 'read') || caller.may(pathOf(kind, organization, name), 'read');

/** Whether the caller may see its key-value tags: by permission to read it, or to list them. */
export function seesBindings({ caller }: Call, kind: TaggedKind, seen: Seen): boolean {
  const path = pathOf(kind, seen.organization, seen.id);
  return (
    mayRead(caller, kind, seen) ||
    caller.may(`${path}/tag-bindings`, 'list') ||
    caller.may(`${path}/effective-tag-bindings`, 'list')
  );
}

/** Whether the caller may list the workspaces of an organization. */
export const mayListWorkspaces = ({ caller }: Pick<Call, 'caller'>, organization: string): boolean =>
  caller.may(`organizations/${organization}/workspaces`, 'list');

/** Whether the caller may see its pool tags, which the list of workspaces also shows. */
export const seesTags = ({ caller }: Call, seen: Seen): boolean =>
  mayListWorkspaces({ caller }, seen.organization) ||
  mayRead(caller, 'workspaces', seen) ||
  caller.may(`${pathOf('workspaces', seen.organization, seen.id)}/relationships/tags`, 'list');

/** Whether the caller may read one, found by its ID or name. */
export const mayReadWorkspace = ({ caller }: Call, seen: Seen): boolean =>
  mayRead(caller, 'workspaces', seen);

/** Whether the caller may add and remove its tags. */
export const mayTag = ({ caller }: Call, organization: string, id: string): boolean =>
  caller.may(`${pathOf('workspaces', organization, id)}/relationships/tags`, 'update');

/** Whether the caller may create workspaces in it, and move them into it. */
export const mayMoveInto = ({ caller }: Call, organization: string, id: string): boolean =>
  caller.may(`${pathOf('projects', organization, id)}/relationships/workspaces`, 'update');

export const mayUpdateWorkspace = ({ caller }: Call, organization: string, id: string): boolean =>
  caller.may(pathOf('workspaces', organization, id), 'update');

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

/** Returns the requested tags of a workspace or project. */
export function shownOf(call: Call, target: Workspace | Project, include: Words): ShownBindings {
  const isWanted = has(include, OWN) || has(include, EFFECTIVE);
  const kind = 'effectiveBindings' in target ? 'workspaces' : 'projects';
  if (!isWanted || !seesBindings(call, kind, target)) return {};
  const { id, bindings } = target;
  return {
    own: has(include, OWN) ? bindings.map((binding) => bindingResource(id, binding)) : undefined,
    effective: has(include, EFFECTIVE) ? effectiveBindingsOf(target) : undefined,
  };
}

/** Returns the resources to include with workspaces, each once; undefined if none were requested. */
export async function besideWorkspaces(
  call: TagsCall,
  workspaces: readonly Workspace[],
  include: Words,
): Promise<readonly object[] | undefined> {
  if (include === undefined) return undefined;
  const found = new Map<string, object>();
  const add = (resource: { readonly id: string; readonly type: string }): void => {
    found.set(`${resource.type} ${resource.id}`, resource);
  };
  for (const workspace of workspaces) {
    const { organization, project } = workspace;
    const path = `organizations/${organization}`;
    if (has(include, 'organization') && !found.has(`organizations ${organization}`)) {
      if (call.caller.may(path, 'read')) {
        add(organizationResource(call, await call.tags.organizations.get(organization)));
      }
    }
    if (has(include, 'project') && !found.has(`projects ${project}`)) {
      if (call.caller.may(`${path}/projects/${project}`, 'read')) {
        add(projectResource(call, await call.tags.projects.get({ id: project })));
      }
    }
    const { own = [], effective = [] } = shownOf(call, workspace, include);
    for (const binding of [...own, ...effective]) add(binding);
  }
  return [...found.values()];
}

/** Does the same for projects. */
export async function besideProjects(
  call: TagsCall,
  projects: readonly Project[],
  include: Words,
): Promise<readonly object[] | undefined> {
  if (include === undefined) return undefined;
  const bindings = projects.flatMap((project) => {
    const { own = [], effective = [] } = shownOf(call, project, include);
    return [...own, ...effective];
  });
  const [organization] = projects.map((project) => project.organization);
  if (organization === undefined || !has(include, 'organization')) return bindings;
  if (!call.caller.may(`organizations/${organization}`, 'read')) return bindings;
  return [organizationResource(call, await call.tags.organizations.get(organization)), ...bindings];
}
