import type { Operation } from '../operations/declaration/operation.ts';
import type { EmptyList } from '../operations/declaration/table.ts';
import { type Given, textOption } from './given.ts';
import { ALL, type OperationSpec, PATH } from './parse/operation-spec.ts';

/** Options of a list that leave out no objects. */
const BESIDE_FILTERS = new Set([
  ALL,
  PATH,
  'page',
  'page-size',
  'output',
  'org',
  'store',
  'address',
  'mount',
]);

/**
 * Returns the message of an empty list, with what was typed in the command that creates the first object; without that
 * command if it is empty because of a filter.
 */
export function emptyListOf(operation: Operation, spec: OperationSpec, given: Given): EmptyList | undefined {
  const { empty } = operation.cli ?? {};
  if (empty?.create === undefined) return empty;
  const { arguments: words, options } = given;
  const isFiltered =
    spec.arguments.some(({ required }, at) => !required && words[at] !== undefined) ||
    [...options.keys()].some((flag) => !BESIDE_FILTERS.has(flag));
  if (isFiltered) return { what: empty.what };
  const typed = new Map(spec.arguments.map(({ metavar }, at) => [metavar, words[at]]));
  const create = empty.create
    .split(' ')
    .map((word) => typed.get(word) ?? word)
    .join(' ');
  const path = textOption(options, PATH);
  return { ...empty, create: path === undefined ? create : `${create} --${PATH} ${path}` };
}
