import { invalid } from '../../ground/errors.ts';
import type { JsonObject } from '../../ground/objects.ts';
import type { Operation } from '../declaration/operation.ts';
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
 * Converts the query of a request to raw values by wire name for `parseValues`. Parameters in any path of the operation
 * are ignored, even if another path was used: the target of an operation is only in the path, which policies check.
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
