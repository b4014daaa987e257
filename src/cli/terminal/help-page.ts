import type { Command, Help, Option } from 'commander';
import { brokenCommand, wrapped } from '../wrap.ts';

/** Options under this heading belong to every command; `coffer help options` explains them. */
export const EVERYWHERE_HEADING = 'Global options:';

/** Summary of a command that is only named on the page of its group. */
export const ONLY_NAMED = '';

/** Maximum width of a term; a longer one gets a line of its own. */
const MAX_TERM = 30;

/** How help looks. */
export interface HelpLook {
  /** Whether headings are bold. */
  readonly isBold: boolean;
  /** Width of the terminal; undefined in a pipe, where usage and examples are never broken. */
  readonly columns: number | undefined;
}

/** Formats a heading. */
export const heading = (text: string, { isBold }: HelpLook): string =>
  isBold ? `\u001b[1m${text}\u001b[22m` : text;

/** Formats `--help`: the command's own arguments and options first, the global ones last and short. */
export function helpPage(command: Command, helper: Help, look: HelpLook): string {
  const isEverywhere = (option: Option): boolean => option.helpGroupHeading === EVERYWHERE_HEADING;
  const options = helper.visibleOptions(command);
  const own = options.filter((option) => !isEverywhere(option));
  const shared = options.filter(isEverywhere);
  const list = <T extends { readonly description: string }>(
    title: string,
    items: readonly T[],
    term: (item: T) => string,
  ) => {
    const width = termWidth(items.map(term), helper);
    const lines = items.map((item) => listItem(term(item), width, item.description, helper));
    return lines.length === 0 ? [] : [heading(title, look), ...lines, ''];
  };
  const optionList = (title: string, items: readonly Option[]) =>
    list(title, items, (option) => helper.optionTerm(option));
  return [
    usageLines(helper.commandUsage(command), look),
    '',
    helper.boxWrap(helper.commandDescription(command), helper.helpWidth ?? 80),
    '',
    ...commandLists(command, helper, look),
    ...list('Arguments:', helper.visibleArguments(command), (argument) => helper.argumentTerm(argument)),
    ...(command.parent === null
      ? optionLine(heading('Options:', look), options, helper)
      : [...optionList('Options:', own), ...optionLine(heading(EVERYWHERE_HEADING, look), shared, helper)]),
  ].join('\n');
}

/** Formats the commands of a group, with a list for each of its sections. */
function commandLists(command: Command, helper: Help, look: HelpLook): string[] {
  const children = helper.visibleCommands(command);
  const sections = Map.groupBy(children, (child) => child.helpGroup() || 'Commands:');
  const names = (of: readonly Command[]): string[] => of.map((child) => child.name());
  const isListed = (child: Command): boolean => child.summary() !== ONLY_NAMED;
  const width = termWidth(names(children), helper);
  return [...sections].flatMap(([title, all]) => {
    const listed = all.filter(isListed);
    const named = names(all.filter((child) => !isListed(child)));
    const lines = listed.map((child) =>
      listItem(child.name(), width, helper.subcommandDescription(child), helper),
    );
    const last = named.length === 0 ? [] : [listItem('also:', width, named.join(', '), helper)];
    return [heading(title, look), ...lines, ...last, ''];
  });
}

function termWidth(terms: readonly string[], helper: Help): number {
  const widest = Math.min(MAX_TERM, Math.floor((helper.helpWidth ?? 80) / 2));
  return Math.min(widest, Math.max(0, ...terms.map((term) => term.length)));
}

function listItem(term: string, width: number, text: string, helper: Help): string {
  if (term.length <= width) return helper.formatItem(term, width, text, helper);
  return `  ${term}\n${helper.formatItem('', width, text, helper)}`;
}

/** Formats options by name only. */
function optionLine(title: string, options: readonly Option[], helper: Help): string[] {
  const terms = options.map((option) => option.long ?? '').join(' ');
  return [helper.boxWrap(`${title} ${terms} (see "coffer help options")`, helper.helpWidth ?? 80), ''];
}

const USAGE = 'Usage:';

/** Formats the usage. On a terminal, it is broken at spaces, and goes on below its first word. */
function usageLines(usage: string, look: HelpLook): string {
  const { columns } = look;
  const indent = USAGE.length + 1;
  const text = columns === undefined ? usage : wrapped(usage, columns, indent).trimStart();
  return `${heading(USAGE, look)} ${text}`;
}

/** Indent of comments and commands of examples. */
const INDENT = 2;

/** Formats the examples; empty without any. */
export function examplesText(
  examples: readonly (readonly [command: string, comment: string])[],
  look: HelpLook,
): string {
  if (examples.length === 0) return '';
  const { columns } = look;
  const indent = ' '.repeat(INDENT);
  const texts = examples.map(([command, comment]) => {
    const width = (columns ?? Number.POSITIVE_INFINITY) - INDENT;
    const said = wrapped(comment, width - COMMENT.length, 0).split('\n');
    const lines = [...said.map((line) => COMMENT + line), ...brokenCommand(command, width).split('\n')];
    return lines.map((line) => indent + line).join('\n');
  });
  return `\n${heading('Examples:', look)}\n${texts.join('\n\n')}\n`;
}

const COMMENT = '# ';

/**
 * The help of an option or argument: its text, then its choices and its default.
 * @see docs/decisions/0290
 */
export function withNotes(
  help: string,
  spec: { readonly choices?: readonly string[]; readonly fallback?: string },
): string {
  // An empty word means the behavior without the option.
  const words = spec.choices?.filter((choice) => choice !== '') ?? [];
  const said = words.every((word) => help.includes(word));
  const choices = said ? [] : [`One of: ${words.join(', ')}.`];
  const fallback = spec.fallback === undefined ? [] : [`Default: ${spec.fallback}.`];
  return [help, ...choices, ...fallback].join(' ');
}

/** Examples on the first help page, to get started. */
export const rootExamples: readonly (readonly [command: string, comment: string])[] = [
  ['export COFFER_MASTER_KEY=$(coffer keygen)\ncoffer init', 'Create a store with a new master key'],
  [
    "coffer transit keys create orders\necho 'credit card 4242' | coffer transit encrypt orders > card\ncoffer transit decrypt orders --in card",
    'Create a key, encrypt and decrypt with it',
  ],
];
