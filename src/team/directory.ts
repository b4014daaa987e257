import { lstatSync, readdirSync } from 'node:fs';

/** Where keyrings lie. Little enough for commands that only ask whether there is one. */

/** What the directory of a keyring is called. */
export const KEYRING = '.coffer';

/** Whether a directory holds a keyring, or what is left of one. */
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
