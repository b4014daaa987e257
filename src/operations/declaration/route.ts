import type { Capability } from '../../access/capability.ts';

/**
 * The route notation of declarations: `POST keys/:name/trim`, `POST random(/:bytes)`, `GET /sys/mounts/:path+/tune`.
 *
 * - `:name`     one segment
 * - `:name<a|b>` one segment, which is one of these words
 * - `(/:name)`  the same with its slash, or nothing; the last one takes everything up to the end
 * - `:name+`    one segment or more
 */

export type Method = 'GET' | 'LIST' | 'POST' | 'PATCH' | 'DELETE';

/** What policies are asked for where no operation says otherwise. */
export const CAPABILITY_OF: Readonly<Record<Method, Capability>> = {
  GET: 'read',
  LIST: 'list',
  POST: 'update',
  PATCH: 'update',
  DELETE: 'delete',
};

/** A part of a path: text as it stands, or a parameter's value. */
export type PathPart =
  | { readonly text: string }
  | {
      readonly param: string;
      readonly optional: boolean;
      readonly many: boolean;
      /** The only ones that the segment may be. */
      readonly words?: readonly string[];
    };

export interface Route {
  readonly method: Method;
  /** The type of the mounts below which it lies; undefined below the API's own prefix. */
  readonly mount?: string;
  /** Without the slash at the start. An optional parameter brings its slash along. */
  readonly parts: readonly PathPart[];
}

const METHODS: readonly Method[] = ['GET', 'LIST', 'POST', 'PATCH', 'DELETE'];
const PART = /\(\/:(?<optional>\w+)\)|:(?<param>\w+)(?:<(?<words>[\w|-]+)>)?(?<many>\+)?|(?<text>[^:(]+)/gy;

/**
 * @param mount the type of mounts that relative paths lie below.
 * @throws when the notation is broken: a mistake in a declaration.
 */
export function parseRoute(notation: string, mount?: string): Route {
  const space = notation.indexOf(' ');
  const method = METHODS.find((candidate) => candidate === notation.slice(0, space));
  const path = notation.slice(space + 1);
  const isRelative = !path.startsWith('/');
  const relative = isRelative ? path : path.slice(1);
  const parts: PathPart[] = [];
  let end = 0;
  for (const match of relative.matchAll(PART)) {
    parts.push(partOf(match.groups ?? {}));
    end = match.index + match[0].length;
  }
  if (method === undefined || end !== relative.length) throw new Error(`broken route notation "${notation}"`);
  return { method, parts, ...(isRelative && mount !== undefined ? { mount } : {}) };
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

/** The names of the parameters that a route carries in its path. */
export const pathParams = (route: Route): readonly string[] =>
  route.parts.flatMap((part) => ('param' in part ? [part.param] : []));

/**
 * The path of a route with values in it, percent-encoded, without the slash at the start.
 * An optional parameter is left out, with its slash, when `given` has none for it.
 * @param encode how a segment is written.
 */
export function printPath(
  route: Route,
  given: (param: string) => string | undefined,
  encode: (segment: string) => string = encodeURIComponent,
): string {
  return route.parts
    .map((part) => {
      if ('text' in part) return part.text;
      const value = given(part.param) ?? '';
      const encoded = part.many ? value.split('/').map(encode).join('/') : encode(value);
      if (part.optional) return value === '' ? '' : `/${encoded}`;
      return encoded;
    })
    .join('');
}
