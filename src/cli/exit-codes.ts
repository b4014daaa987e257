import type { ErrorKind } from '../ground/errors.ts';

export const DONE = 0;
export const FAILED = 1;
const USAGE = 2;
/** The signature or HMAC is not valid, which is a result, not an error. */
export const NOT_VALID = 5;
/**
 * The object to create already exists.
 * @see docs/decisions/0154
 */
const EXISTS = 6;
/**
 * A change was made, or may have been, and a later step failed.
 * @see docs/decisions/0119
 */
export const UNCONFIRMED = 7;
/** Exit code of shells for a program that cannot be executed. */
export const NOT_EXECUTABLE = 126;
/** Exit code of shells for a program that is not found. */
export const PROGRAM_NOT_FOUND = 127;
/** Exit code of shells for a process ended by Ctrl-C. */
export const INTERRUPTED = 130;

/** Exit code of each kind of error; a new kind does not compile without one. */
export const exitCodeOf: Readonly<Record<ErrorKind, number>> = {
  invalid: USAGE,
  unsupported: USAGE,
  'too-large': USAGE,
  'not-found': 3,
  denied: 4,
  sealed: 4,
  conflict: FAILED,
  exists: EXISTS,
  inauthentic: 4,
  corrupt: FAILED,
  unavailable: FAILED,
  unconfirmed: UNCONFIRMED,
};

/** Meaning of each code, for `coffer help exit-codes`. */
export const exitCodeMeanings: readonly (readonly [code: number, meaning: string])[] = [
  [DONE, 'done'],
  [
    FAILED,
    'failed for a reason that has no code of its own, e.g. conflict, damage, full disk, server unreachable',
  ],
  [USAGE, 'wrong options or arguments, or an invalid value'],
  [3, 'not found'],
  [4, 'permission denied, store locked, wrong key, or data was modified'],
  [NOT_VALID, 'the signature or HMAC that was verified is invalid'],
  [
    EXISTS,
    'already exists and was not changed (the code is 0 instead with --if-missing, and for a key with the same settings)',
  ],
  [UNCONFIRMED, 'the change was or may have been made, but a later step failed; check before retrying'],
];
