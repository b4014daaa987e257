import { invalid } from '../../ground/errors.ts';
import type { Command, Invocation, OptionSpec } from '../command.ts';
import type { OptionValue } from '../given.ts';
import { everywhereBeside, everywhereOptions } from './everywhere.ts';

/**
 * What both parsers come to: the command's own options, and those that every command has.
 * @param before options that stood before the command's name
 * @param after options that stood after it
 * @throws `invalid` when two exclude each other.
 */
export function invocation(
  path: readonly string[],
  command: Command,
  words: readonly string[],
  before: ReadonlyMap<string, OptionValue>,
  after: ReadonlyMap<string, OptionValue>,
): Invocation {
  refuseExclusions(command, before, after);
  const everywhere = new Map(before);
  const options = new Map<string, OptionValue>();
  for (const [flag, value] of after) {
    if (hasFlag(command.options, flag)) options.set(flag, value);
    // A command that declares one of these itself means the same by it.
    if (hasFlag(everywhereOptions, flag)) everywhere.set(flag, value);
  }
  return { path, command, given: { arguments: words, options }, everywhere };
}

const hasFlag = (options: readonly OptionSpec[], flag: string): boolean =>
  options.some((option) => option.flag === flag);

function refuseExclusions(
  command: Command,
  before: ReadonlyMap<string, OptionValue>,
  after: ReadonlyMap<string, OptionValue>,
): void {
  const shared = everywhereBeside(command.options);
  for (const option of [...command.options, ...shared]) {
    const isGiven = (flag: string): boolean =>
      after.has(flag) || (before.has(flag) && shared.some((candidate) => candidate.flag === flag));
    const other = option.excludes?.find(isGiven);
    if (other !== undefined && isGiven(option.flag)) {
      throw invalid(`--${option.flag} and --${other} exclude each other`, { hint: 'give one of them' });
    }
  }
}
