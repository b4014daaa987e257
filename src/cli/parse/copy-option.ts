import type { OptionSpec } from '../command.ts';
import { switching } from './everywhere.ts';

export const COPY = 'copy';

/** Time after which the clipboard is cleared, in seconds. */
export const DEFAULT_CLIPBOARD_SECONDS = 45;

/** Option of commands that print a secret. */
export const copyOption: OptionSpec = {
  ...switching(
    COPY,
    `Copy to the clipboard instead of printing, and clear it after ${DEFAULT_CLIPBOARD_SECONDS}s.`,
  ),
  excludes: ['out', 'output'],
};

/** Declares the option for commands that process many items. */
export const copyOptionBeside = (flag: string): OptionSpec => ({
  ...copyOption,
  excludes: [...(copyOption.excludes ?? []), flag],
});
