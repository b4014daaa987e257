import { statSync } from 'node:fs';
import { isRegularFile } from '../../ground/directories.ts';
import { asCofferError, CofferError } from '../../ground/errors.ts';
import { MAX_FILE_BYTES } from '../../secret-files/formats.ts';
import { valuesIn } from '../../secret-files/value.ts';
import { NOT_AN_ENVELOPE } from '../../transit/envelope/refusals.ts';
import { isCiphertext } from '../files/beginning.ts';
import { readFileWhole } from '../files/in-file.ts';
import { IN } from '../parse/operation-spec.ts';
import { shellWord } from '../terminal/shell-word.ts';

/**
 * Returns the error for a file that is not an envelope with the name of the file, and with the command for a file whose
 * values are encrypted one by one.
 * @param isNamed whether the name of the file is printed before the message
 * @returns any other error unchanged
 */
export function aboutFile(error: unknown, path: string | undefined, isNamed = false): unknown {
  const known = asCofferError(error);
  if (known?.message !== NOT_AN_ENVELOPE || path === undefined) return error;
  return new CofferError(known.kind, isNamed ? known.message : `${path} is not a Coffer envelope`, {
    hint: isCiphertext(path)
      ? `it is a ciphertext: run "coffer transit decrypt KEY --in ${shellWord(path)}"`
      : hasValues(path)
        ? `its values are encrypted one by one: run "coffer secrets decrypt ${shellWord(path)} --stdout"`
        : known.hint,
    cause: error,
  });
}

/**
 * Explains that standard input was read, because the name of a file stands in the place of the key.
 * @param action last word of the command
 * @param name argument for the key
 * @returns any other error unchanged
 */
export function aboutStandardInput(error: unknown, action: string, name: string | undefined): unknown {
  const known = asCofferError(error);
  if (known?.message !== NOT_AN_ENVELOPE || name === undefined || !isRegularFile(name)) return error;
  return new CofferError(known.kind, 'standard input is not a Coffer envelope', {
    hint: `for the file ${name}, run "coffer transit envelope ${action} --in ${shellWord(name)}"`,
    cause: error,
  });
}

function hasValues(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.size > MAX_FILE_BYTES) return false;
  const text = readFileWhole(path, IN, MAX_FILE_BYTES).toString();
  return valuesIn(text).next().done !== true;
}
