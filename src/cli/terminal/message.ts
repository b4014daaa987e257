import { displayWidth, wrappedMessage } from '../wrap.ts';
import type { Output } from './streams.ts';

/** Width of the narrowest terminal that messages are wrapped for. */
const MIN_COLUMNS = 40;

/** Kind of a message that is coloured on a terminal; all others are plain. */
type Alarm = 'error' | 'warning';

/** Escape sequences (ECMA-48, SGR) of the colour of each kind. */
const COLOURS: Readonly<Record<Alarm, string>> = { error: '\x1b[31m', warning: '\x1b[33m' };
const DEFAULT_COLOUR = '\x1b[39m';

/** Beginning of a message that says of which kind it is. */
const BEGINNING = /^coffer:(?: warning:)?/;

/**
 * Formats a message of one line, with a newline at the end; on a terminal, wrapped at words.
 * @param alarm kind of an error or a warning, whose beginning is coloured on a terminal; undefined without colour
 */
export function messageLine(output: Output, text: string, alarm?: Alarm): string {
  const line = onTerminal(output, text);
  if (alarm === undefined || !output.isTerminal) return `${line}\n`;
  return `${line.replace(BEGINNING, (beginning) => COLOURS[alarm] + beginning + DEFAULT_COLOUR)}\n`;
}

function onTerminal(output: Output, text: string): string {
  // The width is asked for only if it matters: that loads a module of Node.
  const fits = displayWidth(text) <= MIN_COLUMNS || !output.isTerminal;
  if (fits || displayWidth(text) <= output.columns) return text;
  return wrappedMessage(text, Math.max(output.columns, MIN_COLUMNS));
}
