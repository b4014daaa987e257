import { lineCounter, type ScalarPlace } from '../../secret-files/format.ts';
import { looksDamaged } from '../../secret-files/value.ts';
import type { Session } from '../session.ts';
import type { ReadFile } from './transform.ts';

/** Warns of values that begin like encrypted ones but are not: they are about to be used as they are. */
export function warnOfDamaged(
  session: Session,
  { path, file }: Pick<ReadFile, 'path' | 'file'>,
  places: readonly ScalarPlace[] = file.places,
): void {
  const damaged = places.filter(({ sealed, text }) => sealed === undefined && looksDamaged(text));
  const [first] = damaged;
  if (first === undefined) return;
  const where = `${path}:${lineCounter(file.text)(first.start)}`;
  const what =
    damaged.length === 1
      ? `${first.name} looks like a damaged encrypted value, and is not decrypted`
      : `${first.name} and ${damaged.length - 1} more look like damaged encrypted values, and are not decrypted`;
  session.warn(`${where}: ${what}`);
}
