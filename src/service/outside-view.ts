import { isAbsolute, sep } from 'node:path';
import { CofferError } from '../ground/errors.ts';

/**
 * Notes for those who run the server why a request could not be answered.
 * @returns the error as callers may see it; undefined for one that nobody foresaw.
 */
export type NoteFailure = (error: unknown) => CofferError | undefined;

/** The address of a database, without the punctuation that follows it. */
const DATABASE = /postgres(?:ql)?:\/\/\S*[^\s:,;.)]/g;
/** All of an absolute path but its last part. */
const DIRECTORIES = /(?<![\w.~:/\\-])(?:[A-Za-z]:)?[\\/](?:[^\s\\/"]+[\\/])+/g;

/** Whether an error is about the server's disk or database, not about what a caller asked for. */
export const isOfServer = ({ kind }: CofferError): boolean => kind === 'corrupt' || kind === 'unavailable';

/**
 * An error as those see it who have no business with where a server keeps things: files are called by their place within
 * the store, or by their name alone. A hint about such a place could only be followed on the server, and is left out.
 * @param store the directory of the store, or `postgres://…`.
 */
export function outsideView(error: CofferError, store: string): CofferError {
  if (!isOfServer(error)) return error;
  const message = withoutPlaces(error.message, store);
  const hint =
    error.hint !== undefined && withoutPlaces(error.hint, store) === error.hint ? error.hint : undefined;
  return new CofferError(error.kind, message, {
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(hint === undefined ? {} : { hint }),
  });
}

function withoutPlaces(text: string, store: string): string {
  // The directory by itself first: a path may have spaces in it, and what its end is can't be told then.
  const known = isAbsolute(store) ? text.replaceAll(store + sep, '').replaceAll(store, 'the store') : text;
  return known.replace(DATABASE, 'the store').replace(DIRECTORIES, '');
}
