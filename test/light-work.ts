import { createRequire, syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { isLong } from './long.ts';

const require = createRequire(import.meta.url);
const crypto = require('node:crypto') as { argon2: unknown };
const { lighter } = require('./lighter-argon2.cjs') as { lighter<T>(argon2: T): T };

const PRELOAD = ['--require', fileURLToPath(new URL('lighter-argon2.preload.cjs', import.meta.url))];
let isInEarnest = isLong;

/**
 * Passphrases stretched with the least work that there is, except in the long proof: for tests that are about something else, where stretching
 * takes more time than the rest of a command.
 */
export const lightWork = {
  /** Words for Node, before the command that it runs. */
  ofProcesses: (): readonly string[] => (isInEarnest ? [] : PRELOAD),
  /** Begins it in this process. @returns what ends it */
  here(): () => void {
    if (isInEarnest) return () => undefined;
    const { argon2 } = crypto;
    crypto.argon2 = lighter(argon2);
    syncBuiltinESMExports();
    return () => {
      crypto.argon2 = argon2;
      syncBuiltinESMExports();
    };
  },
};

/** All the work, until the end of a file: where a process that a command starts by itself opens a store, too. */
export function stretchInEarnest(): void {
  beforeAll(() => {
    isInEarnest = true;
  });
  afterAll(() => {
    isInEarnest = isLong;
  });
}
