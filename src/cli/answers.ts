import { writeSync } from 'node:fs';
import { version } from '../ground/version.ts';

/** Set by the bundler: what `coffer --help` prints where there is no terminal. Sources that run unbundled have none. */
declare const DRAWN_HELP: string | undefined;

const STANDARD_OUTPUT = 1;

/**
 * Answers what needs nothing but a text, before anything else of the program is loaded: scripts ask for the version, and
 * everybody's first command is `--help`.
 * @returns false for everything else, and where the text could not be written: the usual way decides about those.
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
  if (word === '--version' || word === '-V' || word === 'version') return `coffer ${version}\n`;
  if (word !== '--help' && word !== '-h') return undefined;
  // On a terminal help is drawn to the width of the window, in colour.
  const isTerminal = process.getBuiltinModule('node:tty').isatty(STANDARD_OUTPUT);
  return typeof DRAWN_HELP === 'string' && !isTerminal ? DRAWN_HELP : undefined;
}
