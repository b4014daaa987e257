import type { Call, Caller } from '../declaration/operation.ts';

/**
 * What a caller may see of one workspace or project, where a parameter would tell of it by the way: filters, relations that are sent
 * along, and what a tag is put on.
 * @see docs/decisions/0197
 */

interface Seen {
  readonly organization: string;
  readonly id: string;
  readonly name: string;
}

type Kind = 'workspaces' | 'projects';

const pathOf = (kind: Kind, organization: string, which: string): string =>
  `organizations/${organization}/${kind}/${which}`;

const mayRead = (caller: Caller, kind: Kind, { organization, id, name }: Seen): boolean =>
  caller.may(pathOf(kind, organization, id), 'read') || caller.may(pathOf(kind, organization, name), 'read');

/** Its tags of the form key=value: who may read it, or list them, may know them. */
export function seesBindings({ caller }: Call, kind: Kind, seen: Seen): boolean {
  const path = pathOf(kind, seen.organization, seen.id);
  return (
    mayRead(caller, kind, seen) ||
    caller.may(`${path}/tag-bindings`, 'list') ||
    caller.may(`${path}/effective-tag-bindings`, 'list')
  );
}

/** The tags of the pool on it, which also the list of workspaces shows. */
export const seesTags = ({ caller }: Call, seen: Seen): boolean =>
  caller.may(`organizations/${seen.organization}/workspaces`, 'list') ||
  mayRead(caller, 'workspaces', seen) ||
  caller.may(`${pathOf('workspaces', seen.organization, seen.id)}/relationships/tags`, 'list');

/** Whether tags may be put on it and taken off. */
export const mayTag = ({ caller }: Call, organization: string, id: string): boolean =>
  caller.may(`${pathOf('workspaces', organization, id)}/relationships/tags`, 'update');

/** Whether workspaces may be made in it, and moved into it. */
export const mayMoveInto = ({ caller }: Call, organization: string, id: string): boolean =>
  caller.may(`${pathOf('projects', organization, id)}/relationships/workspaces`, 'update');

export const mayUpdateWorkspace = ({ caller }: Call, organization: string, id: string): boolean =>
  caller.may(pathOf('workspaces', organization, id), 'update');
