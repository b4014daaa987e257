import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  parseDocument,
  type Scalar,
  stringify,
} from 'yaml';
import { refusedAt, type TagFormat } from './tag-file.ts';
import { fromTree, toTree } from './tree.ts';

/** YAML 1.2, one document, without anchors and aliases. */
export const yaml: TagFormat = {
  parse(text, file, checks) {
    const document = parseDocument(text, OPTIONS);
    const [error] = document.errors;
    if (error !== undefined) {
      const line = text.slice(0, error.pos[0]).split('\n').length;
      throw refusedAt(file, `line ${line}`, `invalid YAML: ${error.message}`);
    }
    const { contents } = document;
    const tree = contents === null ? undefined : plain(contents as ParsedNode, file, '');
    return fromTree(tree, file, checks);
  },
  print: (content) => stringify(toTree(content), { lineWidth: 0 }),
};

const OPTIONS = {
  // The package's own check is quadratic in the number of keys.
  uniqueKeys: false,
  logLevel: 'silent',
  prettyErrors: false,
} as const;

/** Converts a node to plain values; every key must be a unique text. */
function plain(node: ParsedNode | null, file: string, place: string): unknown {
  if (node === null) return null;
  if (isAlias(node)) throw refusedAt(file, place, 'YAML aliases are not supported here');
  if (isScalar(node)) return textOf(node);
  if (isSeq(node))
    return node.items.map((item, index) => plain(item as ParsedNode, file, `${place}[${index}]`));
  if (!isMap(node)) return undefined;
  const members: Record<string, unknown> = Object.create(null);
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? textOf(key) : undefined;
    if (typeof name !== 'string') throw refusedAt(file, place, 'a name must be a string');
    if (name in members) throw refusedAt(file, place, `duplicate entry "${name}"`);
    members[name] = plain(value as ParsedNode | null, file, place === '' ? name : `${place}.${name}`);
  }
  return members;
}

/** Returns the text of a scalar: an unquoted name may look like a number. */
const textOf = ({ value, source }: Scalar): unknown =>
  value === null || typeof value === 'string' ? value : (source ?? String(value));
