import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAst } from 'vitest/node';
import { isGroup, type Node as TreeNode } from '../../src/cli/command.ts';
import { EMPTY_VARIABLES, variableGroups } from '../../src/cli/commands/help.ts';
import { exitCodeMeanings } from '../../src/cli/exit-codes.ts';
import { withNotes } from '../../src/cli/terminal/help-page.ts';
import { topicPages } from '../../src/cli/topics/registry.ts';
import { topicText } from '../../src/cli/topics/topic.ts';
import { commandTree } from '../../src/cli/tree.ts';
import { catalogue } from '../../src/operations/catalogue.ts';
import { type CatalogueBranch, isEntry } from '../../src/operations/catalogue-entry.ts';

/* Rules for the texts that people read, as far as a program can judge them. @see docs/decisions/0290 */

/** A text and the place that it is shown at. */
type Shown = readonly [place: string, text: string];

/** Words that make a text a riddle, or that have a plainer form. */
const RIDDLES =
  /\b(?:who|whom|whoever|nobody|somebody|everybody)\b|\b(?:is|are) (?:no|none)\b(?! longer)|\bcan't\b|\bcan not\b|\bcut short\b|\b(?:is|are|has|have) to be\b|\bknown here\b|\bthe answer (?:has|is|about)\b/i;

/** Texts of Vault, OpenBao and Terraform Enterprise, which their clients compare. */
const OF_OTHERS = new Set([
  'ocsp_max_retries can not be a negative number',
  "Key can't be blank",
  "Name can't be blank",
]);

/** Command whose name is the word of the question that it answers. */
const COMMANDS = /\bcoffer policy who\b/g;

const summaries: Shown[] = [];
const helps: Shown[] = [];
const details: Shown[] = [];
const comments: Shown[] = [];
const examples: Shown[] = [];

async function collectCommands(node: TreeNode, path: readonly string[]): Promise<void> {
  const place = path.join(' ');
  if (path.length > 0) summaries.push([place, node.summary]);
  if (isGroup(node)) {
    for (const [word, child] of Object.entries(node.children)) await collectCommands(child, [...path, word]);
    return;
  }
  const command = await node.load();
  for (const spec of command.options) helps.push([`${place} --${spec.flag}`, withNotes(spec.help, spec)]);
  for (const spec of command.arguments) helps.push([`${place} ${spec.metavar}`, withNotes(spec.help, spec)]);
  for (const [line, comment] of command.examples) {
    comments.push([place, comment]);
    examples.push([place, line]);
  }
  if (command.details !== undefined) details.push([place, command.details]);
}

async function collectOperations(branch: CatalogueBranch, path: readonly string[]): Promise<void> {
  for (const [word, node] of Object.entries(branch)) {
    const here = [...path, word];
    const place = here.join('.');
    if (!isEntry(node)) {
      await collectOperations(node, here);
      continue;
    }
    summaries.push([place, node.summary]);
    const { params } = (await node.load()).declaration;
    for (const [name, { help }] of Object.entries(params)) helps.push([`${place} ${name}`, help]);
  }
}

beforeAll(async () => {
  await collectCommands(commandTree, []);
  await collectOperations(catalogue, []);
});

const wrong = (texts: readonly Shown[], isWrong: (text: string) => boolean): readonly string[] => [
  ...new Set(texts.filter(([, text]) => isWrong(text)).map(([place, text]) => `${place}: ${text}`)),
];

describe('the summary of a command or an operation', () => {
  it('has at most 60 characters and no full stop', () => {
    expect(wrong(summaries, (text) => text.length > 60 || /[.?!]$/.test(text))).toEqual([]);
    expect(summaries.length).toBeGreaterThan(400);
  });

  it('begins with a verb in the imperative', () => {
    const noun = /^(?:the|an?|its|what|how|who|whether|where|when|tell|\w+(?:s|ing|ed))\b(?<!Process|Pass)/i;
    expect(wrong(summaries, (text) => !/^[A-Z][a-z-]+/.test(text) || noun.test(text))).toEqual([]);
  });
});

describe('the text of an option, an argument or a parameter', () => {
  it('begins with a capital or a quoted word, and ends in a full stop', () => {
    const begins = /^(?:[A-Z"]|(?:ssh|minisign|sign): |12-byte )/;
    expect(wrong(helps, (text) => !begins.test(text) || !/[.]$/.test(text))).toEqual([]);
    expect(helps.length).toBeGreaterThan(1500);
  });

  it('names a default, a limit and a duration in one form each', () => {
    const otherForms =
      /\b(?:default:|by default|if none is (?:named|given)|for ever|without one)\b|; default |\b0 for\b|\d (?:s|h|d|days?|hours?|minutes?|seconds?)\b/;
    expect(wrong(helps, (text) => otherForms.test(text))).toEqual([]);
  });

  it('names nothing for a default that is empty, and no empty word among its choices', () => {
    expect(wrong(helps, (text) => /Default: ?\.|One of: ?[.,]|, ,/.test(text))).toEqual([]);
    expect(withNotes('Text.', { choices: ['', 'hidden'] })).toBe('Text. One of: hidden.');
  });

  it('is never the opposite of a negation', () => {
    const ofNegative =
      /^The opposite of --(?:no|disable|skip|without)-|^The opposite of --\S+-(?:no|disable)-/;
    expect(wrong(helps, (text) => ofNegative.test(text))).toEqual([]);
  });

  it('does not tell the command line and the API apart', () => {
    expect(wrong(helps, (text) => /\bcommand line (?:also )?(?:accepts|takes)\b/.test(text))).toEqual([]);
  });

  it('is no question and does not begin with "Whether" on the command line', () => {
    const ofCommands = helps.filter(([place]) => / (?:--|[A-Z])/.test(place));
    expect(wrong(ofCommands, (text) => /^Whether\b|\?/.test(text))).toEqual([]);
  });
});

describe('the comment of an example', () => {
  it('begins with a capital and has no full stop', () => {
    const begins = /^(?:[A-Z]|(?:bash|zsh|fish|minisign): )/;
    expect(wrong(comments, (text) => !begins.test(text) || /[.]$/.test(text))).toEqual([]);
  });
});

describe('an example', () => {
  it('has values, not placeholders', () => {
    expect(wrong(examples, (line) => / (?:NAME|VALUE|ACCESSOR|ID|FILE|PATH)(?: |$)/.test(line))).toEqual([]);
  });
});

describe('help', () => {
  it('has no riddles', () => {
    const topics: Shown[] = [
      ...topicPages.map((topic): Shown => [topic.name, topicText(topic, 1000)]),
      ...exitCodeMeanings.map(([code, meaning]): Shown => [`exit code ${code}`, meaning]),
      ...variableGroups().flatMap(({ title, variables }): Shown[] => [
        ['environment', title],
        ...variables.map(([name, meaning]): Shown => [name, meaning]),
      ]),
      ['environment', EMPTY_VARIABLES],
    ];
    const all = [...summaries, ...helps, ...details, ...comments, ...topics];
    expect(wrong(all, (text) => RIDDLES.test(text))).toEqual([]);
  });
});

interface AstNode {
  readonly [member: string]: unknown;
}

const isAstNode = (value: unknown): value is AstNode => typeof value === 'object' && value !== null;

/** The written parts of the texts in a source; a template has one for each stretch between expressions. */
function* textsIn(value: unknown): Generator<{ readonly text: string; readonly start: number }> {
  if (!isAstNode(value)) return;
  const { type, start } = value;
  const { cooked } = isAstNode(value['value']) ? value['value'] : {};
  const text = type === 'Literal' ? value['value'] : type === 'TemplateElement' ? cooked : undefined;
  if (typeof text === 'string' && / /.test(text)) yield { text, start: Number(start) };
  for (const inner of Object.values(value)) yield* textsIn(inner);
}

/** Texts of the source that match, each with its file and line. */
function textsLike(words: RegExp, isMeant: (text: string) => boolean = () => true): readonly string[] {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  return globSync('src/**/*.ts', { cwd: root }).flatMap((file) => {
    const source = readFileSync(`${root}/${file}`, 'utf8');
    // Most of them stand in comments, and parsing takes long.
    if (!words.test(source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ''))) return [];
    return [...textsIn(parseAst(source, { lang: 'ts' }, file))]
      .filter(({ text }) => words.test(text.replace(COMMANDS, '')) && isMeant(text))
      .map(({ text, start }) => `${file}:${source.slice(0, start).split('\n').length}: ${text}`);
  });
}

describe('a message', () => {
  it('has no riddles, unless it is a text of Vault, OpenBao or Terraform Enterprise', () => {
    expect(textsLike(RIDDLES, (text) => !OF_OTHERS.has(text))).toEqual([]);
  });

  it('sends to no page of the documentation, which the executable does not bring along', () => {
    expect(textsLike(/\bdocs\/[\w-]+\.md\b/)).toEqual([]);
  });
});
