import type { Call, Caller } from '../declaration/operation.ts';

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
