import { join, win32 } from 'node:path';
import { type Aside, CofferError, type Place, printText } from '../ground/errors.ts';

/**
 * Notes for those who run the server why a request could not be answered.
 * @returns the error as callers may see it; undefined for one that nobody foresaw.
 */
export type NoteFailure = (error: unknown) => CofferError | undefined;

/** Whether an error is about the server's disk or database, not about what a caller asked for. */
export const isOfServer = ({ kind, where }: CofferError): boolean =>
  kind === 'corrupt' || kind === 'unavailable' || kind === 'unconfirmed' || where !== undefined;

/**
 * An error as those see it who have no business with where a server keeps things: files are called by their place within
 * the store, or by their name alone. A hint about such a place could only be followed on the server, and is left out. What the
 * server itself misses is nothing that a caller asked for, and may come back.
 * @see docs/decisions/0124
 * @param store the directory of the store, or `postgres://…`.
 */
export function outsideView(error: CofferError, store: string): CofferError {
  const { message, hint } = error.texts;
  const hasPlace = typeof hint === 'object';
  if (typeof message === 'string' && !hasPlace) return error;
  return new CofferError(
    error.kind === 'not-found' && isOfServer(error) ? 'unavailable' : error.kind,
    printText(message, (part) => outsideName(part, store)),
    { field: error.field, hint: hasPlace ? undefined : hint },
  );
}

function outsideName(part: Place | Aside, store: string): string {
  if ('outside' in part) return part.outside;
  if ('database' in part) return part.part === undefined ? 'the store' : `the store (${part.part})`;
  const { file } = part;
  if (file === store) return 'the store';
  const within = join(store, '-').slice(0, -1);
  // Windows' way of taking a path apart knows both separators.
  return file.startsWith(within) ? file.slice(within.length) : win32.basename(file);
}
