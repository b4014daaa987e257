import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { notFound } from '../../ground/errors.ts';
import type { Environment } from '../given.ts';
import { makeMemoryDirectory, removeLeftovers } from '../memory/memory-directory.ts';

const PURPOSE = 'exec';

/**
 * Writes the values of some variables to files, and sets these variables to the paths.
 * @throws `not-found` for a variable that does not exist
 */
export function withFiles(
  environment: Environment,
  variables: Readonly<Record<string, string>>,
  names: readonly string[],
  onDisk: boolean,
): { readonly variables: Readonly<Record<string, string>>; remove(): void } {
  for (const name of names) {
    if (!Object.hasOwn(variables, name)) throw notFound(`no variable ${name} to write to a file`);
  }
  removeLeftovers(environment, PURPOSE);
  const directory = makeMemoryDirectory(environment, PURPOSE, onDisk);
  const changed = new Map(Object.entries(variables));
  try {
    for (const name of new Set(names)) {
      const path = join(directory.path, name.replaceAll('/', '_'));
      writeFileSync(path, variables[name] ?? '', { mode: 0o600, flag: 'wx' });
      changed.set(name, path);
    }
  } catch (error) {
    directory.remove();
    throw error;
  }
  return { variables: Object.fromEntries(changed), remove: directory.remove };
}
