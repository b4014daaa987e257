import { CofferError } from '../../ground/errors.ts';
import type { SealedValue } from '../../secret-files/value.ts';

/* Values of files, as sent to keys and returned. */

/** Hint for a value whose end is missing. */
export const TRUNCATED = 'the value appears to be truncated: restore it from git or a backup';

/** Value to encrypt. */
export interface OpenValue {
  /** Name of its place in the file, which it is bound to. */
  readonly name: string;
  readonly source: string;
}

/** Encrypted value in a file. */
export interface FoundValue {
  readonly name: string;
  readonly value: SealedValue;
  /** Place in error messages: `app.env:3`. */
  readonly where: string;
  /** File that contains it, which determines the keyring; undefined for that of the working directory. */
  readonly path?: string;
}

/** Result for one value; errors name its place and its name. */
export type ValueResult<T> = T | CofferError;

/** Advice about the store of an author. The user may be this author, in a shell that does not name the store. */
const YOUR_STORE =
  'if you encrypted the value, select your store with --store or COFFER_STORE, or restore its backup with "coffer store restore FILE"';

/** Hint where creating a store or a key, which other hints suggest, would not help. */
export const SHARING = `${YOUR_STORE}; if not, ask the author for access: "coffer help sharing"`;

/**
 * Whether the result for a value is an error that sends the user to another store or keyring, which may have encrypted
 * it. A value that was moved or cut has another hint.
 */
export const mayBeOfOthers = (result: unknown): result is CofferError =>
  result instanceof CofferError &&
  (result.kind === 'inauthentic' || result.kind === 'not-found') &&
  OF_OTHERS.some((words) => result.hint?.includes(words));

const OF_OTHERS = [SHARING, 'of another keyring or'];
