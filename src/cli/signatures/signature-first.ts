import { isRegularFile } from '../../ground/directories.ts';
import { asCofferError, CofferError } from '../../ground/errors.ts';
import { type CommandSpec, typedOptions } from '../command.ts';
import type { Given } from '../given.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { ENDINGS } from './naming.ts';

const isNamedAsSignature = (path: string): boolean =>
  Object.values(ENDINGS).some((ending) => path.endsWith(ending));

/**
 * Returns the error of a verification without a result, with the right order if a signature was given in the place of
 * its file. A signature may itself be a signed file, so nothing is refused because of its name.
 */
export function withFileBeforeSignature(
  error: unknown,
  command: Pick<CommandSpec, 'options'>,
  { arguments: [signature = '', file], options }: Given,
): unknown {
  const known = asCofferError(error);
  if (known === undefined || file === undefined || !isNamedAsSignature(signature)) return error;
  if (isNamedAsSignature(file) || !isRegularFile(file) || !isRegularFile(signature)) return error;
  if (known.kind === 'not-found' || known.kind === 'denied' || known.kind === 'sealed') return error;
  const words = ['coffer', 'verify', file, signature, ...typedOptions(command, options)].map(shellWord);
  return new CofferError(known.kind, `${file} is not a signature: the file comes first, then its signature`, {
    hint: `run "${words.join(' ')}"`,
    cause: error,
  });
}
