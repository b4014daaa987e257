import { readdirSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { isThere, makeWithParents } from '../ground/directories.ts';
import { attempt, unavailable } from '../ground/errors.ts';
import { type Environment, variable } from './given.ts';

const DIRECTORY_MODE = 0o700;

/** Returns the directory of user state on the platform; undefined if this user has none. */
export function stateDirectory(
  environment: Environment,
  platform: string = process.platform,
): string | undefined {
  const own = (name: string, ...parts: readonly string[]): string | undefined => {
    const base = variable(environment, name);
    return base === undefined || !isAbsolute(base) ? undefined : join(base, ...parts);
  };
  // Next to the directory of the default store.
  if (platform === 'win32') return own('LOCALAPPDATA', 'coffer-state');
  const xdg = own('XDG_STATE_HOME', 'coffer');
  if (xdg !== undefined) return xdg;
  return platform === 'darwin'
    ? own('HOME', 'Library', 'Application Support', 'coffer-state')
    : own('HOME', '.local', 'state', 'coffer');
}

/**
 * Creates a directory that is accessible only to this user, with missing parents.
 * @throws `unavailable` if it would not belong to this user, as with `sudo` and the home directory of the calling user
 */
export function makeOwnDirectory(directory: string): void {
  let existing = directory;
  while (!isThere(existing)) existing = dirname(existing);
  const user = process.geteuid?.();
  if (user !== undefined && statSync(existing).uid !== user) {
    throw unavailable(`${existing} belongs to another user`, {
      hint: 'set HOME or XDG_STATE_HOME to a directory of your own',
    });
  }
  makeWithParents(directory, DIRECTORY_MODE);
}

/** Returns the names in a directory; none if it cannot be listed. */
export const namesIn = (directory: string): readonly string[] => attempt(() => readdirSync(directory)) ?? [];

/**
 * Returns the directory of this machine's memory of keyrings; undefined if nothing is stored. Apart from the memory, for
 * commands that ask an agent which reads it.
 */
export function memoryDirectory(environment: Environment): string | undefined {
  const base = environment['COFFER_STATE'] === 'none' ? undefined : stateDirectory(environment);
  return base === undefined ? undefined : join(base, 'team');
}

/**
 * Returns the identity (device and inode) of the file that a path leads to: in a container, the same path may lead to
 * another one.
 */
export function fileOf(path: string): string | undefined {
  const found = attempt(() => statSync(path));
  return found && `${found.dev} ${found.ino}`;
}
