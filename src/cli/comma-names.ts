import { type CofferError, withOtherHint } from '../ground/errors.ts';
import type { ArgumentSpec, Invocation, OptionSpec } from './command.ts';
import { type OptionValue, textsOption } from './given.ts';
import { shellWord } from './terminal/shell-word.ts';
import { typedOptions } from './typed-options.ts';

/** What a value that may contain a comma names. */
const MAY_HAVE_COMMAS: ReadonlySet<string> = new Set(['file', 'directory', 'program', 'value']);

/**
 * Adds, to an error about several names that are joined by commas, that they are separated by spaces, with the command.
 * @returns undefined if the error is about anything else
 */
export function withSpacesForCommas(error: CofferError, typed: Invocation): CofferError | undefined {
  const said = `${error.message} ${error.hint ?? ''}`;
  const isJoined = (word: string, { offers, metavar = '' }: ArgumentSpec | OptionSpec): boolean =>
    said.includes(word) &&
    (offers === undefined || !MAY_HAVE_COMMAS.has(offers)) &&
    !metavar.includes('=') &&
    !word.includes('=') &&
    /^[^\s,]+(?:,[^\s,]+)+$/.test(word);
  const specs = typed.command.arguments;
  let noun: string | undefined;
  const apart = (word: string, spec: ArgumentSpec | OptionSpec): readonly string[] => {
    if (!isJoined(word, spec)) return [word];
    noun ??= spec.offers ?? 'name';
    return word.split(',');
  };
  const last = specs.at(-1);
  const words = typed.given.arguments.flatMap((word, at) =>
    at >= specs.length - 1 && last?.many === true ? apart(word, last) : [word],
  );
  const options = new Map<string, OptionValue>(typed.given.options);
  for (const spec of typed.command.options.filter(({ takes }) => takes === 'values')) {
    const texts = textsOption(options, spec.flag);
    if (texts.length > 0)
      options.set(
        spec.flag,
        texts.flatMap((text) => apart(text, spec)),
      );
  }
  if (noun === undefined) return undefined;
  const command = ['coffer', ...typed.path, ...words, ...typedOptions(typed.command, options)];
  return withOtherHint(
    error,
    `separate several ${pluralOf(noun)} with spaces: "${command.map(shellWord).join(' ')}"`,
  );
}

const pluralOf = (noun: string): string => (/[^e]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`);
