import { isRegularFile, isThere } from '../../ground/directories.ts';
import { asCofferError, invalid, refusedAs } from '../../ground/errors.ts';
import { shellWord } from '../terminal/shell-word.ts';
import type { Files } from './files.ts';
import { FILE } from './secret-file.ts';

/** Name of a variable as most programs write it, which few files have. */
const VARIABLE = /^[A-Z_][A-Z0-9_]*$/;
const USUAL_FILE = '.env';

/**
 * Returns the error of a file that cannot be opened, with the right order if the name of a value was given in its place.
 * @param verb command that takes FILE and NAME
 * @param words its arguments as typed
 */
export function withFileFirst(
  error: unknown,
  verb: 'get' | 'set' | 'unset',
  [path = '', ...others]: readonly string[],
): unknown {
  const known = asCofferError(error);
  if ((known?.kind !== 'invalid' && known?.kind !== 'unsupported') || isThere(path)) return error;
  const [next = ''] = others;
  const given = [next, ...(VARIABLE.test(path) ? [USUAL_FILE] : [])].find((word) => isRegularFile(word));
  if (given === undefined && !VARIABLE.test(path)) return error;
  const [file, name] = [given ?? FILE, path].map(shellWord);
  return invalid(`no file ${path}: the file comes first, then the name of the value`, {
    field: FILE,
    hint: `run "coffer secrets ${verb} ${file} ${name}"`,
    cause: error,
  });
}

/**
 * Refuses the name of a value after its file, where only files belong: the whole file would be decrypted instead.
 * @throws `invalid` with the command that prints the value
 */
export async function refuseNameAsFile(
  files: Files,
  [path = '', ...others]: readonly string[],
): Promise<void> {
  const absent = others.filter((word) => !isThere(word));
  if (absent.length === 0) return;
  const places = (await files.open(path).catch(refusedAs(undefined)))?.file.places;
  const name = absent.find((word) => places?.some((place) => place.name === word));
  if (name === undefined) return;
  throw invalid(`no file ${name}; ${name} is the name of a value in ${path}`, {
    field: FILE,
    hint: `to print one value, run "coffer secrets get ${shellWord(path)} ${shellWord(name)}"`,
  });
}
