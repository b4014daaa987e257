import { alternatives } from '../ground/alternatives.ts';
import { notFound, unsupported } from '../ground/errors.ts';
import { meantText, nearest } from '../ground/nearness.ts';
import type { Mount } from '../mounts/mount.ts';
import { LOGIN_PREFIX } from '../mounts/paths.ts';
import { catalogue } from './catalogue.ts';
import { type Core, changesSomething, type PathRequest } from './declaration/operation.ts';
import { LOGIN_METHODS, OWN_METHODS } from './mount-types.ts';
import { VaultEndpoints } from './pipeline/endpoints.ts';
import { StoreLook } from './pipeline/store-look.ts';
import { loadRoutes, type Match, mountedRoutes, routesUnder, type ServedRoute } from './routes.ts';

/** Commands for paths, by their methods. */
const COMMANDS = [
  ['GET', 'coffer read'],
  ['POST', 'coffer write'],
  ['LIST', 'coffer list'],
  ['DELETE', 'coffer delete'],
] as const satisfies readonly (readonly [PathRequest['method'], string])[];

const load = async () => {
  const routes = await loadRoutes(catalogue);
  return { routes, endpoints: new VaultEndpoints(routes) };
};

let loaded: ReturnType<typeof load> | undefined;
/** Loads all operations, once. */
const everything = () => (loaded ??= load());

/**
 * Finds the operation of a Vault API path in an open store.
 * @throws `not-found` for an unknown path; `unsupported` for one that only has other methods
 */
export async function findByPath(core: Core, request: PathRequest) {
  const { method, path } = request;
  const { routes, endpoints } = await everything();
  // Nothing of the server needs the table of mounts, which may be what is damaged.
  const isBelowMount = endpoints.ofServer(method, path) === 'unsupported-path';
  const mounts = isBelowMount ? await core.mounts.list() : [];
  const look = new StoreLook(await core.store.revision(), mounts);
  const { match, mount } = endpoints.at(look, method, path);
  if (match === 'unsupported-operation') {
    const served = COMMANDS.filter(([other]) => typeof endpoints.at(look, other, path).match !== 'string');
    const commands = served.map(([, command]) => `"${command} ${path}"`);
    const hint = commands.length > 0 ? `use ${alternatives(commands)}` : undefined;
    throw unsupported(`${path} does not support this operation`, { hint });
  }
  if (match === 'unsupported-path') {
    const near = nearPaths(request, routes, mounts);
    const isMounted = look.mountOf(path) !== undefined;
    const hint = near.length > 0 ? meantText(near) : placeHint(request, routes, isMounted);
    throw notFound(`nothing found at ${path}`, { hint });
  }
  return { match, mount };
}

/** Returns the paths of a server that differ in one mistyped word, as if its first segment were a transit mount. */
export const nearPathsOfServer = async (request: PathRequest): Promise<readonly string[]> =>
  nearPaths(request, (await everything()).routes, [
    { path: request.path.split('/', 1)[0] ?? '', type: 'transit' },
  ]);

/**
 * Returns the hint for a path that a server does not have.
 * @param isMounted whether something is mounted there, which has no such path
 */
export const placeHintOfServer = async (request: PathRequest, isMounted: boolean): Promise<string> =>
  placeHint(request, (await everything()).routes, isMounted);

/** Login methods of Vault and OpenBao that Coffer does not have, at their usual paths. */
const METHODS_OF_OTHERS = new Set(
  'alicloud aws azure cf gcp github kerberos ldap oci okta radius saml'.split(' '),
);

/** Name of a login method that needs no quotes in a command. */
const PLAIN_NAME = /^[\w./-]+$/;

/** Names the command that mounts what a path is for, or that lists what is mounted, or the wrong part of the path. */
function placeHint(request: PathRequest, routes: readonly ServedRoute[], isMounted: boolean): string {
  if (request.path.startsWith('sys/')) return 'check the path after sys/';
  // Nobody serves the path of a mount itself, so that it may well be one.
  if (!request.path.includes('/'))
    return 'the path must go on after the mount, e.g. transit/keys: list the mounts with "coffer mounts list"';
  if (!request.path.startsWith(LOGIN_PREFIX)) {
    return isMounted
      ? 'the mount exists: check the path after it'
      : 'list the mounts with "coffer mounts list"';
  }
  if (isMounted)
    return 'the login method there has no such path: list the login methods with "coffer auth list"';
  const commands = enabling(request, routes);
  return commands.length === 0
    ? 'list the login methods with "coffer auth list"'
    : `enable the login method with ${alternatives(commands)}`;
}

/** Returns the commands that enable a login method which has a path of this form. */
function enabling({ method, path }: PathRequest, routes: readonly ServedRoute[]): readonly string[] {
  const tables = mountedRoutes(routes);
  const [, ...segments] = path.split('/');
  return segments.slice(1).flatMap((_, at) => {
    const name = segments.slice(0, at + 1).join('/');
    const below = segments.slice(at + 1).join('/');
    if (!PLAIN_NAME.test(name) || METHODS_OF_OTHERS.has(name)) return [];
    const serves = (type: string): boolean => typeof tables.get(type)?.match(method, below) === 'object';
    if (LOGIN_METHODS.includes(name)) return serves(name) ? [`"coffer auth enable ${name}"`] : [];
    return OWN_METHODS.filter(serves).map((type) => `"coffer auth enable ${type} --path ${name}"`);
  });
}

/**
 * Returns the parameters of a request that are probably misspelt: without a word, servers ignore those that they do not
 * know. The path is read as one below `sys/`, of a login method at its usual path, or of a transit mount.
 */
export async function misspeltParameters(request: PathRequest) {
  const { parameters } = request;
  const match = await usualMatch(request);
  if (typeof match === 'string' || match.served.operation.freeForm) return [];
  const known = Object.keys(match.served.operation.params);
  const left = known.filter(
    (name) => !Object.hasOwn(parameters, name) && !Object.hasOwn(match.captures, name),
  );
  return Object.keys(parameters)
    .filter((name) => !known.includes(name))
    .map((name) => ({ name, meant: nearest(name, left) }))
    .filter(({ meant }) => meant.length > 0);
}

/** Whether the operation of a path, which is read as by `misspeltParameters`, changes something. */
export async function isChangeByPath(request: PathRequest): Promise<boolean> {
  const match = await usualMatch(request);
  if (typeof match === 'string') return request.method === 'POST' || request.method === 'DELETE';
  const { operation } = match.served;
  return changesSomething(operation, operation.capability);
}

async function usualMatch({ method, path }: PathRequest): Promise<Match> {
  const { endpoints } = await everything();
  const [first = '', second = ''] = path.split('/');
  const [type, mount] = first === 'auth' ? [second, `${first}/${second}`] : ['transit', first];
  const own = endpoints.ofServer(method, path);
  return typeof own === 'string' ? endpoints.below(type, method, path.slice(mount.length + 1)) : own;
}

/** More candidates than this are no help. */
const MAX_CANDIDATES = 3;

/** Returns the paths with an operation of the same method that differ from a path in one mistyped word. */
function nearPaths(
  { method, path }: PathRequest,
  routes: readonly ServedRoute[],
  mounts: readonly Pick<Mount, 'path' | 'type'>[],
): readonly string[] {
  const tables = mountedRoutes(routes);
  const places = [
    ...routesUnder(routes, 'vault').map(({ route }) => ({ route, above: '' })),
    ...mounts.flatMap(({ path: above, type }) =>
      (tables.get(type)?.routes ?? []).map(({ route }) => ({ route, above: `${above}/` })),
    ),
  ];
  const typed = path.split('/');
  const found = new Set<string>();
  for (const { route, above } of places) {
    if (route.method !== method) continue;
    const below = route.parts.map((part) => ('text' in part ? part.text : part.optional ? `/${ANY}` : ANY));
    const near = corrected(typed, `${above}${below.join('')}`.split('/'));
    if (near !== undefined) found.add(near);
  }
  return found.size > MAX_CANDIDATES ? [] : [...found];
}

/** Segment of a pattern that any name matches; no literal segment of a route contains it. */
const ANY = ':';

/** Returns a path with one word of it replaced by the similar one of a pattern; undefined if anything else differs. */
function corrected(typed: readonly string[], pattern: readonly string[]): string | undefined {
  if (typed.length !== pattern.length) return undefined;
  const meant = pattern.map((segment, at) => (segment.includes(ANY) ? (typed[at] ?? '') : segment));
  const different = meant.flatMap((segment, at) =>
    segment === typed[at] ? [] : [[typed[at] ?? '', segment]],
  );
  const [[word, segment] = ['', '']] = different;
  return different.length === 1 && nearest(word ?? '', [segment ?? '']).length > 0
    ? meant.join('/')
    : undefined;
}
