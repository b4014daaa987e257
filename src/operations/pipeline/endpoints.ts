import type { Mount } from '../../mounts/mount.ts';
import type { Core, Operation } from '../declaration/operation.ts';
import { type Method, printPath } from '../declaration/route.ts';
import { type Match, mountedRoutes, RouteTable, routesUnder, type ServedRoute } from '../routes.ts';
import { type PolicyPaths, policyPathsOf } from './document-paths.ts';
import { spellingsOf } from './spellings.ts';
import type { StoreLook } from './store-look.ts';

/**
 * What the method and the path of a request name, worked out in one place for every protocol: which operation, below which
 * mount, and about which paths policies are asked. A door gets an endpoint from `VaultEndpoints` or `DocumentEndpoints` and
 * can't make one itself, so that no protocol can ask policies about other paths than those that the operation works on.
 * @see docs/decisions/0266
 */

interface EndpointParts {
  readonly revision: string;
  readonly method: Method;
  readonly path: string;
  readonly match: Match;
  readonly mount?: Mount | undefined;
  readonly isOpenPath?: boolean;
  readonly policyPrefix: string;
  readonly policyPaths: (core: Core) => PolicyPaths | Promise<PolicyPaths>;
}

class Endpoint {
  /** Of the look at the store by which it was found: the request is answered from it. */
  readonly revision: string;
  readonly method: Method;
  /** As the audit trail calls it: with its escapes undone, and with the prefix of any API but `/v1`. */
  readonly path: string;
  /** The operation, or why there is none. */
  readonly match: Match;
  readonly operation: Operation | undefined;
  /** The mount that the path lies under. */
  readonly mount: Mount | undefined;
  /** There is something for everybody at the path, by another method: that may be told. */
  readonly isOpenPath: boolean;
  /** What policies write before the paths of the API. */
  readonly policyPrefix: string;
  readonly #policyPaths: EndpointParts['policyPaths'];

  constructor(parts: EndpointParts) {
    const { match } = parts;
    this.revision = parts.revision;
    this.method = parts.method;
    this.path = parts.path;
    this.match = match;
    this.operation = typeof match === 'string' ? undefined : match.served.operation;
    this.mount = parts.mount;
    this.isOpenPath = parts.isOpenPath === true;
    this.policyPrefix = parts.policyPrefix;
    this.#policyPaths = parts.policyPaths;
  }

  /** The paths that policies are asked about, without `policyPrefix`. */
  policyPaths(core: Core): PolicyPaths | Promise<PolicyPaths> {
    return this.#policyPaths(core);
  }
}

export type { Endpoint };

/** What can be done at a path, or below the one of a mount. */
export interface PathOffer {
  readonly routes: readonly ServedRoute[];
  readonly isMount: boolean;
}

/** The paths of `/v1`, without that prefix: those of the server itself, and those below mounts. */
export class VaultEndpoints {
  readonly #own: RouteTable;
  /** Below mounts, by their type. */
  readonly #mounted: ReadonlyMap<string, RouteTable>;

  /** @param routes those of the catalogue, or of the operations that a protocol has. */
  constructor(routes: readonly ServedRoute[]) {
    this.#own = new RouteTable(routesUnder(routes, 'vault'));
    this.#mounted = mountedRoutes(routes, 'vault');
  }

  /** @param path with its escapes undone. It names the same in every spelling, and policies are asked about each. */
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

  /**
   * The endpoint of one route, for protocols whose requests name operations and not paths.
   * @param mount the path of the mount, without slashes at the ends.
   * @param values by wire name; those of the route's own parameters are put into the path.
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
      : vaultEndpoint(look, { method, path, match: 'unsupported-path', isOpenPath: false });
  }

  /** What can be learned about a path: `help` stands in the place of whatever else it names. */
  helpAt(look: StoreLook, path: string, help: ServedRoute): Endpoint {
    const { mount } = this.at(look, 'GET', path);
    return vaultEndpoint(look, {
      method: 'GET',
      path,
      match: { served: help, captures: { path } },
      isOpenPath: false,
      mount,
    });
  }

  /** Of the server itself, so that it can be told while the store is sealed. */
  ofServer(method: Method, path: string): Match {
    return this.#own.match(method, path);
  }

  /** Whether anybody may know that the server itself has something at the path. */
  isOpen(path: string): boolean {
    return this.#own.isOpen(path);
  }

  /** All that can be done at a path. @param mounts undefined while the store is sealed. */
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

interface VaultTarget {
  readonly method: Method;
  readonly path: string;
  readonly match: Match;
  readonly isOpenPath: boolean;
  readonly mount?: Mount | undefined;
}

function vaultEndpoint(
  { revision }: StoreLook,
  { method, path, match, isOpenPath, mount }: VaultTarget,
): Endpoint {
  const policyPaths = (): PolicyPaths => ({ paths: spellingsOf(path, match, mount) });
  return new Endpoint({ revision, method, path, match, mount, isOpenPath, policyPrefix: '', policyPaths });
}

/** Whether a path reads as it was printed: a value with a slash in it must lead neither to another operation nor to another name. */
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

/** The prefix of `/api/v2` as policies see it, so that no transit mount's rules can be meant. */
const DOCUMENT_PREFIX = 'api/v2/';

/** The paths of `/api/v2`, without that prefix. */
export class DocumentEndpoints {
  readonly #routes: RouteTable;

  constructor(routes: readonly ServedRoute[]) {
    this.#routes = new RouteTable(routesUnder(routes, 'json-api'), decodeURIComponent);
  }

  /**
   * @param method undefined for one that nothing has.
   * @param path percent-encoded, as it was sent: what is encoded separates no segments.
   * @throws URIError for a path that is not UTF-8.
   */
  at({ revision }: StoreLook, method: Method | undefined, path: string): Endpoint {
    const match = method === undefined ? 'unsupported-operation' : this.#routes.match(method, path);
    const meant = decodeURIComponent(path);
    return new Endpoint({
      revision,
      method: method ?? 'GET',
      path: DOCUMENT_PREFIX + meant,
      match,
      policyPrefix: DOCUMENT_PREFIX,
      policyPaths: (core) => policyPathsOf(core, meant, match),
    });
  }
}
