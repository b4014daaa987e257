import { statSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../ground/errors.ts';
import type { Environment } from '../given.ts';
import { stateDirectory } from '../state-directory.ts';

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
