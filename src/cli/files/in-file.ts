import { closeSync, fstatSync, openSync, read, type Stats } from 'node:fs';
import { asCofferError, CofferError, throwing, withOtherHint } from '../../ground/errors.ts';
import { answered } from '../../ground/pause.ts';
import { diskReason } from '../../store/backends/files/disk-errors.ts';
import { type Input, inputFrom } from '../terminal/streams.ts';

/** Reasons why a file cannot be opened, read or written that differ from those of the store. */
export const FILE_REASONS: Readonly<Record<string, string>> = {
  ELOOP: 'too many levels of symbolic links',
  ENAMETOOLONG: 'the name is too long',
  EPERM: 'permission denied',
};
const REASONS: typeof FILE_REASONS = { ...FILE_REASONS, ENOENT: 'no such file' };
/** Replacement character that Node inserts for bytes in a name that are not UTF-8; no file is found by such a name. */
const UNREADABLE = '\ufffd';
/** Errors of a wrong name; all others are errors of the disk. */
const WRONG_NAME = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG']);

/** Opened file for reading. */
export interface InFile extends Input {
  /**
   * Fills `into` from a position of a regular file.
   * @returns number of bytes read, less than requested only at the end of the file
   */
  readAt(position: number, into: Uint8Array): Promise<number>;
  close(): void;
}

/** Check of a file, which throws if the file is refused. */
type FileCheck = (path: string, stats: Stats, field: string) => void;

const refuseDirectory: FileCheck = (path, stats) => {
  if (stats.isDirectory()) throw Object.assign(new Error(path), { code: 'EISDIR' });
};

/**
 * Opens a file.
 * @throws `invalid` naming the field if there is no readable file
 */
export function openInFile(path: string, field: string, judge?: FileCheck): InFile {
  const plainly = <T>(work: Promise<T>): Promise<T> =>
    work.catch(throwing((error) => readFailure(path, field, error)));
  try {
    const descriptor = openSync(path, 'r');
    const stat = fstatSync(descriptor);
    try {
      refuseDirectory(path, stat, field);
      judge?.(path, stat, field);
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    const input = inputFrom(descriptor);
    return {
      isTerminal: false,
      isPiped: true,
      readAll: (maxBytes) => input.readAll(maxBytes),
      read: (into) => plainly(input.read(into)),
      readNow: (into) => input.readNow(into),
      file: stat.isFile() ? { descriptor, explain: (error) => readFailure(path, field, error) } : undefined,
      readAt: (position, into) => plainly(readFully(descriptor, position, into)),
      bytes: stat.isFile() ? stat.size : undefined,
      close: () => closeSync(descriptor),
    };
  } catch (error) {
    throw readFailure(path, field, error);
  }
}

/** Returns the error. A file that cannot be opened was named wrongly; a later read error is one of the disk. */
function readFailure(path: string, field: string, error: unknown): CofferError {
  if (error instanceof CofferError) return error;
  const code = String((error as { readonly code?: unknown } | null)?.code);
  const kind = WRONG_NAME.has(code) ? 'invalid' : 'unavailable';
  const isUnreadable = code === 'ENOENT' && path.includes(UNREADABLE);
  const reason = isUnreadable ? 'its name is not UTF-8' : (REASONS[code] ?? diskReason(error));
  const hint = code === 'ENOENT' ? (homeHint(path) ?? atHint(path)) : undefined;
  return new CofferError(kind, `cannot read ${path}: ${reason}`, { field, hint, cause: error });
}

/** Returns the hint for a name with the `@` of options that also take a text; undefined without one. */
const atHint = (path: string): string | undefined =>
  path.startsWith('@') ? 'omit the @: only a file can be given here' : undefined;

/**
 * Fills `into` from a position.
 * @returns number of bytes read, less than requested only at the end of the file
 */
export async function readFully(descriptor: number, position: number, into: Uint8Array): Promise<number> {
  let filled = 0;
  while (filled < into.length) {
    const rest = into.length - filled;
    const bytes = await answered<number>((done) =>
      read(descriptor, into, filled, rest, position + filled, done),
    );
    if (bytes === 0) break;
    filled += bytes;
  }
  return filled;
}

/** Reads a whole file of at most `maxBytes`. */
export function readFileWhole(path: string, field: string, maxBytes: number, judge?: FileCheck): Buffer {
  const file = openInFile(path, field, judge);
  try {
    return file.readAll(maxBytes);
  } finally {
    file.close();
  }
}

/**
 * Reads a whole file that was given as `@FILE`.
 * @throws as {@link readFileWhole}
 */
export function readAtFile(text: string, field: string, maxBytes: number): Buffer {
  try {
    return readFileWhole(text.slice(1), field, maxBytes);
  } catch (error) {
    const known = asCofferError(error);
    if (known === undefined || !text.startsWith('@@') || known.hint === undefined) throw error;
    throw withOtherHint(known, 'the first @ says that the rest is the name of a file');
  }
}

/** Reads the first bytes of an input, fewer only if it is shorter. */
export function headOf(input: Input, count: number): Buffer {
  const head = Buffer.allocUnsafe(count);
  let filled = 0;
  while (filled < count) {
    const bytes = input.readNow(head.subarray(filled));
    if (bytes === 0) break;
    filled += bytes;
  }
  return head.subarray(0, filled);
}

/** Path of the home directory, as shells have it. */
const HOME = /^~(?=\/|$)/;

/**
 * Returns the hint for a path with a `~` that the shell left as it is, because it was in quotes, after `=`, or in a
 * file of variables; undefined for any other path.
 */
export const homeHint = (path: string): string | undefined =>
  HOME.test(path)
    ? `the shell does not expand ~ in quotes or after =: use "${path.replace(HOME, '$HOME')}", or ./${path} for a directory named ~`
    : undefined;
