import { madeOnce } from '../ground/objects.ts';
import { type CatalogueBranch, isEntry } from './catalogue-entry.ts';
import type { Api, Operation } from './declaration/operation.ts';
import type { Params } from './declaration/params.ts';
import { type Method, type Route, routesOf } from './declaration/route.ts';
import { MOUNT_TYPES } from './mount-types.ts';

/** Route of an operation. */
export interface ServedRoute {
  /** Place in the command tree, joined by dots: `transit.keys.trim`. */
  readonly name: string;
  readonly summary: string;
  readonly operation: Operation;
  readonly route: Route;
}

/** Loads every declaration of the catalogue. */
export async function loadRoutes(
  branch: CatalogueBranch,
  path: readonly string[] = [],
): Promise<ServedRoute[]> {
  const nested = await Promise.all(
    Object.entries(branch).map(async ([word, node]) => {
      const here = [...path, word];
      if (!isEntry(node)) return loadRoutes(node, here);
      const operation = (await node.load()).declaration;
      const name = here.join('.');
      return routesOf(operation).map((route) => ({ name, summary: node.summary, operation, route }));
    }),
  );
  return nested.flat();
}

/** Operation of a path, or the reason why there is none. */
export type Match =
  | { readonly served: ServedRoute; readonly captures: Readonly<Record<string, string>> }
  /** The path exists, with other methods. */
  | 'unsupported-operation'
  | 'unsupported-path';

interface Compiled {
  readonly served: ServedRoute;
  readonly pattern: RegExp;
}

/**
 * Routes of one path space (a mount, `/v1` itself, or `/api/v2`), compiled for matching: patterns are looked up by
 * their first segment, so that the cost of a request does not grow with the number of operations.
 */
export class RouteTable {
  readonly routes: readonly ServedRoute[];
  readonly #byFirstSegment = new Map<string, Compiled[]>();
  readonly #decode: (capture: string) => string;

  /** @param decode decodes captured segments, for paths that were not decoded as a whole */
  constructor(routes: readonly ServedRoute[], decode: (capture: string) => string = (capture) => capture) {
    this.routes = routes;
    this.#decode = decode;
    for (const served of routes) {
      const first = firstSegment(served.route);
      const known = madeOnce(this.#byFirstSegment, first, (): Compiled[] => []);
      known.push({ served, pattern: patternOf(served.route, served.operation.params) });
      // Literal text takes precedence over a parameter: `sys/mounts/x/tune` is not the path of a mount.
      known.sort((a, b) => literalLength(b) - literalLength(a));
    }
  }

  match(method: Method, path: string): Match {
    let other = false;
    for (const { served, pattern } of this.#candidates(path)) {
      const found = pattern.exec(path);
      if (found === null) continue;
      if (served.route.method === method) return { served, captures: this.#captures(found.groups ?? {}) };
      other = true;
    }
    return other ? 'unsupported-operation' : 'unsupported-path';
  }

  /** Returns all routes of the path. */
  at(path: string): readonly ServedRoute[] {
    const found = this.#candidates(path).filter(({ pattern }) => pattern.test(path));
    const [nearest] = found;
    return found
      .filter((other) => nearest !== undefined && literalLength(other) === literalLength(nearest))
      .map(({ served }) => served);
  }

  /** Whether the existence of the path is public, because some method needs no token. */
  isOpen(path: string): boolean {
    return this.#candidates(path).some(
      ({ served, pattern }) => served.operation.unauthenticated === true && pattern.test(path),
    );
  }

  #candidates(path: string): readonly Compiled[] {
    const slash = path.indexOf('/');
    return this.#byFirstSegment.get(slash === -1 ? path : path.slice(0, slash)) ?? [];
  }

  #captures(groups: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
    const captures: Record<string, string> = {};
    for (const param in groups) {
      const value = groups[param];
      if (value !== undefined) captures[param] = this.#decode(value);
    }
    return captures;
  }
}

/** Selects the routes of one API: below its own prefix, or below the mounts of a type. */
export const routesUnder = (routes: readonly ServedRoute[], api: Api, mount?: string): ServedRoute[] =>
  routes.filter(({ operation, route }) => operation.api === api && route.mount === mount);

/** Groups the routes below mounts by mount type. */
export function mountedRoutes(routes: readonly ServedRoute[]): ReadonlyMap<string, RouteTable> {
  const types = new Set(routes.flatMap(({ route }) => route.mount ?? []));
  const tables = new Map(
    [...types].map((type) => [type, new RouteTable(routesUnder(routes, 'vault', type))]),
  );
  for (const { name, operationsOf } of MOUNT_TYPES) {
    const table = operationsOf === undefined ? undefined : tables.get(operationsOf);
    if (table !== undefined) tables.set(name, table);
  }
  return tables;
}

function firstSegment(route: Route): string {
  const first = route.parts[0];
  if (first === undefined || !('text' in first)) throw new Error('a route must start with a literal segment');
  return first.text.split('/')[0] ?? '';
}

const literalLength = ({ served }: Compiled): number =>
  served.route.parts.reduce((sum, part) => sum + ('text' in part ? part.text.length : 0), 0);

const REGEXP_SPECIALS = /[.*+?^${}()|[\]\\]/g;

/** Compiles a route. A name that its parameter's pattern refuses does not match, as in Vault: 404, not 400. */
export function patternOf(route: Route, params: Params): RegExp {
  const last = route.parts.at(-1);
  const source = route.parts.map((part) => {
    if ('text' in part) return part.text.replaceAll(REGEXP_SPECIALS, '\\$&');
    const group = `?<${part.param}>`;
    if (part.optional) return part === last ? `(?:/(${group}.+))?` : `(?:/(${group}[^/]*))?`;
    if (part.many) return `(${group}[^/]+(?:/[^/]+)*)${part === last ? '/?' : ''}`;
    if (part.words !== undefined) return `(${group}${part.words.join('|')})`;
    const own = params[part.param]?.schema.pattern;
    return own === undefined ? `(${group}[^/]+)` : `(${group}${own.replace(/^\^|\$$/g, '')})`;
  });
  return new RegExp(`^${source.join('')}$`, 's');
}
