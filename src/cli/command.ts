import type { ResourceKind } from '../operations/resource-kinds.ts';
import type { Given, OptionValue } from './given.ts';
import type { Session } from './session.ts';

/** What completion can look up for a value: names in the store, or the shell's own file names. */
export type Offer = ResourceKind | 'file' | 'directory';

/** An option of a command, as people type it. */
export interface OptionSpec {
  /** Long form, without dashes. */
  readonly flag: string;
  /** One letter, without the dash. */
  readonly short?: string;
  /**
   * `each`: the option may be repeated. `values`: it may be, and takes all words up to the next option. `maybe`: its value may be
   * left out.
   */
  readonly takes: 'nothing' | 'value' | 'each' | 'values' | 'maybe';
  /** The word shown for the value. */
  readonly metavar?: string;
  readonly help: string;
  /** What holds when the option is not given, as help shows it. */
  readonly fallback?: string;
  /** Words worth offering; others are refused elsewhere, if at all. */
  readonly choices?: readonly string[];
  readonly offers?: Offer;
  /** Flags that can't stand beside this one. Declared on one of the two. */
  readonly excludes?: readonly string[];
}

/** Whether a word has to follow the option. */
export const takesWord = ({ takes }: OptionSpec): boolean => takes !== 'nothing' && takes !== 'maybe';

/** An argument taken by position. */
export interface ArgumentSpec {
  readonly metavar: string;
  readonly help: string;
  readonly required: boolean;
  /** Takes all words that follow; only the last one may. */
  readonly many?: true;
  readonly choices?: readonly string[];
  readonly offers?: Offer;
}

/** The spec of a command line: parsers, help and completions derive from it. */
export interface CommandSpec {
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** Said below the summary in `--help`, where one sentence is not enough. */
  readonly details?: string;
  /** Command lines with a comment each. */
  readonly examples: readonly (readonly [command: string, comment: string])[];
  /** All words from the first argument on are arguments, whatever they look like: they are another program's. */
  readonly passesOn?: true;
  /** The exit code is an answer: 0 says yes. */
  readonly isVerdict?: boolean;
  /** How an error about a field of the API is to be called on the command line. */
  labelOf?(field: string): string | undefined;
}

export interface Command extends CommandSpec {
  /** @returns the exit code. */
  run(session: Session, given: Given): Promise<number>;
}

/** A place in the command tree: what help needs to list it, and the rest on demand. */
export interface Leaf {
  readonly summary: string;
  /** Left out of help and completions. */
  readonly hidden?: true;
  readonly load: () => Promise<Command>;
}

/** Commands that help lists together. A command is in one section only. */
export interface Section {
  readonly title: string;
  /** The words of the commands that are listed with their summaries, in this order. */
  readonly listed: readonly string[];
  /** Those that are only named, on a line below the others. */
  readonly named: readonly string[];
}

export interface Group {
  readonly summary: string;
  readonly children: Readonly<Record<string, Node>>;
  /** How help divides the children; if undefined, help lists all of them below one title. */
  readonly sections?: readonly Section[];
  /** The child that is meant where the group's name stands alone; without it, help is. */
  readonly bare?: string;
}

export type Node = Leaf | Group;

export const isGroup = (node: Node): node is Group => 'children' in node;

/** What the words lead to, if anything. */
export function nodeAt(tree: Group, words: readonly string[]): Node | undefined {
  let node: Node | undefined = tree;
  for (const word of words) {
    if (node === undefined || !isGroup(node) || !Object.hasOwn(node.children, word)) return undefined;
    node = node.children[word];
  }
  return node;
}

/** A command line, taken apart. */
export interface Invocation {
  /** The words that name the command, e.g. `transit keys trim`. */
  readonly path: readonly string[];
  readonly command: Command;
  readonly given: Given;
  /** Options that every command has. */
  readonly everywhere: ReadonlyMap<string, OptionValue>;
}
