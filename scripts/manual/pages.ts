/**
 * Manual pages: `coffer.1`, one for each command and group, `age-plugin-coffer.1`, section 5 for the formats, and
 * section 7 for the tasks. They are generated from the same declarations as `--help` and the completions.
 * @see docs/decisions/0224
 */
import type { ArgumentSpec, OptionSpec } from '../../src/cli/command.ts';
import { command as agePlugin } from '../../src/cli/commands/age-plugin.ts';
import { EMPTY_VARIABLES, variableGroups } from '../../src/cli/commands/help.ts';
import { type CommandPlace, placesOf } from '../../src/cli/completions/model.ts';
import { exitCodeMeanings } from '../../src/cli/exit-codes.ts';
import { everywhereOptions } from '../../src/cli/parse/everywhere.ts';
import { rootExamples, withNotes } from '../../src/cli/terminal/help-page.ts';
import { topicPages } from '../../src/cli/topics/registry.ts';
import type { Block, Topic } from '../../src/cli/topics/topic.ts';
import { commandTree } from '../../src/cli/tree.ts';
import {
  bold,
  fileOf,
  heading,
  italic,
  item,
  page,
  paragraph,
  type Reference,
  referred,
  seeAlso,
  shown,
  subheading,
} from './roff.ts';

/** Version of Coffer that the manual describes, and the date of its pages in seconds since 1970. */
export interface Edition {
  readonly version: string;
  readonly epoch: number;
}

const ROOT: Reference = { name: 'coffer', section: 1 };
const AGE_PLUGIN: Reference = { name: 'age-plugin-coffer', section: 1 };
const isShared = new Set(everywhereOptions.map(({ flag }) => flag));
const VERSION: OptionSpec = { flag: 'version', short: 'V', takes: 'nothing', help: 'Show the version.' };

const pageOf = (path: string): Reference => ({
  name: ['coffer', ...path.split(' ')].filter((word) => word !== '').join('-'),
  section: 1,
});
const topicPage = ({ page: name, section = 5 }: Topic): Reference => ({ name, section });
const within = (path: string, word: string): string => (path === '' ? word : `${path} ${word}`);
const isAt = (path: string, command: string): boolean => path === command || path.startsWith(`${command} `);

/** Returns all pages by file name. */
export async function manualPages(edition: Edition): Promise<ReadonlyMap<string, string>> {
  const places = await placesOf(commandTree);
  const pages = new Map<string, string>();
  const add = (reference: Reference, summary: string, body: readonly string[]): void => {
    pages.set(fileOf(reference), page(reference, edition, summary, body));
  };
  for (const place of places) add(pageOf(place.path), place.summary.replace(/\.$/, ''), bodyOf(place));
  add(AGE_PLUGIN, 'let age use keys of a coffer store', agePluginBody());
  for (const topic of topicPages) add(topicPage(topic), topic.summary, topicBody(topic));
  return pages;
}

function bodyOf(place: CommandPlace): string[] {
  const { path, command, children } = place;
  return [
    heading('Synopsis'),
    synopsis(place),
    heading('Description'),
    ...paragraph(place.summary.replace(/\.?$/, '.')),
    ...(command?.details === undefined ? [] : paragraph(command.details)),
    ...(children.length === 0 ? [] : [heading('Commands')]),
    ...children.flatMap(({ word, summary }) => item(referred(pageOf(within(path, word))), `${summary}.`)),
    ...(place.arguments.length === 0 ? [] : [heading('Arguments')]),
    ...place.arguments.flatMap((argument) =>
      item(italic(argument.metavar), withNotes(argument.help, argument)),
    ),
    ...optionsOf(place),
    ...exitStatus(place),
    ...(path === '' ? environment() : []),
    ...examples(path === '' ? rootExamples : (command?.examples ?? [])),
    ...related(place),
  ];
}

function synopsis({ path, children, arguments: specs }: CommandPlace): string {
  const words = bold(['coffer', path].join(' ').trim());
  const given = children.length > 0 ? [italic('COMMAND')] : specs.map(argumentTerm);
  return [words, `[${italic('options')}]`, ...given].join(' ');
}

function argumentTerm({ metavar, many, required }: ArgumentSpec): string {
  const name = `${italic(metavar)}${many ? '...' : ''}`;
  return required ? name : `[${name}]`;
}

function optionsOf({ path, options, command }: CommandPlace): string[] {
  if (path === '') return [heading('Options'), ...[...options, VERSION].flatMap(optionItem)];
  const own = options.filter(
    ({ flag }) => !isShared.has(flag) || command?.options.some((option) => option.flag === flag) === true,
  );
  return [
    heading('Options'),
    ...own.flatMap(optionItem),
    ...paragraph(
      'Global options, which can be given before or after the name of the command (see coffer(1)):',
    ),
    everywhereOptions
      .filter(({ flag }) => !own.some((option) => option.flag === flag))
      .map(({ flag }) => bold(`--${flag}`))
      .join('\n'),
  ];
}

function optionItem(option: OptionSpec): string[] {
  const { flag, short, takes } = option;
  const names = [...(short === undefined ? [] : [bold(`-${short}`)]), bold(`--${flag}`)].join(', ');
  const metavar = italic(option.metavar ?? flag.toUpperCase());
  const value = {
    nothing: '',
    value: ` ${metavar}`,
    each: ` ${metavar}`,
    values: ` ${metavar}...`,
    maybe: ` [${metavar}]`,
  };
  const again = takes === 'each' && !/Can be repeated[.;]/.test(option.help) ? ' Can be repeated.' : '';
  return item(`${names}${value[takes]}`, `${withNotes(option.help, option)}${again}`);
}

function exitStatus({ path, command }: CommandPlace): string[] {
  if (path === '') {
    const codes = exitCodeMeanings.flatMap(([code, meaning]) => item(bold(String(code)), `${meaning}.`));
    return [heading('Exit status'), ...codes];
  }
  if (command === undefined) return [];
  // The others that answer by it name their codes in the description.
  const isNamed = command.details?.includes('xits with') === true;
  const answer = command.isVerdict && !isNamed ? 'Exits with 0 only if the signature or HMAC is valid. ' : '';
  return [heading('Exit status'), ...paragraph(`${answer}coffer(1) explains the exit codes.`)];
}

function environment(): string[] {
  const groups = variableGroups().flatMap(({ title, variables }) => [
    ...paragraph(title),
    ...variables.flatMap(([names, meaning]) => item(bold(names), `${meaning}.`)),
  ]);
  return [heading('Environment'), ...groups, ...paragraph(EMPTY_VARIABLES)];
}

function examples(all: readonly (readonly [command: string, comment: string])[]): string[] {
  if (all.length === 0) return [];
  const each = all.flatMap(([command, comment]) => [
    ...paragraph(`${comment}:`),
    ...shown(command.split('\n')),
  ]);
  return [heading('Examples'), ...each];
}

/** Returns the related pages: parents, children, and the topics about it. */
function related({ path, children }: CommandPlace): string[] {
  if (path === '') return seeAlso([AGE_PLUGIN, ...topicPages.map(topicPage)]);
  const words = path.split(' ');
  const above = words.map((_, index) => pageOf(words.slice(0, index).join(' ')));
  const about = topicPages.filter(({ commands }) => commands.some((command) => isAt(path, command)));
  const below = children.map(({ word }) => pageOf(within(path, word)));
  return seeAlso([...above, ...below, ...about.map(topicPage)]);
}

function agePluginBody(): string[] {
  return [
    heading('Synopsis'),
    bold('age-plugin-coffer'),
    heading('Description'),
    ...paragraph(
      'age starts this program for identities and recipients printed by "coffer agent offer NAME --age". It forwards the requests of age to the agent; if no ' +
        'agent has the store unlocked, it unlocks the store itself.',
    ),
    ...examples(agePlugin.examples ?? []),
    ...seeAlso([pageOf('agent offer'), ROOT]),
  ];
}

function topicBody({ parts, commands }: Topic): string[] {
  return [
    heading('Description'),
    ...parts.flatMap(({ heading: title, blocks }) => [subheading(title), ...blocks.flatMap(blockLines)]),
    ...seeAlso([ROOT, ...commands.map(pageOf)]),
  ];
}

function blockLines(block: Block): string[] {
  if (typeof block === 'string') return paragraph(block);
  if ('lines' in block) return shown(block.lines);
  return block.terms.flatMap(([term, meaning]) => item(bold(term), meaning));
}
