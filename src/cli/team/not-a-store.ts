import { lstatSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { invalid } from '../../ground/errors.ts';
import { isKeyring, KEYRING } from '../../team/directory.ts';

/**
 * A store changes in place: two branches of a repository with one in it could not be merged. So the directory of keyrings takes none; one
 * that an earlier release made there is opened as before.
 * @throws `invalid`
 */
export function refuseKeyringPlace(location: string | undefined): void {
  if (location === undefined || basename(location) !== KEYRING || location.includes('://')) return;
  const isThere = lstatSync(location, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere && !isKeyring(location)) return;
  throw invalid(`${resolve(location)} is for the keyring of a repository, which is no store`, {
    hint: 'leave --store out, and see "coffer team"; a store changes in place, which branches can\'t merge',
  });
}
