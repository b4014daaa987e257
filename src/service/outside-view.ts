import { join, win32 } from 'node:path';
import { type Aside, CofferError, type Place, printText } from '../ground/errors.ts';

/**
 * Logs why a request could not be answered.
 * @returns the error for the client; undefined for an internal one
 */
export type NoteFailure = (error: unknown) => CofferError | undefined;

/** Whether an error is about the server's disk or database, not about the request. */
export const isOfServer = ({ kind, where }: CofferError): boolean =>
  kind === 'corrupt' || kind === 'unavailable' || kind === 'unconfirmed' || where !== undefined;

/**
 * Returns an error for remote clients, who must not see the server's paths: files are named relative to the store, or
 * by their name only. A hint about such a path could only be followed on the server, and is omitted. A missing part of
 * the server itself is reported as unavailable instead of not found, because it may return.
 * @param store directory of the store, or `postgres://…`
 * @see docs/decisions/0124
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
  // Windows path functions recognize both separators.
  return file.startsWith(within) ? file.slice(within.length) : win32.basename(file);
}
