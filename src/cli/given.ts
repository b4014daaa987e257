/* Input of a command: words, options and environment variables. */

import { invalid } from '../ground/errors.ts';
import { refuseReplacedValue } from './unreadable.ts';

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
