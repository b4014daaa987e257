import type { CofferError } from '../../ground/errors.ts';
import type { SealedValue } from '../../secret-files/value.ts';

/* Values of files, as they go to keys and come back. */

/** A value to be encrypted. */
export interface OpenValue {
  /** Of its place in the file, to which it is bound. */
  readonly name: string;
  readonly source: string;
}

/** An encrypted value in a file. */
export interface FoundValue {
  readonly name: string;
  readonly value: SealedValue;
  /** How errors say where it stands: `app.env:3`. */
  readonly where: string;
  /** The file that it stands in, of which the keyring above holds; the working directory's, where it is not known. */
  readonly path?: string;
}

/** What became of one value: errors say where it stands and what it is called. */
export type Result<T> = T | CofferError;
