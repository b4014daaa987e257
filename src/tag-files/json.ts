import { refusedAt, type TagFormat } from './tag-file.ts';
import { fromTree, toTree } from './tree.ts';

export const json: TagFormat = {
  parse(text, file, checks) {
    return fromTree(parsed(text, file), file, checks);
  },
  print: (content) => `${JSON.stringify(toTree(content), undefined, 2)}\n`,
};

/** Parses JSON. Of duplicate names, `JSON.parse` would use the last one; they are refused. */
function parsed(text: string, file: string): unknown {
  let tree: unknown;
  try {
    tree = JSON.parse(text);
  } catch (error) {
    throw refusedAt(file, '', `invalid JSON: ${(error as Error).message}`);
  }
  const duplicate = duplicateIn(text);
  if (duplicate === undefined) return tree;
  const line = text.slice(0, duplicate.index).split('\n').length;
  throw refusedAt(file, `line ${line}`, `duplicate entry "${duplicate.name}"`);
}

/** Strings, what structures the rest, and the rest, which has neither. */
const TOKEN = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|[{}[\],:]|[^"{}[\],:]+/y;

const STRUCTURE = '{}[],:';

/**
 * Returns the first name that an object has twice.
 * @param json valid JSON
 */
function duplicateIn(json: string): { readonly name: string; readonly index: number } | undefined {
  /** Names of each open object; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  let before = '';
  TOKEN.lastIndex = 0;
  for (let index = 0; index < json.length; index = TOKEN.lastIndex) {
    const token = TOKEN.exec(json)?.[0];
    if (token === undefined) return undefined;
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token.startsWith('"') && before !== ':') {
      const names = open.at(-1);
      const name: string = JSON.parse(token);
      if (names?.has(name)) return { name, index };
      names?.add(name);
    }
    if (STRUCTURE.includes(token)) before = token;
  }
  return undefined;
}
