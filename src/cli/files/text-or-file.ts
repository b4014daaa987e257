import { existsSync } from 'node:fs';
import type { OptionSpec } from '../command.ts';
import { taking } from '../parse/everywhere.ts';

/* Values that are either a text, such as a public key, or the name of a file that holds it. */

/** The mark in the metavar of such an option or argument: `KEY|FILE`. */
export const OR_FILE = '|FILE';

/** An option that takes a text or the name of a file. */
export const takingTextOrFile = (
  flag: string,
  metavar: string,
  help: string,
  more: Pick<OptionSpec, 'excludes'> = {},
): OptionSpec => taking(flag, `${metavar}${OR_FILE}`, help, { offers: 'file', ...more });

/**
 * Reads a value that is a text or the name of a file. What looks like the text is the text, and never a file: in a directory with files
 * of others, such as a download, one of them may be named like the text.
 * @param given.isText Whether the value can only be meant as the text, even if it is a broken one.
 * @param given.ofText reads the text.
 * @param given.ofFile reads the file of that name.
 * @returns what `ofText` or `ofFile` returns.
 * @throws what they throw; for what is neither, what `ofText` throws.
 */
export function textOrFile<T>(
  value: string,
  given: {
    readonly isText: (value: string) => boolean;
    readonly ofText: (text: string) => T;
    readonly ofFile: (path: string) => T;
  },
): T {
  if (given.isText(value) || !existsSync(value)) return given.ofText(value);
  return given.ofFile(value);
}
