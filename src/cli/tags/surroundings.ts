import { asCofferError, invalid } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { Runner } from '../../operations/declaration/operation.ts';
import type { Gathered, ListDocument } from '../../operations/json-api/pages.ts';
import type { ProjectResource, TagResource, WorkspaceResource } from '../../operations/tags/documents.ts';
import type { Bindings } from '../../tag-files/tag-file.ts';
import { everyPage } from '../every-page.ts';
import type { RawValues } from '../parse/operation-values.ts';
import type { Session } from '../session.ts';

/** The organization that a command is about, which has no word of its own for it. @throws `invalid` when none is named. */
export function organizationOf(session: Session): string {
  const { organization } = session.settings;
  if (organization !== undefined) return organization;
  throw invalid('which organization is meant?', {
    field: '--org',
    hint: 'give --org NAME or set COFFER_ORG',
  });
}

/** Something that keys are bound to. */
export interface Bound {
  readonly id: string;
  readonly name: string;
  /** Its own alone; undefined where they can't be seen. */
  readonly bindings: Bindings | undefined;
}

export interface Standing extends Bound {
  readonly tags: readonly string[];
  /** The name of its project; undefined where that can't be seen. */
  readonly project: string | undefined;
}

/** Everything of an organization that tags are about. */
export interface Whole {
  readonly tags: readonly TagResource[];
  readonly workspaces: readonly Standing[];
  readonly projects: readonly Bound[];
  /** False when something changed while it was read. */
  readonly isWhole: boolean;
}

/** Of a local store it is as it was at one moment. */
export async function readWhole(session: Session, runner: Runner, organization_name: string): Promise<Whole> {
  const read = async (from: Runner): Promise<Whole> => {
    const projects = await withBindings<ProjectResource>(session, from, 'projects list', {
      organization_name,
    });
    const workspaces = await withBindings<WorkspaceResource>(session, from, 'workspaces list', {
      organization_name,
    });
    const tags = await everyPage<TagResource>(session, from, 'tags list', { organization_name });
    const names = new Map(projects?.document.data.map(({ id, attributes }) => [id, attributes.name]));
    return {
      tags: tags.document.data,
      workspaces: standings(workspaces, names),
      projects: (projects?.document.data ?? []).map(({ id, attributes, relationships }) => ({
        id,
        name: attributes.name,
        bindings: linkedBindings(relationships, boundIn(projects?.document)),
      })),
      isWhole: [projects, workspaces, tags].every((gathered) => gathered?.isWhole !== false),
    };
  };
  return runner.snapshot === undefined ? read(runner) : runner.snapshot(read);
}

const standings = (
  gathered: Gathered<WorkspaceResource> | undefined,
  projects: ReadonlyMap<string, string>,
): readonly Standing[] => {
  const bound = boundIn(gathered?.document);
  return (gathered?.document.data ?? []).map(({ id, attributes, relationships }) => ({
    id,
    name: attributes.name,
    tags: attributes['tag-names'],
    bindings: linkedBindings(relationships, bound),
    project: projects.get(relationships.project?.data.id ?? ''),
  }));
};

/** As servers of the family know it. */
const INCLUDE = 'effective_tag_bindings';

/** A list with what is bound to each; servers that know nothing of that answer the list alone, or that there is none. */
export async function withBindings<R>(
  session: Session,
  runner: Runner,
  list: string,
  raw: RawValues,
): Promise<Gathered<R> | undefined> {
  try {
    return await everyPage<R>(session, runner, list, { ...raw, include: INCLUDE });
  } catch (error) {
    const { kind } = asCofferError(error) ?? {};
    if (kind === 'invalid') return everyPage<R>(session, runner, list, raw);
    if (kind === 'not-found' && list === 'projects list') return undefined;
    throw error;
  }
}

type Pair = readonly [key: string, value: string];

/** What is sent along with a list, by its identifier, as a rule without what is inherited; undefined where nothing is. */
function boundIn(
  document: ListDocument<unknown> | undefined,
  takesInherited = false,
): ReadonlyMap<string, Pair> | undefined {
  if (document?.included === undefined) return undefined;
  const pairs = new Map<string, Pair>();
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

/** The keys that hold for each workspace of a list from `withBindings`, of its own and by its project; of those that can't be seen none. */
export function keysIn(
  document: ListDocument<WorkspaceResource>,
): (workspace: WorkspaceResource) => readonly string[] {
  const pairs = boundIn(document, true);
  return ({ relationships }) => [...(linkedBindings(relationships, pairs)?.keys() ?? [])];
}

interface Relations {
  readonly 'effective-tag-bindings'?: { readonly data?: readonly { readonly id: string }[] };
}

function linkedBindings(
  relations: Relations,
  pairs: ReadonlyMap<string, Pair> | undefined,
): Bindings | undefined {
  const linked = relations['effective-tag-bindings']?.data;
  if (pairs === undefined || linked === undefined) return undefined;
  return new Map(linked.flatMap(({ id }) => (pairs.has(id) ? [pairs.get(id) ?? ['', '']] : [])));
}
