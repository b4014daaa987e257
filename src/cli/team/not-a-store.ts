import { lstatSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { invalid } from '../../ground/errors.ts';
import { isKeyring, KEYRING } from '../../team/directory.ts';

/**
 * Refuses to create a store in the directory of keyrings. A store is modified in place, so branches of a repository
 * that contains one could not be merged. A store that an earlier release created there can still be opened.
 * @throws `invalid` if there is no such store
 */
export function refuseKeyringPlace(location: string | undefined): void {
  if (location === undefined || basename(location) !== KEYRING || location.includes('://')) return;
  const isThere = lstatSync(location, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere && !isKeyring(location)) return;
  throw invalid(`${resolve(location)} is reserved for the keyring of a repository and cannot be a store`, {
    hint: 'omit --store, and see "coffer team"; a store changes in place and cannot be merged by git',
  });
}
