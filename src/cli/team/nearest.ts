import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import { KEYRING } from '../../team/directory.ts';
import type { Session } from '../session.ts';
import { stateDirectory } from '../state-directory.ts';
import type { TeamKeys } from './team-keys.ts';

/** Finds out whether a file's values are a keyring's, before anything of keyrings is loaded: most repositories have none. */

const found = new WeakMap<Session, Map<string, Promise<TeamKeys | undefined>>>();

/**
 * The keyring that holds for the values of a file; undefined where the person's own store, or a server, does: where there is none above
 * the file, where the command line names a store, and for a value or a rule that names a mount, as keyrings have none.
 * @param path of the file; what has no path lies in the working directory.
 * @see docs/decisions/0299
 */
export function teamKeysFor(
  session: Session,
  path: string | undefined,
  mount: string = DEFAULT_MOUNT,
): Promise<TeamKeys | undefined> {
  if (mount !== DEFAULT_MOUNT || session.settings.placeNamed) return Promise.resolve(undefined);
  const directory = path === undefined ? process.cwd() : dirname(resolve(path));
  const known = found.get(session) ?? new Map<string, Promise<TeamKeys | undefined>>();
  found.set(session, known);
  const before = known.get(directory);
  if (before !== undefined) return before;
  const keys = mayHaveKeyring(session, directory) ? load(session, directory) : Promise.resolve(undefined);
  known.set(directory, keys);
  return keys;
}

/** Drops what was read, after a keyring was changed. */
export const forgetTeamKeys = (session: Session): boolean => found.delete(session);

/** False where there can be none, for whatever file of a directory; true is no answer yet. */
export function mayHaveKeyring(session: Session, directory: string): boolean {
  const state = stateDirectory(session.environment);
  if (state !== undefined && existsSync(join(state, 'team', 'clones'))) return true;
  return isBelowKeyring(directory);
}

/** Whether a keyring lies in a directory or above it, within the repository. */
export function isBelowKeyring(directory: string): boolean {
  for (let folder = directory; ; folder = dirname(folder)) {
    if (existsSync(join(folder, KEYRING))) return true;
    if (dirname(folder) === folder || existsSync(join(folder, '.git'))) return false;
  }
}

async function load(session: Session, directory: string): Promise<TeamKeys | undefined> {
  const { TeamKeys } = await import('./team-keys.ts');
  return TeamKeys.above(session, directory);
}
