import type { ResourceKind } from '../operations/declaration/resource-kinds.ts';
import { DONE } from './exit-codes.ts';
import { type Given, type OptionValue, textsOption } from './given.ts';
import type { Session } from './session.ts';

/**
 * Source of completions for a value: names in the store, names that depend on the line or the directory, or names of
 * files and programs that the shell knows.
 */
type CompletionSource =
  | ResourceKind
  | 'signing-key'
  | 'value'
  | 'member'
  | 'key-version'
  | 'file'
  | 'directory'
  | 'program';

/** Option of a command, as typed by the user. */
export interface OptionSpec {
  /** Long form, without dashes. */
  readonly flag: string;
  /** Earlier names, without dashes: they keep working, and are not listed. */
  readonly former?: readonly string[] | undefined;
  /** Single letter, without the dash. */
  readonly short?: string;
  /**
   * `each`: the option can be repeated. `values`: it can be repeated, and takes all words up to the next option.
   * `maybe`: its value is optional.
   */
  readonly takes: 'nothing' | 'value' | 'each' | 'values' | 'maybe';
  /** Placeholder for the value in help. */
  readonly metavar?: string;
  readonly help: string;
  /** Default value, as shown in help. */
  readonly fallback?: string;
  /** Suggested values; others are refused elsewhere, if at all. */
  readonly choices?: readonly string[];
  readonly offers?: CompletionSource;
  /** Flags that cannot be combined with this one. Declared on one of the two options. */
  readonly excludes?: readonly string[] | undefined;
}

/** Whether the option requires a value. */
export const takesWord = ({ takes }: OptionSpec): boolean => takes !== 'nothing' && takes !== 'maybe';

/** Declares an option with a value. */
export const taking = (
  flag: string,
  metavar: string,
  help: string,
  more: Partial<Omit<OptionSpec, 'flag' | 'metavar' | 'help'>> = {},
): OptionSpec => ({ flag, takes: 'value', metavar, help, ...more });

/** Declares an option whose value is a file name. */
export const takingFile = (
  flag: string,
  help: string,
  more: Partial<Pick<OptionSpec, 'excludes' | 'fallback' | 'metavar' | 'takes'>> = {},
): OptionSpec => taking(flag, 'FILE', help, { offers: 'file', ...more });

/** Declares an option without a value. */
export const switching = (
  flag: string,
  help: string,
  more: Pick<OptionSpec, 'excludes' | 'fallback' | 'short'> = {},
): OptionSpec => ({ flag, takes: 'nothing', help, ...more });

/** Positional argument. */
export interface ArgumentSpec {
  readonly metavar: string;
  readonly help: string;
  readonly required: boolean;
  /** Whether it takes all words that follow. Only the last argument may. */
  readonly many?: true | undefined;
  readonly choices?: readonly string[];
  readonly offers?: CompletionSource | undefined;
}

/** Declares an argument, which is required unless told otherwise. */
export const argument = (
  metavar: string,
  help: string,
  more: Partial<Omit<ArgumentSpec, 'metavar' | 'help'>> = {},
): ArgumentSpec => ({ metavar, help, required: true, ...more });

/** Specification of a command line, from which parsers, help and completions are derived. */
export interface CommandSpec {
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** Text below the summary in `--help`, if one sentence is not enough. */
  readonly details?: string;
  /** Example command lines with a comment each. */
  readonly examples: readonly (readonly [command: string, comment: string])[];
  /** Whether all words from the first argument on belong to another program, even if they look like options. */
  readonly passesOn?: true;
  /** Whether the exit code is an answer: 0 means yes. */
  readonly isVerdict?: boolean;
  /** Returns the command-line name of an API field for error messages. */
  labelOf?(field: string): string | undefined;
}

export interface Command extends CommandSpec {
  /**
   * Runs the command.
   * @returns exit code
   */
  run(session: Session, given: Given): Promise<number>;
}

/** What a command without any leaves out where it is declared. */
type MayBeEmpty = 'arguments' | 'options' | 'examples';

/** Command as its file declares it, which need not say what is empty. */
export interface OwnCommand extends Omit<Command, MayBeEmpty | 'run'>, Partial<Pick<Command, MayBeEmpty>> {
  /**
   * Runs the command.
   * @returns exit code; nothing for a command that is done or fails with an error
   */
  run(session: Session, given: Given): Promise<number> | Promise<void>;
}

export const completed = (declared: OwnCommand): Command => ({
  arguments: [],
  options: [],
  examples: [],
  ...declared,
  async run(session, given) {
    const exitCode = await declared.run(session, given);
    return typeof exitCode === 'number' ? exitCode : DONE;
  },
});

/** Node of the command tree: the data that help needs to list it, and the rest loaded on demand. */
export interface CommandLeaf {
  readonly summary: string;
  /** Whether it is left out of help and completions. */
  readonly hidden?: true;
  readonly load: () => Promise<Command>;
}

/** Commands that help lists together. A command is in one section only. */
export interface Section {
  readonly title: string;
  /** Words of the commands listed with their summaries, in this order. */
  readonly listed: readonly string[];
  /** Words of the commands that are only named, on a line below the others. */
  readonly named: readonly string[];
}

export interface Group {
  readonly summary: string;
  /** Text below the summary in `--help`, if one sentence is not enough. */
  readonly details?: string;
  readonly children: Readonly<Record<string, Node>>;
  /** Sections of the children in help; if undefined, help lists all of them below one title. */
  readonly sections?: readonly Section[];
  /** Child that runs if the group's name stands alone; by default, help is printed. */
  readonly bare?: string;
}

export type Node = CommandLeaf | Group;

export const isGroup = (node: Node): node is Group => 'children' in node;

/** Returns the node that the words lead to, if there is one. */
export function nodeAt(tree: Group, words: readonly string[]): Node | undefined {
  let node: Node | undefined = tree;
  for (const word of words) {
    if (node === undefined || !isGroup(node) || !Object.hasOwn(node.children, word)) return undefined;
    node = node.children[word];
  }
  return node;
}

/** Parsed command line. */
export interface Invocation {
  /** Words that name the command, e.g. `transit keys trim`. */
  readonly path: readonly string[];
  readonly command: Command;
  readonly given: Given;
  /** Options that every command has. */
  readonly everywhere: ReadonlyMap<string, OptionValue>;
}

/** Returns the options of a command as words of a command line. */
export const typedOptions = (
  { options: specs }: Pick<CommandSpec, 'options'>,
  options: Given['options'],
): readonly string[] =>
  specs.flatMap(({ flag, takes }) => {
    if (!options.has(flag)) return [];
    const values = options.get(flag) === true ? [] : textsOption(options, flag);
    if (takes === 'values' || values.length === 0) return [`--${flag}`, ...values];
    return values.flatMap((value) => [`--${flag}`, value]);
  });
