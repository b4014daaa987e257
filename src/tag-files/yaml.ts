import {
  Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  parseDocument,
  type Scalar,
  visit,
} from 'yaml';
import { refusedAt, type TagFormat } from './tag-file.ts';
import { fromTree, toTree } from './tree.ts';

/** YAML 1.2, one document, without anchors and aliases; written so that readers of YAML 1.1 read the same. */
export const yaml: TagFormat = {
  parse(text, file, checks) {
    const document = parseDocument(text, OPTIONS);
    const [error] = document.errors;
    if (error !== undefined) {
      const line = text.slice(0, error.pos[0]).split('\n').length;
      if (error.code === 'MULTIPLE_DOCS')
        throw refusedAt(file, `line ${line}`, 'a second YAML document begins here', 'use one file for each');
      throw refusedAt(file, `line ${line}`, `invalid YAML: ${error.message}`);
    }
    const { contents } = document;
    const tree = contents === null ? undefined : plain(contents as ParsedNode, file, '');
    return fromTree(tree, file, checks);
  },
  print(content) {
    const document = new Document(toTree(content), { compat: 'yaml-1.1' });
    visit(document, {
      Scalar(_, scalar) {
        if (scalar.value === VALUE_KEY) scalar.type = 'QUOTE_DOUBLE';
      },
    });
    return document.toString({ lineWidth: 0 });
  },
};

/** Special in YAML 1.1, and unknown to the package. */
const VALUE_KEY = '=';

const OPTIONS = {
  // The package's own check is quadratic in the number of keys.
  uniqueKeys: false,
  // At "silent", everything after the first document would be ignored.
  logLevel: 'error',
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
