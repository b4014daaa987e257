import { realpathSync } from 'node:fs';
import { refusedAs } from '../../ground/errors.ts';
import type { ScalarPlace, SecretFile } from '../../secret-files/format.ts';
import { committed } from '../repository/git.ts';
import type { Session } from '../session.ts';
import { parsedFile } from './secret-file.ts';
import { type KnownValues, knownValues, openFiles, type ReadFile } from './transform.ts';

/** Returns a file as in the last commit; undefined if it is not there, or cannot be parsed. */
export async function committedFile({ path, format }: ReadFile): Promise<SecretFile | undefined> {
  // Git stores a link as the path of its target.
  const bytes = committed(realpathSync(path));
  if (bytes === undefined) return undefined;
  return (await parsedFile(path, bytes, format.name).catch(refusedAs(undefined)))?.file;
}

/**
 * Returns the ciphertexts in the last commit of values that are to be encrypted, so that unchanged values keep theirs.
 * This is only an optimization: values that cannot be opened are ignored.
 * @param file the file as in the last commit
 */
export async function committedValues(
  session: Session,
  { path, format }: ReadFile,
  places: readonly ScalarPlace[],
  file: SecretFile,
): Promise<KnownValues> {
  const nothing: KnownValues = new Map();
  const names = new Set(places.map(({ name }) => name));
  const isMeant = ({ name, sealed }: ScalarPlace): boolean => sealed !== undefined && names.has(name);
  if (!file.places.some(isMeant)) return nothing;
  const [result] = await openFiles(session, [{ path, format, file }], isMeant).catch(refusedAs([]));
  return result === undefined || 'errors' in result ? nothing : knownValues(file, result.file);
}
