import { invalid } from '../../ground/errors.ts';
import type { Operation } from '../declaration/operation.ts';
import { pathParams, routesOf } from '../declaration/route.ts';

type Raw = Readonly<Record<string, unknown>>;

/**
 * Parameters that change what is found. One of them that is not known is refused: to leave it out would answer another question, and
 * "every workspace with env=dev" would be every workspace. Others are ignored, as real clients send some.
 */
const CHANGES_RESULT = /^(?:filter|search|q|page|sort|include)(?:$|\[)/;
/** Sent to every list, be it in pages or whole. */
const PAGES: ReadonlySet<string> = new Set(['page[number]', 'page[size]']);

/**
 * Raw values by wire name for `parseValues`, from the query of a request. What a path of the operation carries is left out, be it
 * another one than was taken: what an operation is about is in the path alone, which is what policies judge.
 * @param query each name with its value, several in an array.
 * @throws `invalid` naming a parameter that is given twice, or not known where it would change the result.
 */
export function readQuery(operation: Operation, query: Raw): Raw {
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
      throw invalid(`${name} is not known here, and leaving it out would change the answer`, { field: name });
    } else raw[name] = value;
  }
  for (const [family, members] of families) raw[family] = operation.params[family]?.query?.read(members);
  return raw;
}

/** The parameter that is written as several: `filter[tagged]` for `filter[tagged][0][key]`. */
const familyOf = ({ params }: Operation, name: string): string | undefined =>
  Object.keys(params).find((family) => params[family]?.query !== undefined && name.startsWith(`${family}[`));

/** An empty filter leaves nothing out. */
const isRefused = (name: string, value: unknown): boolean =>
  CHANGES_RESULT.test(name) && !PAGES.has(name) && [value].flat().some((item) => item !== '');

function once(name: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  throw invalid(`${name} is given ${value.length} times`, { field: name, hint: 'give it once' });
}

/** Whether an error that names this field is about the query: its part in front, e.g. `filter` for `filter[tagged]`. */
export const queryFamily = (field: string): string | undefined =>
  CHANGES_RESULT.test(field) ? field.split('[')[0] : undefined;
