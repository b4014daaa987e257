import { nearest } from '../../ground/nearness.ts';
import { type Group, isGroup, type Node, type OptionSpec, takesWord } from '../command.ts';
import { everywhereBeside, everywhereOptions } from './everywhere.ts';
import { FORCE, IN } from './operation-spec.ts';

/**
 * Spellings that users of other programs type: `ls`, `--json`, `-policy=deploy`. They are accepted, but not in help and
 * completions. Only looked at if a command line cannot be parsed as it is.
 * @see docs/decisions/0273
 */

/** Verbs that users type, each with the verbs of commands here that may be meant; the first that the group has counts. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  ls: ['list'],
  show: ['read'],
  get: ['read', 'show'],
  read: ['show'],
};

/** Other names of options that exist in one form only: what they are replaced by. */
const OPTIONS: Readonly<Record<string, { readonly flag: string; readonly value?: string }>> = {
  json: { flag: 'output', value: 'json' },
  format: { flag: 'output' },
  file: { flag: IN },
};

const HELP: ReadonlySet<string> = new Set(['--help', '-h', 'help']);

/** Command with options of `vault write`, where `-f` says that there is no data. */
const WRITE = 'write';

/**
 * Rewrites a command line to the spellings that are declared.
 * @returns the same words if none is different
 */
export async function inOwnSpelling(argv: readonly string[], tree: Group): Promise<readonly string[]> {
  const walk = new Walk(argv);
  let node: Node = tree;
  const path: string[] = [];
  while (isGroup(node)) {
    const bare: string | undefined = walk.isAtOptionsAlone(node) ? node.bare : undefined;
    if (bare === undefined) walk.options(everywhereOptions, undefined);
    const word = walk.word();
    const name: string | undefined = bare ?? (word === undefined ? undefined : ownVerb(node, path, word));
    const child: Node | undefined = name === undefined ? undefined : node.children[name];
    if (name === undefined || child === undefined) return walk.finished();
    if (bare === undefined) walk.take(name);
    else walk.insert(bare);
    path.push(name);
    node = child;
  }
  const command = await node.load();
  const options = [...command.options, ...everywhereBeside(command.options)];
  const isWrite = path.length === 1 && path[0] === WRITE;
  do walk.options(options, isWrite ? FORCE : undefined);
  while (!command.passesOn && walk.takeWord());
  return walk.finished();
}

/** Returns the group's word for a verb. At the top, `get` could mean a value as well as a path. */
function ownVerb({ children }: Group, path: readonly string[], word: string): string | undefined {
  if (Object.hasOwn(children, word)) return word;
  if (!Object.hasOwn(VERBS, word) || (path.length === 0 && word !== 'ls')) return undefined;
  return VERBS[word]?.find((own) => Object.hasOwn(children, own));
}

/** Walks over the words of a command line and collects them, rewritten. */
class Walk {
  readonly #argv: readonly string[];
  readonly #written: string[] = [];
  #at = 0;

  constructor(argv: readonly string[]) {
    this.#argv = argv;
  }

  /** Returns the next word; undefined at the end and at `--`. */
  word(): string | undefined {
    const text = this.#argv[this.#at];
    return text === undefined || text === '--' ? undefined : text;
  }

  /** Takes the next word, in another spelling. */
  take(spelling: string): void {
    this.#written.push(spelling);
    this.#at++;
  }

  /** Whether options follow the name of a group, but none of its commands: they are for the one that runs alone. */
  isAtOptionsAlone({ children }: Group): boolean {
    const rest = this.#argv.slice(this.#at);
    const isOther = rest.some((word) => HELP.has(word) || Object.hasOwn(children, word));
    return !isOther && rest[0] !== undefined && looksLikeOption(rest[0]);
  }

  /** Adds a word that was left out. */
  insert(word: string): void {
    this.#written.push(word);
  }

  takeWord(): boolean {
    const word = this.word();
    if (word === undefined) return false;
    this.take(word);
    return true;
  }

  /**
   * Takes options and their values, up to the next word.
   * @param forF flag that `-f` means where the command has no short option `-f`
   */
  options(specs: readonly OptionSpec[], forF: string | undefined): void {
    for (let text = this.word(); text !== undefined && looksLikeOption(text); text = this.word()) {
      const own = ownOption(text, specs, forF);
      this.take(own);
      const spec = specOf(own, specs);
      if (spec === undefined || own.includes('=') || !takesWord(spec)) continue;
      // The first word is a value even if it looks like an option; a later one that does ends the values.
      do if (!this.#takeAny()) return;
      while (spec.takes === 'values' && this.word() !== undefined && !looksLikeOption(this.word() ?? '-'));
    }
  }

  #takeAny(): boolean {
    const text = this.#argv[this.#at];
    if (text !== undefined) this.take(text);
    return text !== undefined;
  }

  finished(): readonly string[] {
    return [...this.#written, ...this.#argv.slice(this.#at)];
  }
}

const looksLikeOption = (text: string): boolean => text.length > 1 && text.startsWith('-');

/** Name of an option, with one dash or two, and its value. */
const NAMED = /^(?<dashes>--?)(?<name>[a-z][a-z0-9_-]+)(?<value>=.*)?$/s;

/** Returns an option in the declared spelling; unchanged if it has none. */
function ownOption(text: string, specs: readonly OptionSpec[], forF: string | undefined): string {
  if (text === '-f' && forF !== undefined && !specs.some(({ short }) => short === 'f')) return `--${forF}`;
  const { dashes, name = '', value = '' } = NAMED.exec(text)?.groups ?? {};
  if (dashes === undefined || specOf(text, specs) !== undefined) return text;
  if (dashes === '-' && isShortWithValue(name, specs)) return text;
  const flag = name.replaceAll('_', '-');
  if (specs.some((spec) => spec.flag === flag)) return `--${flag}${value}`;
  const other = Object.hasOwn(OPTIONS, flag) ? OPTIONS[flag] : undefined;
  if (other === undefined || !specs.some((spec) => spec.flag === other.flag)) {
    return dashes === '-' && isOfAnother(flag, specs) ? `--${flag}${value}` : text;
  }
  if (other.value === undefined) return `--${other.flag}${value}`;
  return value === '' ? `--${other.flag}=${other.value}` : text;
}

/** Whether `-oTEXT` is a short option with its value: for `-o`, TEXT must be one that it takes. */
const isShortWithValue = (name: string, specs: readonly OptionSpec[]): boolean =>
  specs.some(({ short, takes, choices }) => {
    if (short !== name.charAt(0) || takes === 'nothing') return false;
    return choices === undefined || choices.includes(name.slice(1));
  });

/** Whether `-output-curl-string` or `-orfan` is a long option, rather than `-o` with a mistake in its value. */
const isOfAnother = (name: string, specs: readonly OptionSpec[]): boolean =>
  specs.some(({ short, choices }) => {
    if (short !== name.charAt(0) || choices === undefined) return false;
    if (nearest(name.slice(1), choices).length > 0) return false;
    return name.includes('-') || nearest(name, flagsOf(specs)).length > 0;
  });

const flagsOf = (specs: readonly OptionSpec[]): readonly string[] => specs.map(({ flag }) => flag);

/** Returns the option that a declared spelling, with or without a value, stands for. */
function specOf(text: string, specs: readonly OptionSpec[]): OptionSpec | undefined {
  const name = text.startsWith('--') ? text.slice(2).split('=', 1)[0] : undefined;
  return specs.find(({ flag, short }) => flag === name || (short !== undefined && text === `-${short}`));
}
