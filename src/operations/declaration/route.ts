import type { Capability } from '../../access/capability.ts';

/**
 * Route notation of declarations: `POST keys/:name/trim`, `POST random(/:bytes)`, `GET /sys/mounts/:path+/tune`.
 *
 * - `:name`     one segment
 * - `:name<a|b>` one segment, which is one of these words
 * - `(/:name)`  optional segment with its slash; the last one takes everything up to the end
 * - `:name+`    one or more segments
 */

export type Method = 'GET' | 'LIST' | 'POST' | 'PATCH' | 'DELETE';

/** Default capability of each method. */
export const CAPABILITY_OF: Readonly<Record<Method, Capability>> = {
  GET: 'read',
  LIST: 'list',
  POST: 'update',
  PATCH: 'update',
  DELETE: 'delete',
};

/** Part of a path: literal text, or a parameter's value. */
export type PathPart =
  | { readonly text: string }
  | {
      readonly param: string;
      readonly optional: boolean;
      readonly many: boolean;
      /** Allowed values of the segment. */
      readonly words?: readonly string[];
    };

export interface Route {
  readonly method: Method;
  /** Mount type; undefined below the API's own prefix. */
  readonly mount?: string | undefined;
  /** Parts without the leading slash. An optional parameter includes its slash. */
  readonly parts: readonly PathPart[];
}

const METHODS: readonly Method[] = ['GET', 'LIST', 'POST', 'PATCH', 'DELETE'];
const PART = /\(\/:(?<optional>\w+)\)|:(?<param>\w+)(?:<(?<words>[\w|-]+)>)?(?<many>\+)?|(?<text>[^:(]+)/gy;

/**
 * Parses the notation.
 * @param mount mount type of relative paths
 * @throws if the notation is malformed: an error in a declaration
 */
export function parseRoute(notation: string, mount?: string): Route {
  const method = methodOf(notation);
  const path = notation.slice(method.length + 1);
  const isRelative = !path.startsWith('/');
  const relative = isRelative ? path : path.slice(1);
  const parts: PathPart[] = [];
  let end = 0;
  for (const match of relative.matchAll(PART)) {
    parts.push(partOf(match.groups ?? {}));
    end = match.index + match[0].length;
  }
  if (end !== relative.length) throw new Error(`broken route notation "${notation}"`);
  return { method, parts, mount: isRelative && mount !== undefined ? mount : undefined };
}

/**
 * Returns the method of a route in this notation.
 * @throws if it has none
 */
export function methodOf(notation: string): Method {
  const method = METHODS.find((candidate) => notation.startsWith(`${candidate} `));
  if (method === undefined) throw new Error(`broken route notation "${notation}"`);
  return method;
}

function partOf(groups: Readonly<Record<string, string | undefined>>): PathPart {
  const { optional, param, words, many, text } = groups;
  if (optional !== undefined) return { param: optional, optional: true, many: false };
  if (param !== undefined) {
    const restriction = words === undefined ? {} : { words: words.split('|') };
    return { param, optional: false, many: many !== undefined, ...restriction };
  }
  return { text: text ?? '' };
}

export const routesOf = (operation: {
  readonly route: string | readonly string[];
  readonly mount?: string | undefined;
}): readonly Route[] => [operation.route].flat().map((notation) => parseRoute(notation, operation.mount));

/** Returns the names of the parameters in a route's path. */
export const pathParams = (route: Route): readonly string[] =>
  route.parts.flatMap((part) => ('param' in part ? [part.param] : []));

/**
 * Formats a path with values, percent-encoded, without the leading slash. An optional parameter without a value is
 * omitted, with its slash.
 * @param encode encodes a segment
 */
export function printPath(
  route: Route,
  given: (param: string) => string | undefined,
  encode: (segment: string) => string = encodeURIComponent,
): string {
  let path = '';
  for (const part of route.parts) {
    if ('text' in part) {
      path += part.text;
      continue;
    }
    const value = given(part.param) ?? '';
    if (part.optional && value === '') continue;
    const encoded = part.many ? value.split('/').map(encode).join('/') : encode(value);
    path += part.optional ? `/${encoded}` : encoded;
  }
  return path;
}
