import { invalid } from '../../ground/errors.ts';
import type { OptionSpec } from '../command.ts';
import type { OptionValue } from '../given.ts';

/**
 * Returns the value of an option after another occurrence of it.
 * @param typed undefined or null for an occurrence without a value
 * @param earlier value before it; undefined at the first occurrence
 * @throws `invalid` for two values of an option that takes one: the user cannot have meant both
 */
export function recorded(
  spec: OptionSpec,
  typed: string | null | undefined,
  earlier: OptionValue | undefined,
): OptionValue {
  const value = typeof typed === 'string' ? typed : true;
  if (value !== true && (spec.takes === 'values' || spec.takes === 'each'))
    return [...[earlier ?? []].flat().map(String), value];
  if (earlier !== undefined && earlier !== value)
    throw invalid('given twice with different values', { field: `--${spec.flag}`, hint: 'use it once' });
  return value;
}
