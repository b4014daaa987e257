import { asCofferError, CofferError } from '../../ground/errors.ts';
import type { Operation } from '../../operations/declaration/operation.ts';

/** Text about an input of another format, which clients of Vault compare. */
const NOT_BASE64 = /^illegal base64 data at input byte /;

/**
 * Explains errors about the main input of a command: that it is too large, locally or for a server, or something else
 * than the command takes.
 * @param file name of the file that was read; undefined for another input
 */
export async function aboutInput(
  { cli = {} }: Operation,
  file: string | undefined,
  work: Promise<number>,
): Promise<number> {
  try {
    return await work;
  } catch (error) {
    const known = asCofferError(error);
    const { input, largeInput } = cli;
    if (known?.kind === 'too-large' && largeInput?.hint !== undefined)
      throw new CofferError(known.kind, known.texts.message, { hint: largeInput.hint });
    const { expected, param } = input ?? {};
    if (expected === undefined || known?.field !== param || !NOT_BASE64.test(known?.message ?? ''))
      throw error;
    const name = file === undefined || file === '-' ? 'the input' : file;
    throw new CofferError('invalid', `${name} is not ${expected.what}`, {
      hint: expected.hint,
      cause: error,
    });
  }
}
