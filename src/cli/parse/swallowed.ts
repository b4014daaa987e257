import { type CofferError, invalid } from '../../ground/errors.ts';
import type { CommandSpec, OptionSpec } from '../command.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** Command line that lacks an argument. */
interface Lacking {
  readonly argv: readonly string[];
  readonly path: readonly string[];
  readonly command: CommandSpec;
  /** Arguments that were recognised. */
  readonly words: readonly string[];
  /** Reference to the help. */
  readonly help: string;
}

/**
 * Returns the error for arguments that an option which takes several values took as well, with the command in which
 * they come first.
 * @returns undefined if no such option has more values than the one that it needs
 */
export function swallowedBy(message: string, lacking: Lacking): CofferError | undefined {
  const { argv, path, command, words, help } = lacking;
  const missing = command.arguments.filter(({ required }, at) => required && words[at] === undefined);
  const start = endOfPath(argv, path);
  if (missing.length === 0 || start === undefined) return undefined;
  const found = command.options
    .filter(({ takes }) => takes === 'values')
    .flatMap((spec) => lastValues(argv, spec, start))
    .find(({ from, to }) => to - from > missing.length);
  if (found === undefined) return undefined;
  const { to, flag } = found;
  const taken = argv.slice(to - missing.length, to);
  const rest = [...argv.slice(start, to - missing.length), ...argv.slice(to)];
  const corrected = ['coffer', ...argv.slice(0, start), ...words, ...taken, ...withoutWords(rest, words)];
  const names = missing.map(({ metavar }) => metavar).join(' ');
  const said = taken.map((word) => `"${word}"`).join(' and ');
  return invalid(message, {
    hint: `--${flag} took ${said} as well; put ${names} first: "${corrected.map(shellWord).join(' ')}"; ${help}`,
  });
}

/** Values of an option on a command line: those from one index up to another. */
interface ValueRange {
  readonly flag: string;
  readonly from: number;
  readonly to: number;
}

/** Finds the values after the last occurrence of an option. */
function lastValues(
  argv: readonly string[],
  { flag, short, former = [] }: OptionSpec,
  start: number,
): ValueRange[] {
  const spellings = [flag, ...former].map((name) => `--${name}`);
  const at = argv.findLastIndex(
    (word, index) => index >= start && (spellings.includes(word) || word === `-${short}`),
  );
  if (at === -1) return [];
  const from = at + 1;
  const end = argv.findIndex((word, index) => index > from && word.startsWith('-') && word.length > 1);
  return [{ flag, from, to: end === -1 ? argv.length : end }];
}

/** Returns where the words of a command end; undefined if one of them was left out. */
function endOfPath(argv: readonly string[], path: readonly string[]): number | undefined {
  let end = 0;
  for (const word of path) {
    const at = argv.indexOf(word, end);
    if (at === -1) return undefined;
    end = at + 1;
  }
  return end;
}

/** Leaves out the first occurrence of each of the words that were recognised as arguments. */
function withoutWords(argv: readonly string[], words: readonly string[]): readonly string[] {
  const rest = [...argv];
  for (const word of words) rest.splice(rest.indexOf(word), 1);
  return rest;
}
