import { Argument, CommanderError, Option, Command as Program } from 'commander';
import { alternatives } from '../../ground/alternatives.ts';
import { type CofferError, invalid } from '../../ground/errors.ts';
import { version } from '../../ground/version.ts';
import {
  type ArgumentSpec,
  type Command,
  type CommandLeaf,
  type Group,
  type Invocation,
  isGroup,
  type Node,
  nodeAt,
  type OptionSpec,
} from '../command.ts';
import type { OptionValue } from '../given.ts';
import {
  EVERYWHERE_HEADING,
  examplesText,
  type HelpLook,
  heading,
  helpPage,
  ONLY_NAMED,
  withNotes,
} from '../terminal/help-page.ts';
import type { Streams } from '../terminal/streams.ts';
import { topicPages } from '../topics/registry.ts';
import { wrapped } from '../wrap.ts';
import { flagsLike, insteadOfCommand, insteadOfOption } from './elsewhere.ts';
import { everywhereBeside, everywhereOptions, invocation } from './everywhere.ts';
import { insteadOfForeign, nextWord, withWords } from './foreign.ts';
import {
  insteadForSignatures,
  keyComesFirst,
  meantInVault,
  pipedExample,
  swallowedBy,
  tooManyWords,
  usageOf,
  withoutAnsweredSwitch,
} from './mistakes.ts';
import { readOtherwise } from './other-reading.ts';
import { requireAlone } from './signing-habits.ts';
import { ANY_KEY, suggestionFor } from './suggestion.ts';
import { MissingArgument, MissingKey, type Unfinished } from './unfinished.ts';
import { wholeCommand } from './whole-command.ts';

/** Result of parsing with commander. */
type ParseOutcome =
  | { readonly kind: 'run'; readonly invocation: Invocation }
  /** Text to print, if help or the version was requested. */
  | { readonly kind: 'print'; readonly text: string };

/**
 * Parses a command line with commander: its complete syntax, help, and messages for every mistake. The program is built
 * along the path of the command, so that only that command is loaded.
 * @param colour whether headings of help may be bold on a terminal
 * @throws `invalid` for a mistake, in one line that refers to the help
 */
export async function parseWithCommander(
  argv: readonly string[],
  tree: Group,
  streams: Streams,
  colour = false,
): Promise<ParseOutcome> {
  const building = new Building(streams, colour && streams.out.isTerminal);
  try {
    await building.root(tree).parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (HELP_CODES.has(error.code)) {
      refuseHelpAsAnswer(building);
      const unknown = error.code === 'commander.version' ? requireAlone(argv) : building.unknownWord;
      if (unknown !== undefined) {
        const mistake = usageMistake(unknownCommand(unknown), building, { argv, tree });
        throw await readOtherwise(mistake, argv, (words) => parseWithCommander(words, tree, streams));
      }
      return { kind: 'print', text: building.printed };
    }
    // With gpg they say how a result is written; what the others mean is said by their error.
    const others = building.path.length === 0 ? argv.filter((word) => !ARMOR.has(word)) : argv;
    if (others.length > 0 && others.length < argv.length)
      await parseWithCommander(others, tree, streams, colour);
    const helped = helpBelow(argv, error, building.path, tree);
    if (helped !== undefined) return parseWithCommander(helped, tree, streams, colour);
    const mistake = usageMistake(error, building, { argv, tree });
    throw await readOtherwise(mistake, argv, (words) => parseWithCommander(words, tree, streams));
  }
  if (building.result === undefined) throw new Error('commander found no command and no mistake');
  return { kind: 'run', invocation: withoutAnsweredSwitch(argv, building.result) };
}

/** Minimum column width of wrapped descriptions in help; narrower ones are hard to read. */
const MIN_HELP_COLUMN = 15;

const HELP_CODES = new Set(['commander.help', 'commander.helpDisplayed', 'commander.version']);

const ARMOR: ReadonlySet<string> = new Set(['-a', '--armor', '--armour']);
const HELP_WORDS: ReadonlySet<string> = new Set(['-h', '--help', 'help']);

const unknownCommand = (word: string): CommanderError =>
  new CommanderError(1, 'commander.unknownCommand', `error: unknown command '${word}'`);

/**
 * Refuses `--help` together with other options of a command whose exit code is an answer. Scripts pass values of others
 * as VALUE; if one were `--help`, exit code 0 would mean yes.
 * @throws `invalid` in that case
 */
function refuseHelpAsAnswer({ command, options }: Building): void {
  if (command?.isVerdict !== true || options.size === 0) return;
  throw invalid('--help cannot be combined with other options', {
    hint: 'use --help alone, or put "--" before values that begin with "-"',
  });
}

/**
 * Returns the command line for the help that `coffer transit help encrypt` asks for, as `coffer help transit encrypt`
 * does.
 * @returns undefined unless an unknown command is the word "help", before words that lead to a command
 */
function helpBelow(
  argv: readonly string[],
  error: CommanderError,
  path: readonly string[],
  tree: Group,
): readonly string[] | undefined {
  if (error.code !== 'commander.unknownCommand' || path.length === 0) return undefined;
  const words = argv.slice(argv.indexOf('help') + 1).filter((word) => !word.startsWith('-'));
  const place = [...path, ...words];
  const isMeant = error.message.includes("'help'") && nodeAt(tree, place) !== undefined;
  return isMeant ? [...place, '--help'] : undefined;
}

/** Converts an error of commander, whose message is `error: …`. */
function usageMistake(
  error: CommanderError,
  { path, command, unfinished, before, isPiped }: Building,
  { argv, tree }: { readonly argv: readonly string[]; readonly tree: Group },
): CofferError {
  const first = error.message.replace(/^error: /, '');
  const help = `see "${['coffer', ...path, '--help'].join(' ')}"`;
  if (error.code === 'commander.excessArguments')
    return tooManyWords(first.replace(/\.$/, ''), {
      argv,
      path,
      command,
      words: unfinished?.words ?? [],
      help,
    });
  if (error.code === 'commander.missingArgument' && unfinished !== undefined) {
    const swallowed = swallowedBy(first, { argv, ...unfinished, help });
    if (swallowed !== undefined) return swallowed;
    const piped =
      isPiped && unfinished.words.length === 0 ? pipedExample(path, unfinished.command) : undefined;
    const stdin = piped === undefined ? '' : `to read standard input: "${piped}"; `;
    return new MissingArgument(
      first,
      `${stdin}${meantInVault(path)}usage: ${usageOf(path, unfinished.command)}; ${help}`,
      unfinished,
    );
  }
  const [, word] = /^unknown option '-([a-z][a-z-]+)(?:=.*)?'$/.exec(first) ?? [];
  if (command?.options.some(({ flag }) => flag === word) === true)
    return invalid(first, { hint: `did you mean --${word}? ${help}` });
  const [, option] = /^unknown option '--([^=]*)(?:=.*)?'$/.exec(first) ?? [];
  const [, letter] = /^unknown option '-([a-z]|[A-Z][a-z]*)'$/.exec(first) ?? [];
  const flags = [
    ...[...(command?.options ?? []), ...everywhereBeside(command?.options ?? [])].map(({ flag }) => flag),
    'help',
    ...(path.length === 0 ? ['version'] : []),
  ];
  const [, unknown] = /^unknown command '(.*)'$/.exec(first) ?? [];
  const typed = option ?? word ?? letter ?? '';
  const rest = argv.slice(unknown === undefined ? path.length : argv.indexOf(unknown) + 1);
  const known =
    unknown === undefined
      ? (insteadForSignatures(argv, path, typed) ?? insteadOfOption(path, typed, flags))
      : (insteadOfCommand(path, unknown, rest[0]) ??
        wholeCommand(tree, path, argv.slice(argv.indexOf(unknown))));
  const instead =
    insteadOfForeign([...path, unknown ?? `--${typed}`], rest) ??
    (known && withWords(known, rest, path.length === 0 && unknown === undefined));
  if (instead !== undefined) return invalid(first, { hint: joined(instead, help) });
  if (option === 'key' && command?.arguments[0]?.offers === 'key')
    return invalid(first, { hint: keyComesFirst(argv, usageOf(path, command)) });
  const name = option ?? word;
  const meant =
    name === undefined
      ? suggestionFor(tree, path, unknown ?? '', nextWord(argv, unknown)).map((words) => `"coffer ${words}"`)
      : flagsLike(name, flags).map((flag) => `--${flag}`);
  if (meant.length === 0) return invalid(first, { hint: help });
  const hint = `did you mean ${alternatives(meant)}? ${help}`;
  return meant.some((words) => words.includes(` ${ANY_KEY} `))
    ? new MissingKey(first, hint, before)
    : invalid(first, { hint });
}

/** Joins a hint, which may be a question, and a reference to the help. */
const joined = (hint: string, help: string): string => `${hint}${hint.endsWith('?') ? '' : ';'} ${help}`;

class Building {
  readonly #streams: Streams;
  readonly #look: HelpLook;
  /** Options before the command. */
  readonly before = new Map<string, OptionValue>();
  /** Text that commander printed. */
  printed = '';
  /** Words recognised so far. */
  path: readonly string[] = [];
  /** Command that they name. */
  command: Command | undefined;
  #leaf: Program | undefined;
  /** Innermost group that was named; the root if none was. */
  #group: Program | undefined;
  /** Options after the command. */
  readonly options = new Map<string, OptionValue>();
  result: Invocation | undefined;

  constructor(streams: Streams, isBold: boolean) {
    this.#streams = streams;
    const { isTerminal, columns } = streams.out;
    this.#look = { isBold, columns: isTerminal ? columns : undefined };
  }

  get isPiped(): boolean {
    return this.#streams.in.isPiped;
  }

  /** What was typed of a command; undefined if no command was named. */
  get unfinished(): Unfinished | undefined {
    const { path, command } = this;
    if (command === undefined || this.#leaf === undefined) return undefined;
    return { path, command, words: this.#leaf.args, around: { before: this.before, after: this.options } };
  }

  /** Word of a command line with `--help` that is no command of the group before it: commander ignores it. */
  get unknownWord(): string | undefined {
    if (this.command !== undefined) return undefined;
    const word = this.#group?.args.find((typed) => !HELP_WORDS.has(typed));
    const isKnown = this.#group?.commands.some((command) => command.name() === word);
    return word === undefined || word.startsWith('-') || isKnown ? undefined : word;
  }

  root(tree: Group): Program {
    const print = (text: string): void => {
      this.printed += text;
    };
    const program = new Program('coffer')
      .description(tree.summary)
      .configureOutput({
        writeOut: print,
        writeErr: print,
        outputError: () => {},
        getOutHelpWidth: () => this.#streams.out.columns,
        getErrHelpWidth: () => this.#streams.out.columns,
        getOutHasColors: () => this.#look.isBold,
        getErrHasColors: () => this.#look.isBold,
      })
      .exitOverride()
      .enablePositionalOptions()
      .configureHelp({
        formatHelp: (command, helper) => helpPage(command, helper, this.#look),
        minWidthToWrap: MIN_HELP_COLUMN,
      })
      .showSuggestionAfterError(false)
      .helpCommand(false)
      .helpOption('-h, --help', 'Show help.')
      .version(`coffer ${version}`, '-V, --version', 'Show the version.');
    this.#fillGroup(program, tree, []);
    program.addHelpText('after', () => moreText(this.#streams.out.columns, this.#look));
    return program;
  }

  #fillGroup(program: Program, group: Group, path: readonly string[]): void {
    this.#group = program;
    for (const [word, node] of inOrderOfSections(group)) {
      const section = group.sections?.find(({ listed, named }) => [...listed, ...named].includes(word));
      const child = program
        .command(word, { hidden: !isGroup(node) && node.hidden === true })
        .helpCommand(false)
        .summary(section?.named.includes(word) === true ? ONLY_NAMED : node.summary)
        .description(
          `${node.summary}.${isGroup(node) && node.details !== undefined ? `\n\n${node.details}` : ''}`,
        );
      if (section !== undefined) child.helpGroup(`${section.title}:`);
    }
    this.#addOptions(program, everywhereOptions, this.before, EVERYWHERE_HEADING);
    program.hook('preSubcommand', async (_, chosen) => {
      const word = chosen.name();
      const node = group.children[word];
      if (node === undefined) return;
      this.path = [...path, word];
      await this.#fill(chosen, node, this.path);
    });
  }

  async #fill(program: Program, node: Node, path: readonly string[]): Promise<void> {
    if (isGroup(node)) this.#fillGroup(program, node, path);
    else await this.#fillLeaf(program, node, path);
  }

  async #fillLeaf(program: Program, leaf: CommandLeaf, path: readonly string[]): Promise<void> {
    const command = await leaf.load();
    this.command = command;
    this.#leaf = program;
    const after = this.options;
    if (command.details !== undefined) program.description(`${leaf.summary}.\n\n${command.details}`);
    if (command.passesOn) program.passThroughOptions();
    for (const argument of command.arguments) program.addArgument(argumentOf(argument));
    this.#addOptions(program, command.options, after);
    this.#addOptions(program, everywhereBeside(command.options), after, EVERYWHERE_HEADING);
    program.addHelpText('after', examplesText(command.examples, this.#look));
    program.action(() => {
      this.result = invocation(path, command, program.args, { before: this.before, after });
    });
  }

  /** Adds options. Every occurrence is recorded as it is parsed: commander itself keeps only the final value. */
  #addOptions(
    program: Program,
    specs: readonly OptionSpec[],
    into: Map<string, OptionValue>,
    heading?: string,
  ): void {
    for (const spec of specs) {
      for (const flag of [spec.flag, ...(spec.former ?? [])]) {
        const option = optionOf({ ...spec, flag });
        if (heading !== undefined) option.helpGroup(heading);
        if (flag !== spec.flag) option.hideHelp();
        program.addOption(option);
        program.on(`option:${option.name()}`, (value: string | null | undefined) => {
          into.set(spec.flag, recorded(spec, value, into.get(spec.flag)));
        });
      }
    }
  }
}

/** Returns the children of a group in the order of help: by its sections, with those of no section last. */
function inOrderOfSections({ sections = [], children }: Group): [string, Node][] {
  const words = sections.flatMap(({ listed, named }) => [...listed, ...named]);
  const placeOf = (word: string): number => (words.includes(word) ? words.indexOf(word) : words.length);
  return Object.entries(children).sort(([one], [other]) => placeOf(one) - placeOf(other));
}

function optionOf(spec: OptionSpec): Option {
  return new Option(optionTerm(spec), withNotes(spec.help, spec));
}

/** Formats an option for help: `-o, --output <FORMAT>`. */
export function optionTerm(spec: OptionSpec): string {
  const metavar = spec.metavar ?? spec.flag.toUpperCase();
  const value = {
    nothing: '',
    value: ` <${metavar}>`,
    each: ` <${metavar}>`,
    values: ` <${metavar}...>`,
    maybe: ` [${metavar}]`,
  };
  const short = spec.short === undefined ? '' : `-${spec.short}, `;
  return `${short}--${spec.flag}${value[spec.takes]}`;
}

function argumentOf(spec: ArgumentSpec): Argument {
  const name = spec.many ? `${spec.metavar}...` : spec.metavar;
  return new Argument(spec.required ? `<${name}>` : `[${name}]`, withNotes(spec.help, spec));
}

/** Indent and maximum width of the last lines of the first page. */
const MORE_INDENT = '  ';
const MORE_COLUMNS = 78;

const moreText = (columns: number, look: HelpLook): string => {
  const width = Math.min(columns, MORE_COLUMNS) - MORE_INDENT.length;
  const text = wrapped(MORE, width, 0).replaceAll('\n', `\n${MORE_INDENT}`);
  return `\n${text.replace(MORE_HEADING, heading(MORE_HEADING, look))}`;
};

const MORE_HEADING = 'More:';
const MORE = `${MORE_HEADING} coffer COMMAND --help, coffer help options, environment, exit-codes, ${topicPages.map(({ name }) => name).join(', ')}`;

/**
 * Returns the value of an option after another occurrence of it.
 * @param typed undefined or null for an occurrence without a value
 * @param earlier value before it; undefined at the first occurrence
 * @throws `invalid` for two values of an option that takes one: the user cannot have meant both
 */
function recorded(
  spec: OptionSpec,
  typed: string | null | undefined,
  earlier: OptionValue | undefined,
): OptionValue {
  const value = typeof typed === 'string' ? typed : true;
  if (value !== true && (spec.takes === 'values' || spec.takes === 'each'))
    return [...[earlier ?? []].flat().map(String), value];
  if (earlier !== undefined && earlier !== value)
    throw invalid('given twice with different values', { field: `--${spec.flag}`, hint: 'use it once' });
  return value;
}
