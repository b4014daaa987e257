import { pathParams, printPath } from '../../src/operations/declaration/route.ts';
import { usualPath } from '../../src/operations/mount-types.ts';
import type { ServedRoute } from '../../src/operations/routes.ts';
import type { Hurtful } from './hurtful.ts';

/** A request of one route in which one parameter is as long as it is asked to be, and all others make sense. */

export interface Asked {
  readonly method: string;
  readonly target: string;
  readonly contentType: string;
  readonly body?: string;
}

type Raw = Readonly<Record<string, unknown>>;

/** JSON that stands as it is where a value belongs, so that it may be broken, deep or a number without end. */
export interface Written {
  readonly what: string;
  of(length: number): string;
}

/** Stands in a body until what is written takes its place. */
const MARK = 'x0markx0';

const times = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length));

/** Values that are no texts, or no JSON at all. */
export const WRITTEN: readonly Written[] = [
  { what: 'a long number', of: (length) => times('7', length) },
  { what: 'a number with a long exponent', of: (length) => `1e${times('9', length)}` },
  { what: 'a long list of numbers', of: (length) => `[0${times(',12345678901234567890', length)}]` },
  { what: 'a long list of texts', of: (length) => `["a"${times(',"a"', length)}]` },
  {
    what: 'a long list of different texts',
    of: (length) => JSON.stringify(Array.from({ length: length / 8 }, (_, index) => `a${index}`)),
  },
  { what: 'a long list of empty objects', of: (length) => `[{}${times(',{}', length)}]` },
  { what: 'a long list of lists', of: (length) => `[[]${times(',[]', length)}]` },
  { what: 'lists within lists', of: (length) => times('[', length / 2) + times(']', length / 2) },
  {
    what: 'lists within lists, some way',
    of: (length) => `[${times(`${'['.repeat(90)}${']'.repeat(90)},`, length)}0]`,
  },
  { what: 'objects within objects', of: (length) => `${times('{"a":', length)}0${times('}', length / 5)}` },
  {
    what: 'an object of many members',
    of: (length) => `{"a":1${Array.from({ length: length / 10 }, (_, at) => `,"a${at}":"b"`).join('')}}`,
  },
  {
    what: 'an object of the same member again and again',
    of: (length) => `{"a":1${times(',"a":1', length)}}`,
  },
  {
    what: 'an object of names made to share a place in a table',
    of: (length) => `{"a":1${Array.from({ length: length / 10 }, (_, at) => `,"${at}":0`).join('')}}`,
  },
  { what: 'a list that does not end', of: (length) => times('[1,', length) },
  { what: 'a text of escapes', of: (length) => `"${times('\\u0041', length)}"` },
  { what: 'a text of halves of characters', of: (length) => `"${times('\\ud800', length)}"` },
  {
    what: 'items of a batch',
    of: (length) => `[{"a":"b"}${times(',{"plaintext":"YQ==","context":"YQ=="}', length)}]`,
  },
  {
    what: 'members of a document',
    of: (length) => `[{"type":"tags"}${times(',{"type":"tags","id":"tag-0000000000000000"}', length)}]`,
  },
];

/** Members beside the parameters of an operation, in the place of which they may be taken. */
export const MEMBERS: readonly Written[] = [
  {
    what: 'values that stand in each other’s hashes',
    of: (length) =>
      `"z":"invalid"${Array.from({ length: length / 32 }, (_, at) => `,"a${at}":"mac-","b${at}":"sha2"`).join('')}`,
  },
  {
    what: 'values that stand in an error',
    of: (length) =>
      `"z":"permission"${Array.from({ length: length / 24 }, (_, at) => `,"a${at}":"denied","b${at}":"error"`).join('')}`,
  },
  {
    what: 'many names that mean nothing',
    of: (length) => `"z":1${Array.from({ length: length / 10 }, (_, at) => `,"a${at}":"b"`).join('')}`,
  },
  { what: 'one name again and again', of: (length) => `"z":1${times(',"z":2', length)}` },
  { what: 'a deep member', of: (length) => `"z":${times('{"z":', length)}1${times('}', length / 5)}` },
  {
    what: 'a name of the object’s own',
    of: (length) => `"__proto__":{"z":1}${times(',"__proto__":[]', length)}`,
  },
];

const prefixOf = ({ operation, route }: ServedRoute): string => {
  if (operation.api === 'json-api') return '/api/v2/';
  return route.mount === undefined ? '/v1/' : `/v1/${usualPath(route.mount)}/`;
};

/** Whether the route has its parameters in the query, since it has no body. */
const isAsking = ({ route }: ServedRoute): boolean => route.method === 'GET' || route.method === 'LIST';

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function pathOf(served: ServedRoute, raw: Raw, encode?: (segment: string) => string): string {
  return (
    prefixOf(served) +
    printPath(
      served.route,
      (name) => {
        const value = raw[name] ?? 'x';
        return typeof value === 'object' ? 'x' : String(value).toWellFormed();
      },
      encode,
    )
  );
}

function queryOf(raw: Raw, names: readonly string[]): string {
  const pairs = names.map((name): [string, string] => [name, textOf(raw[name]).toWellFormed()]);
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

function bodyOf({ operation }: ServedRoute, raw: Raw, names: readonly string[]): unknown {
  const given = (place?: string) =>
    names.filter((name) => place === undefined || operation.params[name]?.document === place);
  const members = (place?: string) => Object.fromEntries(given(place).map((name) => [name, raw[name]]));
  if (operation.api !== 'json-api') return members();
  const [whole] = given('data');
  if (whole !== undefined) return { data: raw[whole] };
  const related = Object.entries(members('relationships')).map(([name, data]) => [name, { data }]);
  const data = {
    type: operation.resource,
    attributes: members('attributes'),
    relationships: Object.fromEntries(related),
  };
  return { data };
}

const typeOf = ({ operation }: ServedRoute): string =>
  operation.api === 'json-api' ? 'application/vnd.api+json' : 'application/json';

/** How a value that hurts reaches a parameter; undefined where this one does not reach it. */
export interface Way {
  readonly what: string;
  request(length: number): Asked;
}

/** All ways in which a parameter can be sent what hurts. @param raw values that make sense, for all of them. */
export function waysTo(
  served: ServedRoute,
  name: string,
  raw: Raw,
  texts: readonly Hurtful[],
  written: readonly Written[] = WRITTEN,
): readonly Way[] {
  const { method } = served.route;
  const inPath = pathParams(served.route);
  const others = Object.keys(raw).filter((one) => !inPath.includes(one));
  if (inPath.includes(name)) {
    // A server takes no longer heads. What is written as it is needs no escapes, and may mean something to a path.
    return texts.flatMap(({ what, of }) =>
      [encodeURIComponent, encodeURI].map((encode) => ({
        what: `${name} in the path is ${what}`,
        request: (length: number) => {
          const text = of(length).toWellFormed();
          const target = pathOf(served, { ...raw, [name]: text }, (segment) =>
            encode(segment).replaceAll('?', '%3F'),
          );
          return { method, target: target.slice(0, length), contentType: typeOf(served) };
        },
      })),
    );
  }
  const path = pathOf(served, raw);
  const names = [...new Set([...others, name])];
  if (isAsking(served)) {
    return texts.map(({ what, of }) => ({
      what: `${name} in the query is ${what}`,
      request: (length: number) => ({
        method,
        target:
          `${path}${queryOf({ ...raw, [name]: of(length) }, [name, ...names.filter((one) => one !== name)])}`.slice(
            0,
            length,
          ),
        contentType: typeOf(served),
      }),
    }));
  }
  const around = JSON.stringify(bodyOf(served, { ...raw, [name]: MARK }, names));
  const [before = '', after = ''] = around.split(`"${MARK}"`);
  const values = [
    ...texts.map(({ what, of }) => ({ what, of: (length: number) => JSON.stringify(of(length)) })),
    ...written,
  ];
  return values.map(({ what, of }) => ({
    what: `${name} is ${what}`,
    request: (length: number) => ({
      method,
      target: path,
      contentType: typeOf(served),
      body: before + of(length) + after,
    }),
  }));
}

/** All ways to send members beside the parameters, or in place of a body. */
export function waysBeside(served: ServedRoute, raw: Raw, texts: readonly Hurtful[]): readonly Way[] {
  const { method } = served.route;
  const inPath = pathParams(served.route);
  const names = Object.keys(raw).filter((one) => !inPath.includes(one));
  const target = pathOf(served, raw);
  if (isAsking(served)) {
    return texts.map(({ what, of }) => ({
      what: `the query is ${what}`,
      request: (length: number) => ({
        method,
        target: `${target}?${encodeURI(of(length).toWellFormed())}`.slice(0, length),
        contentType: typeOf(served),
      }),
    }));
  }
  const around = JSON.stringify(bodyOf(served, raw, names));
  return [
    ...MEMBERS.map(({ what, of }) => ({
      what: `there are ${what}`,
      request: (length: number) => ({
        method,
        target,
        contentType: typeOf(served),
        body: `{${of(length)}${around === '{}' ? '' : ','}${around.slice(1)}`,
      }),
    })),
    ...texts.flatMap(({ what, of }) =>
      [typeOf(served), 'application/x-www-form-urlencoded'].map((contentType) => ({
        what: `the body, as ${contentType}, is ${what}`,
        request: (length: number) => ({ method, target, contentType, body: of(length) }),
      })),
    ),
  ];
}
