import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { attempt, invalid } from '../ground/errors.ts';

/* Input of a command: words, options and environment variables. */

/** Typed words and options, sorted by the declaration, with values as typed. */
export interface Given {
  /** Arguments by position. */
  readonly arguments: readonly string[];
  readonly options: ReadonlyMap<string, OptionValue>;
}

/** Value of an option: `true` for one without a value. */
export type OptionValue = true | string | readonly string[];

/** Returns the text of an option; undefined if it was not given. */
export function textOption(options: Given['options'], flag: string): string | undefined {
  const value = options.get(flag);
  return typeof value === 'string' ? value : undefined;
}

/** Returns every text of an option that may be repeated. */
export function textsOption(options: Given['options'], flag: string): readonly string[] {
  const value = options.get(flag);
  if (value === undefined || value === true) return [];
  return typeof value === 'string' ? [value] : value;
}

/**
 * Returns the number of an option.
 * @throws `invalid` if the text does not match `pattern`
 */
export function numberOption(
  options: Given['options'],
  flag: string,
  pattern: RegExp,
  hint: string,
): number | undefined {
  const text = textOption(options, flag);
  if (text === undefined) return undefined;
  if (pattern.test(text)) return Number(text);
  throw invalid(`invalid value "${text}"`, { field: `--${flag}`, hint });
}

/**
 * Returns the word of an option that takes one of some words.
 * @throws `invalid` for any other word
 */
export function choiceOption<T extends string>(
  options: Given['options'],
  flag: string,
  choices: readonly T[],
): T | undefined {
  const text = textOption(options, flag);
  const choice = choices.find((candidate) => candidate === text);
  if (text === undefined || choice !== undefined) return choice;
  throw invalid(`invalid value "${text}"`, { field: `--${flag}`, hint: `use one of ${choices.join(', ')}` });
}

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns an environment variable; undefined if it is empty, as in the shell's `${X:-}`.
 * @throws `invalid` if it is not UTF-8
 */
export function variable(environment: Environment, name: string): string | undefined {
  const value = environment[name];
  refuseReplacedValue(name, value);
  return value === '' ? undefined : value;
}

/** Character with which Node replaces bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/**
 * Refuses arguments in which Node has replaced bytes: a signature over one such value would be valid for all others.
 * @throws `invalid` naming the argument
 * @see docs/decisions/0156
 */
export function refuseReplacedBytes(argv: readonly string[]): void {
  if (!argv.some((text) => text.includes(REPLACEMENT))) return;
  const typed = entriesOf('cmdline').slice(-argv.length);
  for (const [index, text] of argv.entries()) {
    if (text.includes(REPLACEMENT) && !isTyped(typed[index], text))
      throw invalid(`argument ${index + 1} is not valid UTF-8`, {
        hint:
          argv[0] === 'exec'
            ? `let a shell write the bytes: coffer exec … -- sh -c 'PROGRAM "$(printf "\\377")"'`
            : 'pass it on standard input or in a file, or as base64 with --base64',
      });
  }
}

/**
 * Refuses an environment variable in which Node has replaced bytes.
 * @throws `invalid` naming the variable
 */
function refuseReplacedValue(name: string, value: string | undefined): void {
  if (value === undefined || !value.includes(REPLACEMENT)) return;
  const prefix = Buffer.from(`${name}=`);
  const entry = entriesOf('environ').find((bytes) => bytes.subarray(0, prefix.length).equals(prefix));
  if (isTyped(entry?.subarray(prefix.length), value)) return;
  throw invalid(`the value of ${name} is not valid UTF-8`);
}

/** Whether a text was given exactly like this: then it really contains the replacement character. */
const isTyped = (bytes: Buffer | undefined, text: string): boolean =>
  bytes !== undefined && isUtf8(bytes) && bytes.toString() === text;

/** Returns the arguments or variables of this process as bytes; empty on systems other than Linux. */
function entriesOf(name: 'cmdline' | 'environ'): readonly Buffer[] {
  const block = attempt(() => readFileSync(`/proc/self/${name}`));
  if (block === undefined) return [];
  const entries: Buffer[] = [];
  for (let start = 0; start < block.length; ) {
    const end = block.indexOf(0, start);
    const stop = end === -1 ? block.length : end;
    entries.push(block.subarray(start, stop));
    start = stop + 1;
  }
  return entries;
}

/** Whether the environment has the address of a server for other programs. */
export const namesOtherServer = (environment: Environment): boolean =>
  (variable(environment, 'VAULT_ADDR') ?? variable(environment, 'BAO_ADDR')) !== undefined;
