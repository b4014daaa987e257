/* What a command is given: words and options, and the variables of the environment. */

import { invalid } from '../ground/errors.ts';
import { refuseReplacedValue } from './unreadable.ts';

/** What was typed, sorted by the declaration; values are texts as they came. */
export interface Given {
  /** By position. */
  readonly arguments: readonly string[];
  readonly options: ReadonlyMap<string, OptionValue>;
}

/** `true` for an option without a value. */
export type OptionValue = true | string | readonly string[];

/** The one text of an option, or undefined when it was not given. */
export function textOption(options: Given['options'], flag: string): string | undefined {
  const value = options.get(flag);
  return typeof value === 'string' ? value : undefined;
}

/** Every text of an option that may be repeated. */
export function textsOption(options: Given['options'], flag: string): readonly string[] {
  const value = options.get(flag);
  if (value === undefined || value === true) return [];
  return typeof value === 'string' ? [value] : value;
}

/** The number that an option gives. @throws `invalid` for a text that `pattern` does not take. */
export function numberOption(
  options: Given['options'],
  flag: string,
  pattern: RegExp,
  hint: string,
): number | undefined {
  const text = textOption(options, flag);
  if (text === undefined) return undefined;
  if (pattern.test(text)) return Number(text);
  throw invalid(`"${text}" can't be right`, { field: `--${flag}`, hint });
}

/** Variables of the environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * An empty variable counts as one that is not set, as in the shell's `${X:-}`.
 * @throws `invalid` when its bytes are lost.
 */
export function variable(environment: Environment, name: string): string | undefined {
  const value = environment[name];
  refuseReplacedValue(name, value);
  return value === '' ? undefined : value;
}
