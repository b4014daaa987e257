import type { Capability } from '../../access/capability.ts';
import type { Mount } from '../../mounts/mount.ts';
import type { Core, Operation } from '../declaration/operation.ts';
import { IDENTIFIER_PARAMS } from '../declaration/resource-kinds.ts';
import { CAPABILITY_OF, type Method, printPath } from '../declaration/route.ts';
import { type Match, mountedRoutes, RouteTable, routesUnder, type ServedRoute } from '../routes.ts';
import type { StoreLook } from './store-look.ts';

export interface PolicyPaths {
  /** Policies must allow all of them. */
  readonly paths: readonly string[];
  /** Whether the path leads to no organization: denied, but only after the policies were checked as for any other. */
  readonly leadNowhere?: boolean;
}

/**
 * Returns the paths that policies are checked for on `/api/v2`: the decoded path, in each of its spellings. For an
 * identifier alone it is the path below its organization (`organizations/acme/tags/tag-…/relationships/workspaces`), so
 * that one rule covers everything in an organization. No lookup depends on whether the identified object exists, so
 * neither the answer nor its time reveals that.
 * @see docs/decisions/0066
 */
async function policyPathsOf(core: Core, path: string, match: Match): Promise<PolicyPaths> {
  const captures = typeof match === 'string' ? {} : match.captures;
  const identifier = IDENTIFIER_PARAMS.map((param) => captures[param]).find((given) => given !== undefined);
  if (identifier === undefined) return { paths: spellingsOf(path, match) };
  const tags = await core.tags();
  const organization = await tags.organizationOf(identifier);
  // Policies know both spellings of this path by the second one.
  const asked = path.replace(/^reserved-tags\//, 'reserved-tag-keys/');
  return { paths: [`organizations/${organization ?? ''}/${asked}`], leadNowhere: organization === undefined };
}

/**
 * Returns the path as sent and, if a name in it has another spelling (policies have lower-case names), the normalized
 * path. Otherwise a deny rule for one spelling could be circumvented with another.
 * @see docs/decisions/0096
 */
export function spellingsOf(path: string, match: Match, mount?: Mount): readonly string[] {
  if (typeof match === 'string') return [path];
  const { served, captures } = match;
  const { params } = served.operation;
  if (!Object.keys(captures).some((name) => params[name]?.understoodAs !== undefined)) return [path];
  const understood = (name: string): string | undefined => {
    const given = captures[name];
    return given === undefined ? undefined : (params[name]?.understoodAs?.(given) ?? given);
  };
  const meant = printPath(served.route, understood, (segment) => segment);
  return [path, mount === undefined ? meant : `${mount.path}/${meant}`];
}

/**
 * Resolves the method and the path of a request in one place for all protocols: the operation, its mount, and the paths
 * that policies are checked for. A protocol gets endpoints from `VaultEndpoints` or `DocumentEndpoints` and cannot
 * construct one, so that policies are always checked for the paths that the operation works on.
 * @see docs/decisions/0266
 */

interface EndpointParts {
  /** Revision of the store at which the endpoint was resolved; the request is answered at this revision. */
  readonly revision: string;
  readonly method: Method;
  /** Path as recorded in the audit trail: decoded, with the prefix of the API unless that is `/v1`. */
  readonly path: string;
  /** Matched operation, or the reason why none matched. */
  readonly match: Match;
  /** Mount that contains the path. */
  readonly mount?: Mount | undefined;
  /** Whether another method at this path is public, so that its existence may be revealed. */
  readonly isOpenPath?: boolean | undefined;
  /** Prefix of the API's paths in policies. */
  readonly policyPrefix: string;
  /** Returns the paths that policies are checked for, without `policyPrefix`. */
  readonly policyPaths: (core: Core) => PolicyPaths | Promise<PolicyPaths>;
}

export interface Endpoint extends EndpointParts {
  readonly operation: Operation | undefined;
  /** Capability that it requires; `sudo` is required in addition to that of the method. */
  readonly capability: Capability;
}

function endpointOf(parts: EndpointParts): Endpoint {
  const operation = typeof parts.match === 'string' ? undefined : parts.match.served.operation;
  const { capability = 'sudo' } = operation ?? {};
  return {
    ...parts,
    operation,
    capability: capability === 'sudo' ? CAPABILITY_OF[parts.method] : capability,
  };
}

/** Operations at a path, or below a mount. */
export interface PathOffer {
  readonly routes: readonly ServedRoute[];
  readonly isMount: boolean;
}

/** Endpoints of `/v1`: paths of the server itself and paths below mounts, without the prefix `/v1`. */
export class VaultEndpoints {
  readonly #own: RouteTable;
  /** Below mounts, by their type. */
  readonly #mounted: ReadonlyMap<string, RouteTable>;

  /** @param routes routes of the catalogue, or of the operations of one protocol */
  constructor(routes: readonly ServedRoute[]) {
    this.#own = new RouteTable(routesUnder(routes, 'vault'));
    this.#mounted = mountedRoutes(routes);
  }

  /** @param path decoded path; policies are checked for every spelling of it */
  at(look: StoreLook, method: Method, path: string): Endpoint {
    const own = this.ofServer(method, path);
    const mount = own === 'unsupported-path' ? look.mountOf(path) : undefined;
    const table = mount && this.#mounted.get(mount.type);
    if (mount === undefined || table === undefined) {
      const isOpenPath = own === 'unsupported-operation' && this.isOpen(path);
      return vaultEndpoint(look, { method, path, match: own, isOpenPath });
    }
    const below = path.slice(mount.path.length + 1);
    const match = table.match(method, below);
    const isOpenPath = match === 'unsupported-operation' && table.isOpen(below);
    return vaultEndpoint(look, { method, path, match, isOpenPath, mount });
  }

  /** Matches a path below a mount of a type. */
  below(type: string, method: Method, path: string): Match {
    return this.#mounted.get(type)?.match(method, path) ?? 'unsupported-path';
  }

  /**
   * Returns the endpoint of a route, for protocols whose requests name operations instead of paths.
   * @param mount path of the mount, without slashes at the ends
   * @param values parameters by wire name; the route's own parameters become part of the path
   */
  of(
    look: StoreLook,
    served: ServedRoute,
    mount: string,
    values: Readonly<Record<string, unknown>>,
  ): Endpoint {
    const { method } = served.route;
    const path = `${mount}/${printPath(served.route, (name) => textOf(values[name]), asItIs)}`;
    const found = this.at(look, method, path);
    return isAsMeant(found.match, served, values)
      ? found
      : vaultEndpoint(look, { method, path, match: 'unsupported-path' });
  }

  /** Returns the endpoint for help about a path: `help` replaces the operation at the path. */
  helpAt(look: StoreLook, path: string, help: ServedRoute): Endpoint {
    const { mount } = this.at(look, 'GET', path);
    return vaultEndpoint(look, {
      method: 'GET',
      path,
      match: { served: help, captures: { path } },
      mount,
    });
  }

  /** Matches a path of the server itself; possible while the store is sealed. */
  ofServer(method: Method, path: string): Match {
    return this.#own.match(method, path);
  }

  /** Whether the server's own path is public. */
  isOpen(path: string): boolean {
    return this.#own.isOpen(path);
  }

  /**
   * Returns all operations at a path.
   * @param mounts undefined while the store is sealed
   */
  offerAt(mounts: Pick<StoreLook, 'mountOf'> | undefined, path: string): PathOffer {
    const own = this.#own.at(path);
    // The slash is for a mount's own path.
    const mount = own.length > 0 ? undefined : mounts?.mountOf(`${path}/`);
    const table = mount && this.#mounted.get(mount.type);
    if (mount === undefined || table === undefined) return { routes: own, isMount: false };
    const rest = path.slice(mount.path.length + 1);
    return rest === '' ? { routes: table.routes, isMount: true } : { routes: table.at(rest), isMount: false };
  }
}

function vaultEndpoint(
  { revision }: StoreLook,
  {
    method,
    path,
    match,
    isOpenPath,
    mount,
  }: Omit<EndpointParts, 'revision' | 'policyPrefix' | 'policyPaths'>,
): Endpoint {
  let paths: PolicyPaths | undefined;
  const policyPaths = (): PolicyPaths => {
    paths ??= { paths: spellingsOf(path, match, mount) };
    return paths;
  };
  return endpointOf({ revision, method, path, match, mount, isOpenPath, policyPrefix: '', policyPaths });
}

/** Whether a printed path is parsed back unchanged: a value with a slash must not lead to another operation or name. */
function isAsMeant(match: Match, { route }: ServedRoute, values: Readonly<Record<string, unknown>>): boolean {
  if (typeof match === 'string' || match.served.route !== route) return false;
  for (const name in match.captures) {
    if (match.captures[name] !== textOf(values[name])) return false;
  }
  return true;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

const asItIs = (segment: string): string => segment;

/** Prefix of `/api/v2` in policies, so that their rules cannot match a transit mount. */
const DOCUMENT_PREFIX = 'api/v2/';

/** Endpoints of `/api/v2`, without that prefix. */
export class DocumentEndpoints {
  readonly #routes: RouteTable;

  constructor(routes: readonly ServedRoute[]) {
    this.#routes = new RouteTable(routesUnder(routes, 'json-api'), decodeURIComponent);
  }

  /**
   * @param method undefined for a method that no operation has
   * @param path percent-encoded, as sent: an encoded slash does not separate segments
   * @throws URIError if the path is not UTF-8
   */
  at({ revision }: StoreLook, method: Method | undefined, path: string): Endpoint {
    const match = method === undefined ? 'unsupported-operation' : this.#routes.match(method, path);
    const meant = decodeURIComponent(path);
    return endpointOf({
      revision,
      method: method ?? 'GET',
      path: DOCUMENT_PREFIX + meant,
      match,
      policyPrefix: DOCUMENT_PREFIX,
      policyPaths: (core) => policyPathsOf(core, meant, match),
    });
  }
}
