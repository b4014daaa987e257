import { isRegularFile, isThere } from '../ground/directories.ts';
import { CofferError } from '../ground/errors.ts';
import type { Invocation } from './command.ts';
import { shellWord } from './terminal/shell-word.ts';
import { typedOptions } from './typed-options.ts';

/**
 * Returns the error of a file that cannot be read, with the right order if the name that comes before it and the file
 * were exchanged.
 * @returns undefined if the error is about anything else
 */
export function withNameFirst(
  error: CofferError,
  { path, command, given }: Invocation,
): CofferError | undefined {
  const [file = '', name, ...others] = given.arguments;
  const isPair = command.arguments[0]?.offers !== 'file' && command.arguments[1]?.offers === 'file';
  if (!isPair || name === undefined || others.length > 0) return undefined;
  if (!error.message.includes(`cannot read ${name}: `) || isThere(name) || !isRegularFile(file))
    return undefined;
  const words = ['coffer', ...path, name, file, ...typedOptions(command, given.options)].map(shellWord);
  return new CofferError(error.kind, `no file ${name}: the name comes first, then the file`, {
    hint: `run "${words.join(' ')}"`,
    cause: error,
  });
}
