import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { madeOnce } from '../../ground/objects.ts';
import { DEFAULT_MOUNT } from '../../mounts/paths.ts';
import { nearestKeyring } from '../../team/directory.ts';
import type { Session } from '../session.ts';
import { stateDirectory } from '../state-directory.ts';
import type { TeamKeys } from './team-keys.ts';

/**
 * Finds out whether a file's values belong to a keyring, before any keyring code is loaded: most repositories have
 * none.
 */

const found = new WeakMap<Session, Map<string, Promise<TeamKeys | undefined>>>();

/**
 * Returns the keyring for the values of a file; undefined if the user's own store or a server is used: if there is no
 * keyring above the file, if the command line names a store, and for a value or a rule that names a mount, as keyrings
 * have none.
 * @param path path of the file; without one, the working directory counts
 * @see docs/decisions/0299
 */
export function teamKeysFor(
  session: Session,
  path: string | undefined,
  mount: string = DEFAULT_MOUNT,
): Promise<TeamKeys | undefined> {
  if (mount !== DEFAULT_MOUNT || session.settings.placeNamed) return Promise.resolve(undefined);
  const directory = path === undefined ? process.cwd() : dirname(resolve(path));
  return madeOnce(
    madeOnce(found, session, () => new Map()),
    directory,
    () => (mayHaveKeyring(session, directory) ? load(session, directory) : Promise.resolve(undefined)),
  );
}

/** Discards the cached keyrings after a change. */
export const forgetTeamKeys = (session: Session): boolean => found.delete(session);

/** Whether a directory may have a keyring: false is certain for all its files, true is not. */
function mayHaveKeyring(session: Session, directory: string): boolean {
  const state = stateDirectory(session.environment);
  if (state !== undefined && existsSync(join(state, 'team', 'clones'))) return true;
  return isBelowKeyring(directory);
}

/** Whether the values of a file may belong to a keyring; false is certain. */
export const mayBeOfKeyring = (session: Session, path: string | undefined): boolean =>
  mayHaveKeyring(session, path === undefined ? process.cwd() : dirname(resolve(path)));

/** Whether the values of a file belong to a keyring, or did: an attacker who can push can remove it. */
export async function hasKeyring(session: Session, path: string): Promise<boolean> {
  const directory = dirname(resolve(path));
  if (!mayHaveKeyring(session, directory)) return false;
  return isBelowKeyring(directory) || (await teamKeysFor(session, path)) !== undefined;
}

const isBelowKeyring = (directory: string): boolean => nearestKeyring(directory) !== undefined;

async function load(session: Session, directory: string): Promise<TeamKeys | undefined> {
  const { TeamKeys } = await import('./team-keys.ts');
  return TeamKeys.above(session, directory);
}
