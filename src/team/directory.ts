import { lstatSync, readdirSync } from 'node:fs';

/** Locates keyrings. Small, for commands that only need to know whether there is one. */

/** Name of a keyring's directory. */
export const KEYRING = '.coffer';

/** Whether a directory contains a keyring, or parts of one. */
export function isKeyring(directory: string): boolean {
  try {
    if (!lstatSync(directory).isDirectory()) return false;
    return readdirSync(directory).some(
      (name) => /^store\.[0-9a-z]{32}$/.test(name) || name === 'members' || name === 'removals',
    );
  } catch {
    return false;
  }
}
