import { isRegularFile } from '../../ground/directories.ts';
import { type CofferError, expected, invalid } from '../../ground/errors.ts';
import { MissingKey } from './unfinished.ts';

/* Command lines whose mistake hides what was meant: other words, with the same meaning, lead to it. */

/** Another reading of a command line. */
interface OtherReading {
  readonly words: readonly string[];
  /** Name of a program that was left out. */
  readonly program?: string;
}

/** Programs whose names some users type as if they were commands. */
const PROGRAMS: ReadonlySet<string> = new Set([
  ...['age', 'rage', 'sops', 'dotenvx', 'git-crypt', 'gopass', 'pass', 'openssl'],
  ...['gpg', 'gpg2', 'minisign', 'rsign', 'signify'],
  ...['vault', 'bao', 'openbao', 'coffer'],
]);

const OF_GPG = /^gpg2?$/;
/** Option of gpg whose letter has another meaning for pass. */
const SYMMETRIC = '--symmetric';

const isOption = (word: string): boolean => word.length > 1 && word.startsWith('-');

/**
 * Returns the words after the name of a program, with its options before its file.
 * @param unknown word that is not a command, at the top
 * @returns undefined if it is not the name of a program
 */
function withoutProgram(argv: readonly string[], unknown: string): OtherReading | undefined {
  if (!PROGRAMS.has(unknown)) return undefined;
  const at = argv.indexOf(unknown);
  const rest = argv
    .slice(at + 1)
    .map((word) => (OF_GPG.test(unknown) && /^-a?ca?$/.test(word) ? SYMMETRIC : word));
  const option = rest.findIndex(isOption);
  const isFileFirst = option > 0 && isRegularFile(rest[0] ?? '');
  const words = isFileFirst ? [...rest.slice(option), ...rest.slice(0, option)] : rest;
  return { words: [...argv.slice(0, at), ...words], program: unknown };
}

/** Several options of one letter in one word. Words of more letters are rather misspelt names of options. */
const GROUP = /^-(?:[a-z]{2}|[A-Z][A-Za-z]{1,3})$/;

/**
 * Returns the words with each option of a group by itself: `-d -i` for `-di`.
 * @param unknown group, as it was typed
 * @returns undefined if it is not a group
 */
function withoutGroup(argv: readonly string[], unknown: string): OtherReading | undefined {
  const at = GROUP.test(unknown) ? argv.indexOf(unknown) : -1;
  if (at === -1) return undefined;
  // With gpg and age, -a says how a result is written.
  const single = [...unknown.slice(1).replace('a', '')].map((letter) => `-${letter}`);
  return { words: [...argv.slice(0, at), ...single, ...argv.slice(at + 1)] };
}

const UNKNOWN = /^unknown (?:command|option) '(.*)'$/;
const SEE = /^see "coffer [^"]*"$/;

/**
 * Returns the error about a mistake with the hint for another reading of the same command line, if that leads further.
 * @param read parses it
 */
export async function readOtherwise(
  mistake: CofferError,
  argv: readonly string[],
  read: (words: readonly string[]) => Promise<unknown>,
): Promise<CofferError> {
  const { message, hint = '' } = mistake;
  const [, unknown = ''] = UNKNOWN.exec(message) ?? [];
  const other = unknown.startsWith('-')
    ? SEE.test(hint) && withoutGroup(argv, unknown)
    : withoutProgram(argv, unknown);
  if (!other) return mistake;
  const { words, program } = other;
  const found = await read(words).then(() => undefined, expected);
  if (found instanceof MissingKey) return new MissingKey(message, found.hint ?? '', found.everywhere);
  const isHelpful = found?.hint !== undefined && !SEE.test(found.hint);
  if (program === undefined) return isHelpful ? invalid(message, { hint: found.hint }) : mistake;
  if (isHelpful) return invalid(message, { hint: found.hint });
  const advice =
    found === undefined && words.some((word) => !word.startsWith('-'))
      ? `leave out "${program}"`
      : `${program} is another program`;
  return invalid(message, { hint: `${advice}; "coffer --help" lists the commands` });
}
