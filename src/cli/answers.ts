import { writeSync } from 'node:fs';
import { version } from '../ground/version.ts';
import { isTerminal } from './terminal/is-terminal.ts';

/** Text of `coffer --help` without a terminal, set by the bundler. Undefined in sources that run unbundled. */
declare const DRAWN_HELP: string | undefined;

const STANDARD_OUTPUT = 1;
const STANDARD_ERROR = 2;

/**
 * Answers requests for a fixed text before the rest of the program is loaded: scripts ask for the version, and the
 * first command of a new user is `--help`.
 * @returns false for all other arguments, and if the text could not be written; the regular code path handles those
 */
export function answerAtOnce(argv: readonly string[]): boolean {
  const text = argv.length === 1 ? textFor(argv[0] ?? '') : undefined;
  if (text === undefined) return false;
  try {
    return writeSync(STANDARD_OUTPUT, Buffer.from(text)) > 0;
  } catch {
    return false;
  }
}

function textFor(word: string): string | undefined {
  if (word === '--version' || word === '-V') return `coffer ${version}\n`;
  // To a user, the command also says how to upgrade.
  if (word === 'version') return isTerminal(STANDARD_ERROR) ? undefined : `coffer ${version}\n`;
  if (word !== '--help' && word !== '-h') return undefined;
  // On a terminal, help is formatted for the width of the window, in colour.
  return typeof DRAWN_HELP === 'string' && !isTerminal(STANDARD_OUTPUT) ? DRAWN_HELP : undefined;
}
