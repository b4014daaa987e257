import { displayWidth, wrappedMessage } from '../wrap.ts';
import type { Output } from './streams.ts';

/** Width of the narrowest terminal that messages are wrapped for. */
const MIN_COLUMNS = 40;

/** Formats a message of one line, with a newline at the end; on a terminal, wrapped at words. */
export function messageLine(output: Output, text: string): string {
  // The width is asked for only if it matters: that loads a module of Node.
  const fits = displayWidth(text) <= MIN_COLUMNS || !output.isTerminal;
  if (fits || displayWidth(text) <= output.columns) return `${text}\n`;
  return `${wrappedMessage(text, Math.max(output.columns, MIN_COLUMNS))}\n`;
}
