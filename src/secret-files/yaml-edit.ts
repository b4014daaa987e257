import { type CofferError, invalid } from '../ground/errors.ts';
import type { ScalarPlace } from './format.ts';
import { addedInFlow, gapFor, parentOf, refuseToMoveOthers, removedInFlow, type TreeBranch } from './tree.ts';

/* Adds and removes values in the text of a YAML file, preserving its indentation. */

/** Document of the file: prefix of its names, and its root map or list. */
export interface YamlDocument {
  readonly prefix: string;
  readonly root: TreeBranch | undefined;
}

const STEP = '  ';
/** Text that needs no quotes outside of brackets, in any version of YAML. */
const BARE = /^[A-Za-z_/][\w./@+%=-]*(?::[\w./@+%=-]+)*$/;
const NO_STRINGS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/** Formats a string in YAML, on one line. */
export const yamlString = (text: string): string =>
  BARE.test(text) && !NO_STRINGS.test(text) ? text : JSON.stringify(text);

export function addedToYaml(
  text: string,
  documents: readonly YamlDocument[],
  name: string,
  value: string,
): string {
  const [, prefix = ''] = /^(\d+#)/.exec(name) ?? [];
  const document = documents.find((candidate) => candidate.prefix === prefix);
  const rest = name.slice(prefix.length);
  if (document?.root === undefined) {
    if (documents.length > 1 || prefix !== '' || hasContent(text)) throw noPlace(name);
    return appended(text, text.length, nested('', rest.split('.') as [string, ...string[]], value));
  }
  const { branch, missing } = gapFor(document.root, rest);
  if (branch.isFlow) return addedInFlow(text, branch, { missing, value }, yamlString);
  const column = ' '.repeat(branch.start - (text.lastIndexOf('\n', branch.start - 1) + 1));
  const end = branch.entries.at(-1)?.end ?? branch.end;
  return appended(text, end, nested(column, missing, value, branch.isList));
}

const hasContent = (text: string): boolean => /^[ \t]*[^#\s%-]/m.test(text);

const noPlace = (name: string): CofferError =>
  invalid(`cannot add ${name} to this file`, {
    field: 'NAME',
    hint: 'the YAML document must exist and be a map or a list; names in the second document begin with 2#',
  });

/** Formats the lines for a value below missing keys. */
function nested(
  indent: string,
  [key, ...below]: readonly [string, ...string[]],
  value: string,
  inList = false,
): readonly string[] {
  const head = inList ? `${indent}-` : `${indent}${yamlString(key)}:`;
  const [next, ...rest] = below;
  if (next === undefined) return [`${head} ${yamlString(value)}`];
  return [head, ...nested(indent + STEP, [next, ...rest], value)];
}

/** Inserts lines after the line of an offset. */
function appended(text: string, offset: number, added: readonly string[]): string {
  const newline = /\r?\n/.exec(text)?.[0] ?? '\n';
  const lines = added.join(newline);
  const lineEnd = text.indexOf('\n', offset);
  if (lineEnd >= 0) return `${text.slice(0, lineEnd + 1)}${lines}${newline}${text.slice(lineEnd + 1)}`;
  if (text === '' || text === '\ufeff' || text.endsWith('\n')) return `${text}${lines}${newline}`;
  return `${text}${newline}${lines}`;
}

export function removedFromYaml(
  text: string,
  documents: readonly YamlDocument[],
  place: ScalarPlace,
): string {
  const parent = documents
    .map(({ root }) => (root === undefined ? undefined : parentOf(root, place)))
    .find((found) => found !== undefined);
  if (parent === undefined) throw byHand(place);
  const { branch, index } = parent;
  refuseToMoveOthers(branch, index, place);
  if (branch.isFlow) return removedInFlow(text, branch, index);
  const [entry, next] = [branch.entries[index], branch.entries[index + 1]];
  if (entry === undefined) throw byHand(place);
  const lineStart = text.lastIndexOf('\n', entry.start - 1) + 1;
  const isFirstOfLine = /^[\ufeff \t]*$/.test(text.slice(lineStart, entry.start));
  if (isFirstOfLine) {
    const lineEnd = text.indexOf('\n', entry.end);
    return text.slice(0, lineStart) + (lineEnd < 0 ? '' : text.slice(lineEnd + 1));
  }
  if (next === undefined) throw byHand(place);
  return text.slice(0, entry.start) + text.slice(next.start);
}

const byHand = ({ name }: ScalarPlace): CofferError =>
  invalid(`cannot remove ${name} from its line`, { field: 'NAME', hint: 'remove it in an editor' });
