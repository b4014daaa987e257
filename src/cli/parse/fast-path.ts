import type { CommandSpec, Group, Invocation, Node, OptionSpec } from '../command.ts';
import type { OptionValue } from '../given.ts';
import { everywhereBeside, everywhereOptions, invocation, mayTakeAnswer } from './everywhere.ts';

/**
 * Parses an ordinary command line without loading commander, which takes a tenth of the start of a frequent command.
 * Both parsers read the same declarations.
 * @returns undefined for anything unusual (help, mistakes, odd spellings), which commander handles, so that there is
 * one set of rules and messages
 * @see docs/decisions/0030
 */
export async function parseQuickly(argv: readonly string[], tree: Group): Promise<Invocation | undefined> {
  const before = new ArgumentReader(argv, everywhereOptions);
  const path: string[] = [];
  let node: Node = tree;
  while ('children' in node) {
    const word: string | undefined = before.nextWord() ?? (before.isAtEnd ? node.bare : undefined);
    const child: Node | undefined =
      word !== undefined && Object.hasOwn(node.children, word) ? node.children[word] : undefined;
    if (word === undefined || child === undefined) return undefined;
    path.push(word);
    node = child;
  }
  const command = await node.load();
  const after = new ArgumentReader(before.rest(), [...command.options, ...everywhereBeside(command.options)]);
  if (!(command.passesOn ? after.readUpToWord() : after.readAll()) || !hasRightCount(command, after.words))
    return undefined;
  if (mayTakeAnswer(command, after.words)) return undefined;
  return invocation(path, command, after.words, { before: before.options, after: after.options });
}

function hasRightCount(command: CommandSpec, words: readonly string[]): boolean {
  const required = command.arguments.filter((argument) => argument.required).length;
  const limit = command.arguments.at(-1)?.many ? Number.POSITIVE_INFINITY : command.arguments.length;
  return words.length >= required && words.length <= limit;
}

/** Reads words and options from left to right; stops (`nextWord` undefined, `readAll` false) at anything unusual. */
class ArgumentReader {
  readonly options = new Map<string, OptionValue>();
  readonly words: string[] = [];
  readonly #argv: readonly string[];
  readonly #specs = new Map<string, OptionSpec>();
  #at = 0;

  constructor(argv: readonly string[], specs: readonly OptionSpec[]) {
    this.#argv = argv;
    for (const spec of specs) {
      for (const flag of [spec.flag, ...(spec.former ?? [])]) this.#specs.set(`--${flag}`, spec);
      if (spec.short !== undefined) this.#specs.set(`-${spec.short}`, spec);
    }
  }

  /** Returns the next word that is not an option; undefined at the end and at anything unusual. */
  nextWord(): string | undefined {
    for (;;) {
      const text = this.#argv[this.#at];
      if (text === undefined) return undefined;
      if (!looksLikeOption(text)) {
        this.#at++;
        return text;
      }
      if (!this.#readOption(text)) return undefined;
    }
  }

  get isAtEnd(): boolean {
    return this.#at === this.#argv.length;
  }

  rest(): readonly string[] {
    return this.#argv.slice(this.#at);
  }

  /** Reads all words and options. After `--`, which git and scripts put before file names, all are words. */
  readAll(): boolean {
    for (let word = this.nextWord(); word !== undefined; word = this.nextWord()) this.words.push(word);
    if (this.#argv[this.#at] === '--') {
      this.words.push(...this.#argv.slice(this.#at + 1));
      return true;
    }
    return this.#at === this.#argv.length;
  }

  /** Reads options; everything from the first word on are words. */
  readUpToWord(): boolean {
    const first = this.#argv[this.#at] === '--' ? undefined : this.nextWord();
    if (first !== undefined) this.words.push(first);
    else if (this.#argv[this.#at] === '--') this.#at++;
    else return false;
    this.words.push(...this.rest());
    return true;
  }

  #readOption(text: string): boolean {
    const equals = text.startsWith('--') ? text.indexOf('=') : -1;
    const spec = this.#specs.get(equals < 0 ? text : text.slice(0, equals));
    if (spec === undefined) return false;
    const inline = equals < 0 ? undefined : text.slice(equals + 1);
    // The other forms are rare, and left to commander.
    if (spec.takes === 'maybe') return false;
    if (spec.takes === 'nothing') return inline === undefined && this.#take(spec.flag, true, 1);
    if (spec.takes === 'values') return inline === undefined && this.#takeValues(spec.flag);
    const value = inline ?? this.#argv[this.#at + 1];
    if (value === undefined) return false;
    // Left to commander as well, which refuses another value.
    if (spec.takes === 'value' && this.options.has(spec.flag)) return false;
    const all = spec.takes === 'each' ? [...this.#earlier(spec.flag), value] : value;
    return this.#take(spec.flag, all, inline === undefined ? 2 : 1);
  }

  #earlier(flag: string): string[] {
    return [this.options.get(flag) ?? []].flat().map(String);
  }

  #take(flag: string, value: OptionValue, words: number): boolean {
    this.options.set(flag, value);
    this.#at += words;
    return true;
  }

  /** Reads all words up to the next option as values; the first one even if it looks like an option. */
  #takeValues(flag: string): boolean {
    const values = this.#earlier(flag);
    this.#at++;
    const first = this.#argv[this.#at++];
    if (first === undefined) return false;
    values.push(first);
    for (
      let text = this.#argv[this.#at];
      text !== undefined && !looksLikeOption(text);
      text = this.#argv[this.#at]
    ) {
      values.push(text);
      this.#at++;
    }
    this.options.set(flag, values);
    return true;
  }
}

const looksLikeOption = (text: string): boolean => text.length > 1 && text.startsWith('-');
