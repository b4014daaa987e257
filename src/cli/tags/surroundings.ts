import { asCofferError, CofferError } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import type { GatheredList, ListDocument } from '../../operations/json-api/pages.ts';
import type {
  BindingResource,
  ProjectResource,
  ResourceDocument,
  Resources,
  TagResource,
  WorkspaceResource,
} from '../../operations/tags/documents.ts';
import type { KeyValues } from '../../tag-files/tag-file.ts';
import { everyPage } from '../every-page.ts';
import { missingOrganization, type RawValues } from '../files/operation-values.ts';
import type { Session } from '../session.ts';

/**
 * Returns the organization, for commands without an argument for it.
 * @throws `invalid` if none is named
 */
export function organizationOf(session: Session): string {
  const { organization } = session.settings;
  if (organization !== undefined) return organization;
  throw missingOrganization();
}

/** Reads a tag by its ID, or by its name and organization. */
export async function shownTag(runner: Runner, which: RawValues): Promise<TagResource> {
  const { data } = await runner.run('tags show', which);
  return (data as ResourceDocument<TagResource>).data;
}

/** Object that keys are bound to. */
export interface KeyHolder {
  readonly id: string;
  readonly name: string;
  /** Its own bindings; undefined if they are not visible. */
  readonly bindings: KeyValues | undefined;
}

interface TaggedWorkspace extends KeyHolder {
  readonly tags: readonly string[];
  /** Name of its project; undefined if it is not visible. */
  readonly project: string | undefined;
}

/** All tags, workspaces and projects of an organization. */
export interface Whole {
  readonly tags: readonly TagResource[];
  readonly workspaces: readonly TaggedWorkspace[];
  readonly projects: readonly KeyHolder[];
  /** False if something changed while it was read. */
  readonly isWhole: boolean;
  readonly unseen?: Unseen;
}

/** Errors for what the token may not see. */
interface Unseen {
  readonly projects?: CofferError | undefined;
  readonly bindings?: CofferError | undefined;
  readonly bindingsOfProjects?: CofferError | undefined;
}

/** Reads them; in a local store from a single snapshot. */
export async function readWhole(session: Session, runner: Runner, organization_name: string): Promise<Whole> {
  const read = async (from: Runner): Promise<Whole> => {
    const listed = await listedProjects(session, from, organization_name);
    const projects = listed instanceof CofferError ? undefined : listed;
    const workspaces = await withBindings<WorkspaceResource>(session, from, 'workspaces list', {
      organization_name,
    });
    const tags = await everyPage<TagResource>(session, from, {
      operation: 'tags list',
      raw: { organization_name },
    });
    const names = new Map(projects?.document.data.map(({ id, attributes }) => [id, attributes.name]));
    const ofWorkspaces = await allBindings(from, standings(workspaces, names), {
      list: 'workspaces bindings',
      param: 'workspace_id',
      hasBindings: workspaces.document.included !== undefined,
    });
    const ofProjects = await allBindings(from, holders(projects), {
      list: 'projects bindings',
      param: 'project_id',
      hasBindings: projects?.document.included !== undefined,
    });
    return {
      tags: tags.document.data,
      workspaces: ofWorkspaces.all,
      projects: ofProjects.all,
      isWhole: [projects, workspaces, tags].every((gathered) => gathered?.isWhole !== false),
      unseen: {
        projects: listed instanceof CofferError && hasProjects(workspaces) ? listed : undefined,
        bindings: ofWorkspaces.unseen,
        bindingsOfProjects: ofProjects.unseen,
      },
    };
  };
  return runner.snapshot === undefined ? read(runner) : runner.snapshot(read);
}

/**
 * Checks that what is needed was seen.
 * @throws `not-found` if the token may not see it, which servers do not tell from what they do not have
 */
export function refuseUnseen(
  { unseen = {} }: Whole,
  needs: Readonly<Record<keyof Unseen, boolean>> = {
    projects: true,
    bindings: true,
    bindingsOfProjects: true,
  },
): void {
  const problem =
    (needs.projects && unseen.projects) ||
    (needs.bindings && unseen.bindings) ||
    (needs.bindingsOfProjects && unseen.bindingsOfProjects);
  if (problem) throw problem;
}

const unseenError = (what: string, cause: CofferError): CofferError =>
  new CofferError('not-found', `the token is not allowed to list ${what}`, {
    hint: 'use a token that may list and read everything in the organization',
    cause,
  });

/** Lists the projects. Returns the error if the server does not have them, or does not show them to this token. */
async function listedProjects(
  session: Session,
  runner: Runner,
  organization_name: string,
): Promise<GatheredList<ProjectResource> | CofferError> {
  try {
    return await withBindings<ProjectResource>(session, runner, 'projects list', { organization_name });
  } catch (error) {
    const known = asCofferError(error);
    if (known?.kind === 'not-found') return unseenError(`the projects of ${organization_name}`, known);
    throw error;
  }
}

/** Whether a server has projects: its workspaces name theirs, or it has KEY=VALUE tags, which are newer. */
const hasProjects = ({ document }: GatheredList<WorkspaceResource>): boolean =>
  document.included !== undefined ||
  document.data.some(({ relationships }) => relationships.project?.data !== undefined);

interface BindingsQuery {
  readonly list: string;
  readonly param: string;
  /** Whether the server includes bindings in lists. */
  readonly hasBindings: boolean;
}

/** Asks for the bindings that a list left out one by one, until they turn out not to be visible. */
async function allBindings<H extends KeyHolder>(
  runner: Runner,
  listed: readonly H[],
  { list, param, hasBindings }: BindingsQuery,
): Promise<{ readonly all: readonly H[]; readonly unseen?: CofferError }> {
  const all: H[] = [];
  for (const holder of listed) {
    if (!hasBindings || holder.bindings !== undefined) all.push(holder);
    else {
      try {
        const { data } = (await runner.run(list, { [param]: holder.id })).data as Resources<BindingResource>;
        all.push({
          ...holder,
          bindings: new Map(data.map(({ attributes: { key, value } }) => [key, value])),
        });
      } catch (error) {
        const known = asCofferError(error);
        if (known?.kind !== 'not-found') throw error;
        return { all: listed, unseen: unseenError(`the KEY=VALUE tags of ${holder.name}`, known) };
      }
    }
  }
  return { all };
}

const holders = (gathered: GatheredList<ProjectResource> | undefined): readonly KeyHolder[] => {
  const bound = boundIn(gathered?.document);
  return (gathered?.document.data ?? []).map(({ id, attributes, relationships }) => ({
    id,
    name: attributes.name,
    bindings: linkedBindings(relationships, bound),
  }));
};

const standings = (
  gathered: GatheredList<WorkspaceResource>,
  projects: ReadonlyMap<string, string>,
): readonly TaggedWorkspace[] => {
  const bound = boundIn(gathered.document);
  return gathered.document.data.map(({ id, attributes, relationships }) => ({
    id,
    name: attributes.name,
    tags: attributes['tag-names'],
    bindings: linkedBindings(relationships, bound),
    project: projects.get(relationships.project?.data.id ?? ''),
  }));
};

/** Name of the inclusion in compatible servers. */
const INCLUDE = 'effective_tag_bindings';

/** Reads a list with the bindings of each object; without them on servers that do not support them. */
export async function withBindings<R>(
  session: Session,
  runner: Runner,
  list: string,
  raw: RawValues,
): Promise<GatheredList<R>> {
  try {
    return await everyPage<R>(session, runner, { operation: list, raw: { ...raw, include: INCLUDE } });
  } catch (error) {
    const { kind } = asCofferError(error) ?? {};
    if (kind === 'invalid') return everyPage<R>(session, runner, { operation: list, raw });
    throw error;
  }
}

type KeyValuePair = readonly [key: string, value: string];

/**
 * Returns the bindings included in a list, by ID, by default without inherited ones; undefined if nothing is included.
 */
function boundIn(
  document: ListDocument<unknown> | undefined,
  takesInherited = false,
): ReadonlyMap<string, KeyValuePair> | undefined {
  if (document?.included === undefined) return undefined;
  const pairs = new Map<string, KeyValuePair>();
  for (const item of document.included as readonly unknown[]) {
    if (!isObject(item) || !isObject(item['attributes'])) continue;
    const { id, links } = item;
    const { key, value } = item['attributes'];
    const isInherited = isObject(links) && links['inherited-from'] !== undefined;
    if (typeof id === 'string' && typeof key === 'string' && (takesInherited || !isInherited))
      pairs.set(id, [key, String(value ?? '')]);
  }
  return pairs;
}

/**
 * Returns the effective keys of each workspace of a list from `withBindings`, its own and its project's; none if they
 * are not visible.
 */
export function keysIn(
  document: ListDocument<WorkspaceResource>,
): (workspace: WorkspaceResource) => readonly string[] {
  const pairs = boundIn(document, true);
  return ({ relationships }) => [...(linkedBindings(relationships, pairs)?.keys() ?? [])];
}

interface Relations {
  readonly 'effective-tag-bindings'?: { readonly data?: readonly { readonly id: string }[] | undefined };
}

function linkedBindings(
  relations: Relations,
  pairs: ReadonlyMap<string, KeyValuePair> | undefined,
): KeyValues | undefined {
  const linked = relations['effective-tag-bindings']?.data;
  if (pairs === undefined || linked === undefined) return undefined;
  return new Map(linked.flatMap(({ id }) => (pairs.has(id) ? [pairs.get(id) ?? ['', '']] : [])));
}
