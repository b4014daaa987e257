import type { ErrorKind } from '../ground/errors.ts';

export const DONE = 0;
export const FAILED = 1;
export const USAGE = 2;
/** The signature or HMAC is not valid, which is a result, not an error. */
export const NOT_VALID = 5;
/**
 * The object to create already exists.
 * @see docs/decisions/0154
 */
export const EXISTS = 6;
/**
 * A change was made, or may have been, and a later step failed.
 * @see docs/decisions/0119
 */
export const UNCONFIRMED = 7;
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
  [FAILED, 'failed: a state that forbids it, damage, a full disk, a server that does not answer'],
  [USAGE, "usage, or a value that can't be right: trying again won't help"],
  [3, 'not found'],
  [4, 'denied, locked, a wrong key, or altered data'],
  [NOT_VALID, 'not valid (verify)'],
  [EXISTS, 'exists already, and was left as it is (--if-missing makes it 0)'],
  [UNCONFIRMED, 'made, or perhaps made, but something failed after that: look before you do it again'],
];
