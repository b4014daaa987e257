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

/** Every regular expression that is written out in a text of TypeScript, and the places where one is made at run time. */
export function expressionsIn(file: string, text: string) {
  const written: Expression[] = [];
  const made: string[] = [];
  const placeOf = ({ start }: Node): string => `${file}:${text.slice(0, Number(start)).split('\n').length}`;
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const node = value as Node;
    const regex = node['regex'] as { readonly pattern: string; readonly flags: string } | undefined;
    if (node['type'] === 'Literal' && regex) {
      written.push({ place: placeOf(node), source: regex.pattern, flags: regex.flags });
    }
    if (node['type'] === 'Identifier' && node['name'] === 'RegExp') made.push(file);
    // A type makes none.
    if (node['type'] === 'TSTypeReference') return;
    for (const inner of Object.values(node)) look(inner);
  };
  look(parseAst(text, { lang: 'ts' }, file).body);
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
