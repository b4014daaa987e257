import { asCofferError } from '../../ground/errors.ts';
import type { Place } from '../../secret-files/format.ts';
import type { Session } from '../session.ts';
import { committed } from './git.ts';
import { parsedFile } from './secret-file.ts';
import { type KnownValues, knownValues, openFiles, type ReadFile } from './transform.ts';

/**
 * What the last commit shows of values that are to be encrypted, so that those that are as they were keep their ciphertexts. It is a
 * help and no more: what can't be opened, or by whom, is as if it were not there.
 */
export async function committedValues(
  session: Session,
  { path, format }: ReadFile,
  places: readonly Place[],
): Promise<KnownValues> {
  const nothing: KnownValues = new Map();
  const bytes = places.length === 0 ? undefined : committed(path);
  if (bytes === undefined) return nothing;
  const names = new Set(places.map(({ name }) => name));
  const isMeant = ({ name, sealed }: Place): boolean => sealed !== undefined && names.has(name);
  try {
    const { file } = await parsedFile(path, bytes, format.name);
    if (!file.places.some(isMeant)) return nothing;
    const [result] = await openFiles(session, [{ path, format, file }], isMeant);
    return result === undefined || 'errors' in result ? nothing : knownValues(file, result.file);
  } catch (error) {
    if (asCofferError(error) === undefined) throw error;
    return nothing;
  }
}
