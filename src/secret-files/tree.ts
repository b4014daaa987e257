import { type CofferError, invalid } from '../ground/errors.ts';
import { nameOf, pathOf, type ScalarPlace } from './format.ts';

/* Common code for YAML and JSON: values in maps and lists, at ranges of the text. */

/** Map or list. */
export interface TreeBranch {
  readonly isList: boolean;
  /** Whether it is in brackets. */
  readonly isFlow: boolean;
  readonly start: number;
  readonly end: number;
  readonly entries: readonly TreeEntry[];
}

/** Member of a map or entry of a list, from its key, or its value, to the end of its value. */
export interface TreeEntry {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  /** Value; undefined for a node without one of its own, such as an alias. */
  readonly value: TreeBranch | ScalarPlace | undefined;
}

const isPlace = (value: TreeBranch | ScalarPlace): value is ScalarPlace => 'source' in value;

/** Finds the map or list of a place, and its index there. */
export function parentOf(
  root: TreeBranch,
  place: ScalarPlace,
): { readonly branch: TreeBranch; readonly index: number } | undefined {
  for (const [index, { value }] of root.entries.entries()) {
    if (value === place) return { branch: root, index };
    if (value === undefined || isPlace(value) || value.start > place.start || value.end < place.end) continue;
    const found = parentOf(value, place);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Finds the location for a new value.
 * @returns the deepest existing map or list, and the missing keys below it
 * @throws `invalid` if something else is in the way, or a list would have a gap
 */
export function gapFor(
  root: TreeBranch,
  name: string,
): { readonly branch: TreeBranch; readonly missing: readonly [string, ...string[]] } {
  const path = pathOf(name);
  let branch = root;
  for (const [depth, key] of path.entries()) {
    const entry = branch.entries.find((candidate) => candidate.key === key);
    if (entry === undefined) {
      if (branch.isList && key !== String(branch.entries.length)) {
        throw invalid(`cannot add ${name}`, {
          field: 'NAME',
          hint: `use the next free position in the list, ${nameOf([...path.slice(0, depth), String(branch.entries.length)])}`,
        });
      }
      return { branch, missing: [key, ...path.slice(depth + 1)] };
    }
    const { value } = entry;
    if (value === undefined || isPlace(value)) throw inTheWay(name, path.slice(0, depth + 1));
    branch = value;
  }
  throw invalid(`${name} is a map or a list, not a single value`, { field: 'NAME' });
}

const inTheWay = (name: string, path: readonly string[]): CofferError =>
  invalid(
    nameOf(path) === name
      ? `${name} is not a single value`
      : `cannot add ${name}: ${nameOf(path)} is a value`,
    { field: 'NAME' },
  );

/**
 * Refuses to remove a list entry before others.
 * @throws `invalid`, because each is bound to its index
 */
export function refuseToMoveOthers(
  { isList, entries }: TreeBranch,
  index: number,
  { name }: ScalarPlace,
): void {
  if (!isList || index === entries.length - 1) return;
  throw invalid(`cannot remove ${name} from its list`, {
    field: 'NAME',
    hint: 'remove it with "coffer edit FILE": the values after it change position, which requires encrypting them again',
  });
}

/**
 * Adds a value at the end of a map or list in brackets, formatted like the previous one.
 * @param missing keys, of which all but the first are those of new maps
 * @param keyText formats the first one
 */
export function addedInFlow(
  text: string,
  { isList, start, end, entries }: TreeBranch,
  {
    missing: [key, ...below],
    value,
  }: { readonly missing: readonly [string, ...string[]]; readonly value: string },
  keyText: (key: string) => string,
): string {
  const inner = below.reduceRight(
    (json, next) => `{${JSON.stringify(next)}: ${json}}`,
    JSON.stringify(value),
  );
  const entry = isList ? inner : `${keyText(key)}: ${inner}`;
  const last = entries.at(-1);
  const before = entries.at(-2)?.end ?? start;
  if (last === undefined) return `${text.slice(0, start + 1)}${entry}${text.slice(end - 1)}`;
  const between = text.slice(before, last.start);
  const blank = between.slice(between.trimEnd().length);
  const isCrowded = entries.length === 1 && !blank.includes('\n') && blank === '';
  return `${text.slice(0, last.end)},${isCrowded ? ' ' : blank}${entry}${text.slice(last.end)}`;
}

/** Removes an entry in brackets, with a comma. */
export function removedInFlow(text: string, { start, end, entries }: TreeBranch, index: number): string {
  const cut = (from: number, to: number): string => text.slice(0, from) + text.slice(to);
  const [previous, entry, next] = [entries[index - 1], entries[index], entries[index + 1]];
  if (entry === undefined) return text;
  if (previous !== undefined) return cut(previous.end, entry.end);
  return next === undefined ? cut(start + 1, end - 1) : cut(entry.start, next.start);
}
