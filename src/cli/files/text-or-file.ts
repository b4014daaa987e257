import { existsSync } from 'node:fs';
import type { OptionSpec } from '../command.ts';
import { taking } from '../parse/everywhere.ts';

/* Values that are either a text, such as a public key, or the name of a file that contains it. */

/** Suffix of the metavar of such an option or argument: `KEY|FILE`. */
export const OR_FILE = '|FILE';

/** Declares an option that takes a text or a file name. */
export const takingTextOrFile = (
  flag: string,
  metavar: string,
  help: string,
  more: Pick<OptionSpec, 'excludes'> = {},
): OptionSpec => taking(flag, `${metavar}${OR_FILE}`, help, { offers: 'file', ...more });

/**
 * Reads a value that is a text or a file name. A value that looks like the text is never taken for a file: in a
 * directory with files of others, such as downloads, a file may be named like the text.
 * @param given.isText whether the value can only be the text, even if it is invalid
 * @param given.ofText reads the text
 * @param given.ofFile reads the file of that name
 * @returns result of `ofText` or `ofFile`
 * @throws their errors; if the value is neither, the error of `ofText`
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
