/** Converts between operations and JSON:API documents: requests here, lists of identifiers and pages in other files. */

import { invalid, ownWords } from '../../ground/errors.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import type { Operation } from '../declaration/operation.ts';
import { type Param, type Params, parseValues } from '../declaration/params.ts';
import { pathParams, routesOf } from '../declaration/route.ts';

/**
 * Query parameters that affect the result. An unknown one of them is refused: ignoring it would answer another
 * question, and "every workspace with env=dev" would return every workspace. Others are ignored, because real clients
 * send some.
 */
const CHANGES_RESULT = /^(?:filter|search|q|page|sort|include)(?:$|\[)/;
/** Accepted by every list, paged or not. */
const PAGES: ReadonlySet<string> = new Set(['page[number]', 'page[size]']);

/**
 * Converts the query of a request to raw values by wire name for `parseValues`. A query parameter with the name of a
 * path parameter is ignored, even if that belongs to another route of the operation: only the path names the target,
 * because policies check the path.
 * @param query names and values, several values in an array
 * @throws `invalid` naming a parameter that is given twice, or an unknown one that would affect the result
 */
export function readQuery(operation: Operation, query: JsonObject): JsonObject {
  const inPaths = new Set(routesOf(operation).flatMap(pathParams));
  const raw: Record<string, unknown> = {};
  const families = new Map<string, (readonly [string, unknown])[]>();
  for (const [name, value] of Object.entries(query)) {
    if (inPaths.has(name)) continue;
    const param = operation.params[name];
    const family = familyOf(operation, name);
    if (family !== undefined)
      families.set(family, [...(families.get(family) ?? []), [name, once(name, value)]]);
    else if (param !== undefined && param.document === undefined && param.query === undefined) {
      raw[name] = param.repeated ? value : once(name, value);
    } else if (isRefused(name, value)) {
      throw invalid(`unsupported parameter ${name}`, { field: name });
    } else raw[name] = value;
  }
  for (const [family, members] of families) raw[family] = operation.params[family]?.query?.read(members);
  return raw;
}

/** Finds the parameter that consists of several: `filter[tagged]` for `filter[tagged][0][key]`. */
const familyOf = ({ params }: Operation, name: string): string | undefined =>
  Object.keys(params).find((family) => params[family]?.query !== undefined && name.startsWith(`${family}[`));

/** Whether an unknown parameter is refused; an empty filter has no effect. */
const isRefused = (name: string, value: unknown): boolean =>
  CHANGES_RESULT.test(name) && !PAGES.has(name) && [value].flat().some((item) => item !== '');

function once(name: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  throw invalid(`${name} is given ${value.length} times`, { field: name, hint: 'use it once' });
}

/**
 * Returns the first part of a query parameter's name, e.g. `filter` for `filter[tagged]`; undefined if the field is not
 * a query parameter.
 */
export const queryFamily = (field: string): string | undefined =>
  CHANGES_RESULT.test(field) ? field.split('[')[0] : undefined;

type DeclaredDocument = Pick<Operation, 'params' | 'resource'>;

const withDocument = (params: Params, place: 'data' | 'attributes' | 'relationships') =>
  Object.entries(params).filter(([, param]) => param.document === place);

/**
 * Parses a JSON:API request document into raw values by wire name, for `parseValues`. Members without a declared
 * parameter are ignored: clients send dozens.
 * @param body parsed JSON of the body; undefined if there is none
 * @throws `invalid` with a JSON pointer as `field` if `data` is absent or of the wrong shape or type
 */
export function readDocument(operation: DeclaredDocument, body: unknown): JsonObject {
  const [whole] = withDocument(operation.params, 'data');
  if (whole === undefined && operation.resource === undefined) return {};
  const data = isObject(body) ? body['data'] : undefined;
  if (data === undefined || data === null) throw invalid(ownWords('data is missing'), { field: '/data' });
  if (whole !== undefined) return { [whole[0]]: linkageOf(whole[1], data, '/data') };
  if (!isObject(data))
    throw invalid(ownWords('must be a resource object'), {
      field: '/data',
      hint: `use an object such as {"type": "${operation.resource}", "attributes": {…}}`,
    });
  if (data['type'] !== operation.resource) {
    throw invalid(`type must be "${operation.resource}"`, { field: '/data/type' });
  }
  return { ...attributesOf(operation.params, data), ...relationshipsOf(operation.params, data) };
}

function attributesOf(params: Params, data: JsonObject): JsonObject {
  const attributes = objectIn(data, 'attributes', '/data/attributes');
  return Object.fromEntries(
    withDocument(params, 'attributes').flatMap(([name]) =>
      Object.hasOwn(attributes, name) ? [[name, attributes[name]]] : [],
    ),
  );
}

/** Relationships that clients send back unchanged: they follow from the path. */
const FROM_PATH: ReadonlySet<string> = new Set(['organization']);

function relationshipsOf(params: Params, data: JsonObject): JsonObject {
  const relationships = objectIn(data, 'relationships', '/data/relationships');
  refuseUnkept(params, relationships);
  return Object.fromEntries(
    withDocument(params, 'relationships').flatMap(([name, param]) => {
      if (!Object.hasOwn(relationships, name)) return [];
      const pointer = `/data/relationships/${name}`;
      const relationship = objectIn(relationships, name, pointer);
      const linkage = relationship['data'];
      // A relationship that was read only has a link.
      if (linkage === undefined && isObject(relationship['links'])) return [];
      if (linkage === undefined) throw invalid(ownWords('data is missing'), { field: `${pointer}/data` });
      return [[name, linkageOf(param, linkage, `${pointer}/data`)]];
    }),
  );
}

/**
 * Refuses unknown relationships: a requested relation would be lost silently.
 * @throws `invalid` for a relationship that is not stored
 */
function refuseUnkept(params: Params, relationships: JsonObject): void {
  const known = new Set(withDocument(params, 'relationships').map(([name]) => name));
  for (const [name, relationship] of Object.entries(relationships)) {
    if (known.has(name) || FROM_PATH.has(name) || !isObject(relationship)) continue;
    const linkage = relationship['data'];
    if (linkage === undefined || linkage === null) continue;
    if (Array.isArray(linkage) && linkage.length === 0) continue;
    throw invalid(`${name} cannot be set`, { field: `/data/relationships/${name}` });
  }
}

/**
 * Validates linkage. Plain texts and objects without a type are input of command lines and programs; in a document they
 * are errors.
 */
function linkageOf({ schema }: Param<unknown>, linkage: unknown, pointer: string): unknown {
  if (typeof linkage === 'string') {
    throw invalid(ownWords('must be an array of resource identifiers'), { field: pointer });
  }
  const type = (schema.items ?? schema).properties?.['type']?.enum?.[0];
  const check = (item: unknown, field: string): void => {
    if (!isObject(item)) throw invalid(ownWords('must be a resource identifier'), { field });
    if (item['type'] !== type) throw invalid(`type must be "${type}"`, { field: `${field}/type` });
  };
  if (isObject(linkage)) check(linkage, pointer);
  for (const [index, item] of (Array.isArray(linkage) ? linkage : []).entries()) {
    check(item, `${pointer}/${index}`);
  }
  return linkage;
}

function objectIn(holder: JsonObject, name: string, pointer: string): JsonObject {
  const value = holder[name];
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw invalid(ownWords('must be an object'), { field: pointer });
  return value;
}

/** Prints the request document for raw values; undefined for an operation without one. */
export function printDocument(operation: DeclaredDocument, raw: JsonObject): object | undefined {
  const [whole] = withDocument(operation.params, 'data');
  if (whole === undefined && operation.resource === undefined) return undefined;
  const values: JsonObject = parseValues(operation.params, raw).values;
  const printed = (place: 'data' | 'attributes' | 'relationships') =>
    withDocument(operation.params, place).flatMap(([name, param]) =>
      values[name] === undefined
        ? []
        : [[name, param.print === undefined ? values[name] : param.print(values[name])] as const],
    );
  if (whole !== undefined) return { data: printed('data')[0]?.[1] };
  const relationships = printed('relationships').map(([name, data]) => [name, { data }]);
  return {
    data: {
      type: operation.resource,
      attributes: Object.fromEntries(printed('attributes')),
      relationships: relationships.length === 0 ? undefined : Object.fromEntries(relationships),
    },
  };
}

/**
 * Returns the source of a JSON:API error: a pointer for the body, else the name of a query parameter; undefined for the
 * path.
 * @param field `field` of a `CofferError`
 */
export function errorSource(
  operation: Pick<Operation, 'params' | 'route'>,
  field: string,
): { readonly pointer: string } | { readonly parameter: string } | undefined {
  if (field.startsWith('/')) return { pointer: field };
  const param = operation.params[field];
  if (param === undefined && queryFamily(field) !== undefined) return { parameter: field };
  if (param?.document === 'data') return { pointer: '/data' };
  if (param?.document !== undefined) return { pointer: `/data/${param.document}/${field}` };
  const inPath = routesOf(operation).some((route) => pathParams(route).includes(field));
  return param === undefined || inPath ? undefined : { parameter: field };
}
