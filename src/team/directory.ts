import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { attempt, invalid } from '../ground/errors.ts';

/** Locates keyrings. Small, for commands that only need to know whether there is one. */

/** Name of a keyring's directory. */
export const KEYRING = '.coffer';

/** Whether a directory contains a keyring, or parts of one. */
export function isKeyring(directory: string): boolean {
  const names = attempt(() => (lstatSync(directory).isDirectory() ? readdirSync(directory) : []));
  return (names ?? []).some(
    (name) => /^store\.[0-9a-z]{32}$/.test(name) || name === 'members' || name === 'removals',
  );
}

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

/** Returns the directory of the nearest keyring in a directory or above it, within the repository. */
export function nearestKeyring(directory: string): string | undefined {
  for (let folder = directory; ; folder = dirname(folder)) {
    const path = join(folder, KEYRING);
    if (existsSync(path)) return path;
    if (dirname(folder) === folder || existsSync(join(folder, '.git'))) return undefined;
  }
}
