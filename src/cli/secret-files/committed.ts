import { realpathSync } from 'node:fs';
import { asCofferError } from '../../ground/errors.ts';
import type { Place, SecretFile } from '../../secret-files/format.ts';
import type { Session } from '../session.ts';
import { committed } from './git.ts';
import { parsedFile } from './secret-file.ts';
import { type KnownValues, knownValues, openFiles, type ReadFile } from './transform.ts';

/** A file as the last commit has it; undefined where it has none, or one that can't be read. */
export async function committedFile({ path, format }: ReadFile): Promise<SecretFile | undefined> {
  // What git has of a link is where it leads.
  const bytes = committed(realpathSync(path));
  if (bytes === undefined) return undefined;
  try {
    return (await parsedFile(path, bytes, format.name)).file;
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
    return undefined;
  }
}

/**
 * What the last commit shows of values that are to be encrypted, so that those that are as they were keep their ciphertexts. It is a
 * help and no more: what can't be opened, or by whom, is as if it were not there.
 * @param file as the last commit has it.
 */
export async function committedValues(
  session: Session,
  { path, format }: ReadFile,
  places: readonly Place[],
  file: SecretFile,
): Promise<KnownValues> {
  const nothing: KnownValues = new Map();
  const names = new Set(places.map(({ name }) => name));
  const isMeant = ({ name, sealed }: Place): boolean => sealed !== undefined && names.has(name);
  if (!file.places.some(isMeant)) return nothing;
  try {
    const [result] = await openFiles(session, [{ path, format, file }], isMeant);
    return result === undefined || 'errors' in result ? nothing : knownValues(file, result.file);
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
    return nothing;
  }
}
