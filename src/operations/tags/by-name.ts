import { CofferError, invalid, ownWords } from '../../ground/errors.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import { parseAnyIdentifier } from '../../tags/names.ts';
import type { Reference } from '../../tags/organization.ts';
import { isMissing } from '../declaration/deleting.ts';
import { type NewName, type Runner, resultOf } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';
import { type IdentifiedKind, RESOURCE_KINDS } from '../declaration/resource-kinds.ts';
import { identifierOf, nameInsteadOf, optionalOrganizationName } from '../json-api/params.ts';
import type { ProjectResource, ResourceDocument } from './documents.ts';

type Resolve = (raw: JsonObject, runner: Runner) => Promise<JsonObject>;

/**
 * Whether a text has the form of an identifier. One of another kind counts too: it is not found, or filters nothing, as
 * over HTTP.
 */
const looksLikeIdentifier = (text: unknown): boolean =>
  typeof text === 'string' && parseAnyIdentifier(text) !== undefined;

/**
 * Whether a text is meant as an identifier. A name may have the form of one: if the identifier is unknown and the name
 * exists, the name is meant.
 */
async function isIdentifier(kind: IdentifiedKind, given: unknown, runner: Runner): Promise<boolean> {
  if (!looksLikeIdentifier(given)) return false;
  const { organization: organization_name } = runner;
  if (organization_name === undefined) return true;
  const { show, param, nameParam } = RESOURCE_KINDS[kind].identifier;
  const isNobodys = await isMissing(runner, show, { [param]: given });
  return !isNobodys || (await isMissing(runner, show, { organization_name, [nameParam]: given }));
}

type Identifier<K extends IdentifiedKind> = (typeof RESOURCE_KINDS)[K]['identifier'];
type WhichParams<K extends IdentifiedKind> = {
  readonly [Name in Identifier<K>['param']]: ReturnType<typeof idParam>;
} & { readonly [Name in Identifier<K>['nameParam']]: ReturnType<typeof nameInsteadOf> } & {
  readonly organization_name: typeof optionalOrganizationName;
};

const idParam = (kind: IdentifiedKind) => text(identifierOf(kind));

/**
 * Declares operations that find a resource by identifier, or by organization and name.
 * @param hint what to do if the request has neither
 */
export function whichOf<const K extends IdentifiedKind>(kind: K, hint: string) {
  const { type, param, nameParam } = RESOURCE_KINDS[kind].identifier;
  const params = {
    [param]: idParam(kind),
    organization_name: optionalOrganizationName,
    [nameParam]: nameInsteadOf(kind),
  };
  return {
    params: params as WhichParams<K>,
    /** Both paths; the first one needs no organization. */
    routes: (method: string, action = ''): readonly string[] => [
      `${method} /${type}/:${param}${action}`,
      `${method} /organizations/:organization_name/${type}/:${nameParam}${action}`,
    ],
    resolve: nameBesideId(kind),
    meant(values: Readonly<Record<string, unknown>>): Reference {
      const { [param]: id, organization_name: organization, [nameParam]: name } = values;
      if (typeof id === 'string') return { id };
      if (typeof organization === 'string' && typeof name === 'string') return { organization, name };
      throw invalid(ownWords(`missing ${param}`), { field: param, hint });
    },
  };
}

function organizationOf(runner: Runner, name: unknown): string {
  if (runner.organization !== undefined) return runner.organization;
  throw invalid(`no organization given for "${String(name)}"`, {
    field: '--org',
    hint: 'use --org NAME or set COFFER_ORG, or an ID instead of the name; "coffer orgs list" lists the organizations',
  });
}

/** Moves a name to the parameters for its path, if the command line got a name instead of an identifier. */
export const nameBesideId =
  (kind: IdentifiedKind): Resolve =>
  async (raw, runner) => {
    const { param, nameParam } = RESOURCE_KINDS[kind].identifier;
    const { [param]: given, ...others } = raw;
    if (given === undefined || (await isIdentifier(kind, given, runner))) return raw;
    return { ...others, [nameParam]: given, organization_name: organizationOf(runner, given) };
  };

/** Looks up the identifiers of workspaces and tags that were given by name on the command line. */
export const idsFor =
  (params: Readonly<Record<string, IdentifiedKind>>): Resolve =>
  async (raw, runner) => {
    const resolved: Record<string, unknown> = { ...raw };
    for (const [name, kind] of Object.entries(params)) {
      const given = raw[name];
      if (Array.isArray(given)) {
        resolved[name] = await Promise.all(given.map((item: unknown) => idFor(kind, item, runner)));
      } else if (given !== undefined) resolved[name] = await idFor(kind, given, runner);
    }
    return resolved;
  };

/**
 * Resolves tags given by identifier or name: a word in the form of an identifier that no tag has is taken as a name.
 */
export const namesAmong =
  (param: string): Resolve =>
  async (raw, runner) => {
    const given = raw[param];
    if (!Array.isArray(given)) return raw;
    const meant = given.map(async (item: unknown) =>
      looksLikeIdentifier(item) && !(await isIdentifier('tag', item, runner)) ? { name: item } : item,
    );
    return { ...raw, [param]: await Promise.all(meant) };
  };

/** Combines resolvers, in order. */
export const inTurn =
  (...all: readonly Resolve[]): Resolve =>
  async (raw, runner) => {
    let resolved = raw;
    for (const resolve of all) resolved = await resolve(resolved, runner);
    return resolved;
  };

/** Returns the tags in a parameter that do not exist in the pool, so that they will be created. */
export const newTagsIn =
  (param: string) =>
  async (values: JsonObject, runner: Runner): Promise<readonly NewName[]> => {
    const given = values[param];
    const names = (Array.isArray(given) ? given : []).flatMap((item: unknown) =>
      isObject(item) && typeof item['name'] === 'string' ? [item['name']] : [],
    );
    const { organization: organization_name } = runner;
    return organization_name === undefined ? [] : missingTags(runner, organization_name, names);
  };

/** Returns those of some names that no tag of an organization has. */
export async function missingTags(
  runner: Runner,
  organization_name: unknown,
  names: readonly string[],
): Promise<readonly NewName[]> {
  const missing = await Promise.all(
    names.map((tag_name) => isMissing(runner, 'tags show', { organization_name, tag_name })),
  );
  return names.filter((_, index) => missing[index]).map((name) => ({ kind: 'tag', name }));
}

async function idFor(kind: IdentifiedKind, given: unknown, runner: Runner): Promise<unknown> {
  if (typeof given !== 'string' || (await isIdentifier(kind, given, runner))) return given;
  const { show, nameParam } = RESOURCE_KINDS[kind].identifier;
  const { data: document } = await runner.run(show, {
    organization_name: organizationOf(runner, given),
    [nameParam]: given,
  });
  const data = isObject(document) ? document['data'] : undefined;
  if (!isObject(data) || typeof data['id'] !== 'string') {
    throw new CofferError('unavailable', `unexpected response about "${given}": no ID`);
  }
  return data['id'];
}

/** Returns the name of a project; its ID if the caller may not see it. */
export const nameOfProject = (runner: Runner, project_id: string): Promise<string> =>
  runner.run('projects show', { project_id }).then(
    (shown) => (resultOf(shown) as ResourceDocument<ProjectResource>).data.attributes.name,
    () => project_id,
  );
