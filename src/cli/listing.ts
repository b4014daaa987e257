import type { Operation } from '../operations/declaration/operation.ts';
import type { EmptyList } from '../operations/declaration/table.ts';
import type { ListDocument } from '../operations/json-api/pages.ts';
import { type Given, textOption } from './given.ts';
import { ALL, type OperationSpec, PATH } from './parse/operation-spec.ts';
import type { Session } from './session.ts';

/** Options of a list that leave out no objects. */
const BESIDE_FILTERS = new Set([
  ...[ALL, 'page', 'page-size', 'output'],
  ...[PATH, 'org', 'store', 'address', 'mount'],
]);

/**
 * Returns the message for an empty list. It shows the command that creates a first object, with the options that were
 * typed; if a filter may have hidden objects, it shows no command.
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

/**
 * Warns of further pages. Tables and documents show the page number; lines do not, and a script would take the first
 * page for everything.
 */
export function warnOfMore(session: Session, { options }: Given, data: unknown): void {
  const { pagination } = (data as Partial<ListDocument<unknown>> | undefined)?.meta ?? {};
  const knowsOfPages = [ALL, 'page', 'page-size'].some((flag) => options.has(flag));
  if (knowsOfPages || !pagination || pagination['next-page'] === null) return;
  session.warn(`showing ${pagination['page-size']} of ${pagination['total-count']} (use --all to list all)`);
}
