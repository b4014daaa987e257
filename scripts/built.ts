import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Beside the bundle: what it was built from. */
const STAMP = 'dist/.built-from';
const INPUTS = ['src/**/*.ts', 'scripts/*.ts', 'package.json', 'package-lock.json'];

/** A name for the present state of everything that the bundle is built from: each file, its size, and when it was written. */
export function stampOf(root: string): string {
  const hash = createHash('sha256');
  for (const path of globSync(INPUTS, { cwd: root }).sort()) {
    const { size, mtimeNs } = statSync(join(root, path), { bigint: true });
    hash.update(`${path} ${size} ${mtimeNs}\n`);
  }
  return hash.digest('hex');
}

export const stampFile = (root: string): string => join(root, STAMP);

/** Whether what `dist` has was built from the sources as they are. */
export function isFresh(root: string): boolean {
  try {
    return readFileSync(stampFile(root), 'utf8') === stampOf(root);
  } catch {
    return false;
  }
}
