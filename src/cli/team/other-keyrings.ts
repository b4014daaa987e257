import { join, relative } from 'node:path';
import { unlessRefused } from '../../ground/errors.ts';
import type { Environment } from '../given.ts';
import { filesBelow } from '../repository/git.ts';
import { hasMember, TeamMemory } from './memory.ts';
import { type KeyringPlace, placeIn } from './place.ts';

/**
 * Returns the folders of other keyrings in the same working tree that have a member of that name, relative to the
 * working directory. Files of a card do not tell: they stay after a removal.
 */
export function otherKeyringsOf(
  environment: Environment,
  { top, folder }: KeyringPlace,
  name: string,
): readonly string[] {
  if (top === undefined) return [];
  const memory = new TeamMemory(environment);
  const folders = filesBelow(top).flatMap((path) => {
    const [, above] = /^((?:.*\/)?)\.coffer\/store\.[0-9a-z]{32}$/.exec(path) ?? [];
    return above === undefined ? [] : [join(top, above, '.')];
  });
  return [...new Set(folders)]
    .filter((other) => relative(other, folder) !== '')
    .filter((other) => unlessRefused(() => hasMember(memory, placeIn(other, top), name), false))
    .map((other) => relative('.', other) || '.');
}
