import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAst } from 'vitest/node';
import { type Group, nodeAt } from '../../src/cli/command.ts';
import { topics } from '../../src/cli/commands/help.ts';
import { parseWithCommander } from '../../src/cli/parse/program.ts';
import { messageLine } from '../../src/cli/terminal/message.ts';
import { commandTree } from '../../src/cli/tree.ts';
import { streamsDouble } from './streams.double.ts';

/* Commands in quotation marks in the texts of the sources: each can be typed as it stands. @see docs/decisions/0269 */

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What stands in a text for an expression, by its source; the names are those that a user has at hand. */
const SAMPLES: Readonly<Record<string, string>> = {
  action: 'decrypt',
  accessor: 'hmXcSRhPdVhSyjzZxFEBTaqp',
  capability: 'decrypt',
  'card.name': 'dora',
  'document.name': 'orders',
  'fact.without[0]?.name': 'bob',
  file: '.env',
  first: ' --identity key.txt',
  group: 'orgs',
  key: 'app',
  list: 'orgs list',
  server: 'http://127.0.0.1:8200',
  'key.document.name': 'orders',
  'key.name': 'app',
  name: 'orders',
  named: ' --key app',
  'named.key': 'orders',
  number: '2',
  ofMount: ' --mount team/a',
  path: '.env',
  'request.source': 'orders',
  'shellWord(key)': 'orders',
  'shellWord(path)': '.env',
  'shellWord(store)': '/srv/coffer',
  'shellWord(text)': 'vault:v1:AAAA',
  slotId: '3f9c52d07a1be846',
  'spelled(state.store)': '22sx-08km-gprp-h0n6-x84k-5x7n-y91q-d3ec',
  'spelled(id)': '22sx-08km-gprp-h0n6-x84k-5x7n-y91q-d3ec',
  typed: '.env',
  usual: ' --type ed25519',
  type: 'userpass',
  variables: 'COFFER_MASTER_KEY_FILE',
  verb: 'get',
  meant: 'ada',
  oldest: '2',
  'shellWord(name)': 'ada.pub',
  "settings.join('')": ' --min-decryption-version 2',
  version: '2',
  "values['name']": 'orders',
  "values['version']": '2',
  where: ' --path people',
  words: 'transit keys list',
};

interface AstNode {
  readonly [member: string]: unknown;
}

const isAstNode = (value: unknown): value is AstNode => typeof value === 'object' && value !== null;

/** A text of the sources, with the source of each expression in it. */
interface Template {
  readonly start: number;
  /** Alternates between written text and the source of an expression. */
  readonly parts: readonly string[];
  /** Whether it describes something: commands are named in it, not proposed. */
  readonly isDescription: boolean;
}

/** Members of declarations that describe a command, an option or a parameter. */
const DESCRIPTIONS: ReadonlySet<unknown> = new Set(['help', 'details', 'summary']);

/** Files whose texts describe a format, or are shown by other programs. */
const DESCRIBING = /^src\/(?:cli\/topics|doors\/agent\/pkcs11)\//;

/** Finds the texts of a source. */
function* templatesIn(value: unknown, source: string, isDescription: boolean): Generator<Template> {
  if (!isAstNode(value)) return;
  const { type, start, key } = value;
  const describes = isDescription || (isAstNode(key) && DESCRIPTIONS.has(key['name']));
  if (type === 'Literal' && typeof value['value'] === 'string')
    yield { start: Number(start), parts: [value['value']], isDescription };
  if (type === 'TemplateLiteral') {
    const written = nodesIn(value['quasis']).map(({ value: text }) =>
      String(isAstNode(text) && text['cooked']),
    );
    const expressions = nodesIn(value['expressions']).map((node) =>
      source.slice(Number(node['start']), Number(node['end'])),
    );
    yield {
      start: Number(start),
      isDescription,
      parts: written.flatMap((text, index) => [text, ...expressions.slice(index, index + 1)]),
    };
  }
  for (const inner of Object.values(value)) yield* templatesIn(inner, source, describes);
}

const nodesIn = (value: unknown): readonly AstNode[] => (Array.isArray(value) ? value.filter(isAstNode) : []);

/** Begins a command: right after a quotation mark, so that sentences about Coffer are none. */
const COMMAND = /"coffer ([^"]+)"/g;

/** A command of any program that a text says to run: in quotation marks, or the rest of a message after a colon. */
const ANY_COMMAND = /\b(?:run|from|with|use) ["'][a-z][\w-]* |"coffer |: +(?:coffer|git|export|cd) /;
const QUOTED = /\b(?:[Rr]un|from|with|use|see|says|by) (?:"([a-z][\w-]* [^"]+)"|'([a-z][\w-]* [^']+)')/g;
const LAST = /: +((?:coffer|git|export|cd) (?:[^"()]|\$\([^()]*\))+)$/g;

interface Quoted {
  readonly place: string;
  readonly command: string;
  readonly isDescription: boolean;
}

const sampleOf = (file: string, expression: string): string =>
  SAMPLES[expression] ?? `<no sample for ${expression} in ${file}>`;

/** A text of the sources, with a sample of each expression in it. */
interface Filled {
  readonly place: string;
  readonly text: string;
  readonly isDescription: boolean;
}

/** Finds the texts of the sources that hold a command. */
const texts: readonly Filled[] = globSync('src/**/*.ts', { cwd: root }).flatMap((file) => {
  const source = readFileSync(`${root}/${file}`, 'utf8');
  if (!ANY_COMMAND.test(source)) return [];
  const ast = parseAst(source, { lang: 'ts' }, file);
  return [...templatesIn(ast, source, DESCRIBING.test(file))].map(({ start, parts, isDescription }) => ({
    place: `${file}:${source.slice(0, start).split('\n').length}`,
    text: parts.map((part, index) => (index % 2 === 0 ? part : sampleOf(file, part))).join(''),
    isDescription,
  }));
});

const quotedCommands = (): readonly Quoted[] =>
  texts.flatMap(({ place, text, isDescription }) =>
    [...text.matchAll(COMMAND)].map(([, command = '']) => ({ place, command, isDescription })),
  );

/** What is wrong with a command; undefined if it can be typed, or exists and is only described. */
async function faultOf({ command, isDescription }: Quoted): Promise<string | undefined> {
  for (const part of command.split(/ \| coffer | \| /)) {
    const words = part.split(' ');
    if (words[0] === 'help' && topics.has(words.slice(1).join(' '))) continue;
    const node = nodeAt(commandTree, words);
    // A group alone says where to look.
    if (node !== undefined && (isDescription || 'children' in node)) continue;
    try {
      await parseWithCommander(words, commandTree satisfies Group, streamsDouble());
    } catch (error) {
      return `${error instanceof Error ? error.message : error}`;
    }
  }
  return undefined;
}

describe('a command in a text', () => {
  it('is understood by the parser, with its whole path, arguments and options', async () => {
    const found = quotedCommands();
    const wrong: string[] = [];
    for (const quoted of found) {
      const fault = await faultOf(quoted);
      if (fault !== undefined) wrong.push(`${quoted.place}: "coffer ${quoted.command}": ${fault}`);
    }
    expect(wrong).toEqual([]);
    expect(found.length).toBeGreaterThan(150);
  });

  it('is on one line of a terminal of 60 columns, so that it can be pasted', () => {
    const { err } = streamsDouble({ terminals: ['err'], columns: 60 });
    const said = texts
      .filter(({ isDescription }) => !isDescription)
      .flatMap(({ place, text }) =>
        [...text.matchAll(QUOTED), ...text.matchAll(LAST)].map(([, command, other]) => ({
          place,
          text,
          command: command ?? other ?? '',
        })),
      );
    // What comes before a text shifts the ends of its lines.
    const broken = said.filter(({ text, command }) =>
      ['', 'coffer: ', 'coffer: argument NAME: ', 'coffer: --min-decryption-version: '].some(
        (before) =>
          !messageLine(err, `${before}${text}`)
            .split('\n')
            .some((line) => line.includes(command)),
      ),
    );
    expect(broken).toEqual([]);
    expect(said.length).toBeGreaterThan(150);
  });
});
