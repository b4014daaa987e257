import { statSync } from 'node:fs';
import { invalid } from '../../ground/errors.ts';
import type { FileFormatName } from '../../secret-files/format.ts';
import { MAX_FILE_BYTES } from '../../secret-files/formats.ts';
import { readFileWhole } from '../files/in-file.ts';
import { announceStandardInput } from '../files/input.ts';
import type { Session } from '../session.ts';
import { FILE, formatFor, parsedFile } from './secret-file.ts';
import type { ReadFile } from './transform.ts';

const STANDARD_INPUT = '-';
/** Descriptors that this process has inherited, as shells name those of `<(…)`. Another pipe might block forever. */
const DESCRIPTOR = /^\/(?:dev\/stdin|(?:dev|proc\/self)\/fd\/\d+)$/;

/** Whether a path is standard input, or a pipe that the shell opened for this command. */
export const isPipedFile = (path: string): boolean =>
  path === STANDARD_INPUT ||
  (DESCRIPTOR.test(path) && statSync(path, { throwIfNoEntry: false })?.isFIFO() === true);

/**
 * Reads standard input or a pipe to its end.
 * @param format format from the command line; the path does not tell any
 * @throws `unsupported` without a format; `invalid` if it is empty, as if it was read before
 */
export async function openPipedFile(
  session: Session,
  path: string,
  format: FileFormatName | undefined,
): Promise<ReadFile> {
  // Checked before the input is waited for.
  await formatFor(path, format);
  if (path === STANDARD_INPUT) announceStandardInput(session);
  const bytes =
    path === STANDARD_INPUT
      ? session.streams.in.readAll(MAX_FILE_BYTES)
      : readFileWhole(path, FILE, MAX_FILE_BYTES);
  if (bytes.length === 0)
    throw invalid(path === STANDARD_INPUT ? 'standard input (-) is empty' : `${path} is empty`, {
      field: FILE,
      hint: 'pipe the encrypted file in, and name it only once',
    });
  return parsedFile(path, bytes, format);
}
