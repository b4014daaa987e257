import type { CommandSpec } from './command.ts';
import { type Given, textsOption } from './given.ts';

/** Returns the options of a command as words of a command line. */
export const typedOptions = (
  { options: specs }: Pick<CommandSpec, 'options'>,
  options: Given['options'],
): readonly string[] =>
  specs.flatMap(({ flag, takes }) => {
    if (!options.has(flag)) return [];
    const values = options.get(flag) === true ? [] : textsOption(options, flag);
    if (takes === 'values' || values.length === 0) return [`--${flag}`, ...values];
    return values.flatMap((value) => [`--${flag}`, value]);
  });
