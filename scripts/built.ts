import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Stamp file next to the bundle, which identifies the sources of the build. */
const STAMP = 'dist/.built-from';
const INPUTS = ['src/**/*.ts', 'scripts/*.ts', 'package.json', 'package-lock.json'];

/** Returns a hash of the state of all inputs of the bundle: path, size and modification time of each file. */
export function stampOf(root: string): string {
  const hash = createHash('sha256');
  for (const path of globSync(INPUTS, { cwd: root }).sort()) {
    const { size, mtimeNs } = statSync(join(root, path), { bigint: true });
    hash.update(`${path} ${size} ${mtimeNs}\n`);
  }
  return hash.digest('hex');
}

export const stampFile = (root: string): string => join(root, STAMP);

/** Whether `dist` was built from the current sources. */
export function isFresh(root: string): boolean {
  try {
    return readFileSync(stampFile(root), 'utf8') === stampOf(root);
  } catch {
    return false;
  }
}
