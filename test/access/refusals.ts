import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'vitest/node';

type Node = Readonly<Record<string, unknown>>;

/** A text that a refusal is made with, as it stands in the source. */
export interface Said {
  /** File and line. */
  readonly place: string;
  readonly start: number;
  readonly end: number;
  readonly source: string;
}

/** What a file says of its refusals. */
export interface Refusals {
  /** Texts that hold nothing of a request, since they are written out, and that nobody declares to be our own words. */
  readonly undeclared: readonly Said[];
  /** What is declared to be our own words, though it is put together when the program runs. */
  readonly madeUp: readonly Said[];
  readonly declared: number;
}

/** Rooms whose refusals come to the audit trail. */
const ROOMS = 'src/{access,operations,transit,tags,mounts,service,doors/http}/**/*.ts';
/** Of these, what no request of a server comes to. */
const ELSEWHERE = /^src\/(?:service\/agent|transit\/envelope)\//;

const MAKERS = new Set([
  ...['invalid', 'notFound', 'unsupported', 'conflict', 'exists', 'inauthentic', 'denied', 'sealed'],
  ...['corrupt', 'unavailable', 'unconfirmed', 'CofferError'],
]);
const root = fileURLToPath(new URL('../..', import.meta.url));

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

function nodesIn(value: unknown, found: Node[] = []): readonly Node[] {
  if (!isNode(value)) return found;
  if (typeof value['type'] === 'string') found.push(value);
  for (const inner of Object.values(value)) nodesIn(inner, found);
  return found;
}

const nameOf = (node: unknown): string =>
  isNode(node) && node['type'] === 'Identifier' ? String(node['name']) : '';

const isLiteral = (node: unknown): boolean =>
  isNode(node) &&
  ((node['type'] === 'Literal' && typeof node['value'] === 'string') ||
    (node['type'] === 'TemplateLiteral' && (node['expressions'] as readonly unknown[]).length === 0));

/** The text of a refusal among what a maker is given, where this is a call of one. */
function textOf(node: Node, makers: ReadonlySet<string>): unknown {
  if (node['type'] !== 'CallExpression' && node['type'] !== 'NewExpression') return undefined;
  const name = nameOf(node['callee']);
  const given = node['arguments'] as readonly unknown[];
  return makers.has(name) ? given[name === 'CofferError' ? 1 : 0] : undefined;
}

/** Functions of the file that hand on their first parameter as the text of a refusal are makers as well. */
function makersOf(program: Node): ReadonlySet<string> {
  const makers = new Set(MAKERS);
  for (const node of nodesIn(program)) {
    const [name, made] =
      node['type'] === 'VariableDeclarator'
        ? [nameOf(node['id']), node['init']]
        : node['type'] === 'FunctionDeclaration'
          ? [nameOf(node['id']), node]
          : [];
    if (!name || !isNode(made) || !Array.isArray(made['params'])) continue;
    const [first] = made['params'] as readonly unknown[];
    const parameter = nameOf(first);
    if (parameter === '') continue;
    for (const inner of nodesIn(made['body'])) {
      if (nameOf(textOf(inner, MAKERS)) === parameter) makers.add(name);
    }
  }
  return makers;
}

export function refusalsIn(file: string, text: string): Refusals {
  const program = parseAst(text, { lang: 'ts' }, file) as unknown as Node;
  const makers = makersOf(program);
  const constants = new Map<string, unknown>();
  for (const node of nodesIn(program)) {
    if (node['type'] === 'VariableDeclarator' && isLiteral(node['init'])) {
      constants.set(nameOf(node['id']), node['init']);
    }
  }
  const said = (node: Node): Said => {
    const [start, end] = [Number(node['start']), Number(node['end'])];
    const line = text.slice(0, start).split('\n').length;
    return { place: `${file}:${line}`, start, end, source: text.slice(start, end) };
  };
  const undeclared = new Map<number, Said>();
  const note = (value: unknown): void => {
    if (!isNode(value)) return;
    if (value['type'] === 'ConditionalExpression') {
      note(value['consequent']);
      note(value['alternate']);
    } else if (value['type'] === 'Identifier') {
      note(constants.get(nameOf(value)));
    } else if (isLiteral(value)) undeclared.set(Number(value['start']), said(value));
  };
  const madeUp: Said[] = [];
  let declared = 0;
  for (const node of nodesIn(program)) {
    note(textOf(node, makers));
    if (node['type'] !== 'CallExpression' || nameOf(node['callee']) !== 'ownWords') continue;
    const [words] = node['arguments'] as readonly unknown[];
    declared += 1;
    if (isNode(words) && !isLiteral(words)) madeUp.push(said(words));
  }
  return { undeclared: [...undeclared.values()], madeUp, declared };
}

/** Of the whole source, as far as a request of a server may come to it. */
export function refusalsOfSource(): Refusals {
  const files = globSync(ROOMS, { cwd: root }).filter((file) => !ELSEWHERE.test(file));
  const found = files.sort().map((file) => refusalsIn(file, readFileSync(`${root}/${file}`, 'utf8')));
  return {
    undeclared: found.flatMap(({ undeclared }) => undeclared),
    madeUp: found.flatMap(({ madeUp }) => madeUp),
    declared: found.reduce((sum, { declared }) => sum + declared, 0),
  };
}
