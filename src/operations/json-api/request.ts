/** Converts between operations and JSON:API documents: requests here, lists of identifiers and pages in other files. */

import { invalid, ownWords } from '../../ground/errors.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import type { Operation } from '../declaration/operation.ts';
import { type Param, type Params, parseValues } from '../declaration/params.ts';
import { pathParams, routesOf } from '../declaration/route.ts';
import { queryFamily } from './query.ts';

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
