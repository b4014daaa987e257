import type * as Crypto from 'node:crypto';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { isLong } from './long.ts';

const require = createRequire(import.meta.url);
type Stretching = Pick<typeof Crypto, 'argon2' | 'scrypt'>;
const crypto = require('node:crypto') as Stretching;
const { lighter } = require('./lighter-work.cjs') as { lighter(heavy: Stretching): Stretching };

const PRELOAD = ['--require', fileURLToPath(new URL('lighter-work.preload.cjs', import.meta.url))];
let isInEarnest = isLong;
/** How many have begun it and not ended it yet. */
let begun = 0;

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
    put();
    begun++;
    return () => {
      begun--;
    };
  },
};

let isPut = false;

/** Puts functions before those of Node that ask each time: to exchange these for each command would tell every module of Node anew. */
function put(): void {
  if (isPut) return;
  isPut = true;
  const heavy = { argon2: crypto.argon2, scrypt: crypto.scrypt };
  const light = lighter(heavy);
  const chosen = (): Stretching => (begun > 0 ? light : heavy);
  Object.assign(crypto, {
    argon2: (...given: Parameters<typeof crypto.argon2>) => chosen().argon2(...given),
    scrypt: (...given: Parameters<typeof crypto.scrypt>) => chosen().scrypt(...given),
  });
  syncBuiltinESMExports();
}

/** All the work, until the end of a file: where a process that a command starts by itself opens a store, too. */
export function stretchInEarnest(): void {
  beforeAll(() => {
    isInEarnest = true;
  });
  afterAll(() => {
    isInEarnest = isLong;
  });
}
