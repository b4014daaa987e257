import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vitest/node';

export interface Expression {
  /** File and line. */
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

type Node = Readonly<Record<string, unknown>>;

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Shows each node of a text of TypeScript to `see`, which says whether what is in it is looked at as well. */
function walk(file: string, text: string, see: (node: Node) => boolean): void {
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || !see(value as Node)) return;
    for (const inner of Object.values(value)) look(inner);
  };
  look(parseAst(text, { lang: 'ts' }, file).body);
}

/** The texts that are written out in a text of TypeScript, parts of templates included. */
export interface Literals {
  /** Every one, whatever it is for. */
  readonly texts: readonly string[];
  /** Those that something is asked to begin or end with, but for what `node:crypto` calls kinds of keys. */
  readonly ends: readonly string[];
}

export function literalsIn(file: string, text: string): Literals {
  const texts: string[] = [];
  const ends: string[] = [];
  walk(file, text, (node) => {
    if (node['type'] === 'Literal' && typeof node['value'] === 'string') texts.push(node['value']);
    if (node['type'] === 'TemplateElement') {
      texts.push((node['value'] as { readonly cooked: string }).cooked);
    }
    const callee = node['type'] === 'CallExpression' ? (node['callee'] as Node) : {};
    const method = (callee['property'] as Node | undefined)?.['name'];
    if (method === 'startsWith' || method === 'endsWith') {
      const { start, end } = callee['object'] as { readonly start: number; readonly end: number };
      const [asked] = node['arguments'] as readonly Node[];
      const isOfNode = text.slice(start, end).includes('asymmetricKeyType');
      if (typeof asked?.['value'] === 'string' && !isOfNode) ends.push(asked['value']);
    }
    return node['type'] !== 'ImportDeclaration';
  });
  return { texts, ends };
}

/** Every regular expression that is written out in a text of TypeScript, and the places where one is made at run time. */
export function expressionsIn(file: string, text: string) {
  const written: Expression[] = [];
  const made: string[] = [];
  const placeOf = ({ start }: Node): string => `${file}:${text.slice(0, Number(start)).split('\n').length}`;
  walk(file, text, (node) => {
    const regex = node['regex'] as { readonly pattern: string; readonly flags: string } | undefined;
    if (node['type'] === 'Literal' && regex) {
      written.push({ place: placeOf(node), source: regex.pattern, flags: regex.flags });
    }
    if (node['type'] === 'Identifier' && node['name'] === 'RegExp') made.push(file);
    // A type makes none.
    return node['type'] !== 'TSTypeReference';
  });
  return { written, made };
}

/** Those of the whole source. */
export function expressionsOfSource() {
  const files = globSync('src/**/*.ts', { cwd: root }).sort();
  const found = files.map((file) => expressionsIn(file, readFileSync(`${root}/${file}`, 'utf8')));
  return {
    written: found.flatMap(({ written }) => written),
    made: [...new Set(found.flatMap(({ made }) => made))],
  };
}
