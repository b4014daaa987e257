import { type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { attempt, CofferError, placed, type Text, throwing, unavailable } from '../../../ground/errors.ts';

const AS_OWNER = 'run as the user that owns the store';
/** Hint for a place that is no part of a store. */
export const ELSEWHERE = 'use a directory that you can write to';

const reasons: Record<string, { readonly reason: string; readonly hint: string }> = {
  ENOSPC: { reason: 'no space left on the disk', hint: 'free some space and try again' },
  EDQUOT: { reason: 'the disk quota is used up', hint: 'free some space and try again' },
  EFBIG: { reason: 'the limit of file sizes is reached', hint: 'raise the limit with "ulimit -f"' },
  EROFS: {
    reason: 'the file system is read-only',
    hint: 'mount the file system writable, or work on a copy elsewhere',
  },
  EACCES: { reason: 'permission denied', hint: AS_OWNER },
  EPERM: { reason: 'operation not permitted', hint: AS_OWNER },
  EMFILE: { reason: 'too many open files', hint: 'raise the limit of open files with "ulimit -n"' },
  ENFILE: { reason: 'too many open files on this machine', hint: 'close other programs and try again' },
  EIO: { reason: 'the disk reports an error', hint: 'check the disk, then run "coffer doctor"' },
  ENOENT: { reason: 'no such file or directory', hint: 'check the path' },
  EEXIST: { reason: 'file exists', hint: 'use another name' },
  ENOTDIR: { reason: 'part of the path is not a directory', hint: 'check the path' },
  EISDIR: { reason: 'is a directory', hint: 'check the path' },
  ELOOP: { reason: 'is a symbolic link', hint: 'replace the link with the file itself' },
};

/** Returns the platform's code of an error (`ENOENT`, …), or undefined. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Describes why the file system failed; falls back to the platform's code. */
export function diskReason(error: unknown): string {
  const code = errorCode(error) ?? 'unknown error';
  return reasons[code]?.reason ?? code;
}

type Action = 'read' | 'write' | 'create' | 'delete';

/** Returns what to do if this user may not use a file of a store: its owner can find out why, others cannot. */
function ownersHint(file: string): Text {
  const directory = dirname(file);
  const owner = (statIfPossible(file) ?? statIfPossible(directory))?.uid;
  if (owner === undefined) return AS_OWNER;
  return owner === process.geteuid?.()
    ? placed`check the permissions: run "ls -la ${{ file: directory }}"`
    : hintForForeign(file, owner);
}

/**
 * Returns what to do about a file of another user. If only the file differs from the directory of its store, becoming
 * its owner does not help: then that owner could not use the rest.
 * @param otherwise added if the store as a whole is another user's
 */
export function hintForForeign(file: string, uid: number, otherwise = ''): Text {
  const own = process.geteuid?.();
  const ofStore = ownerOfStoreOf(file);
  if (ofStore === undefined || ofStore !== own) return `${asOwner(ofStore ?? uid)}${otherwise}`;
  return placed`run "${own === 0 ? '' : 'sudo '}chown ${own} ${{ file }}"`;
}

/** Directories between a file of a store and the directory of the store, at most. */
const MAX_DEPTH = 3;

/** Returns the owner of the directory of the store that a file is in; undefined if the file is in no store. */
function ownerOfStoreOf(file: string): number | undefined {
  let directory = dirname(resolve(file));
  for (let depth = 0; depth < MAX_DEPTH; depth++, directory = dirname(directory))
    if (statIfPossible(join(directory, 'coffer.json')) !== undefined) return statIfPossible(directory)?.uid;
  return undefined;
}

/** Returns the hint to become the owner of a store, who is another user. */
const asOwner = (uid: number): string =>
  `${AS_OWNER}: put ${uid === 0 ? '"sudo"' : `"sudo -u '#${uid}'"`} before the command`;

const statIfPossible = (path: string): Stats | undefined => attempt(() => statSync(path));

/**
 * Runs work with a file, and converts its errors.
 * @throws as `diskError`
 */
export function onDisk<T>(action: Action, file: string, work: () => T, whenForbidden?: string): T {
  const failed = (error: unknown): CofferError => diskError(error, action, file, whenForbidden);
  try {
    const done = work();
    return done instanceof Promise ? (done.catch(throwing(failed)) as T) : done;
  } catch (error) {
    throw failed(error);
  }
}

/** Looks at a file; undefined if there is none. */
export function statsAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw diskError(error, 'read', path);
  }
}

const EXECUTE = 0o1;
const WRITE = 0o2;
const READ = 0o4;
const OF_OTHERS = 0o077;

/** Returns the command that gives this user the permissions on a file or directory of his own that are missing. */
function unlocking(file: string, action: Action): Text | undefined {
  const changes = action !== 'read';
  const parent = dirname(resolve(file));
  // From the outermost on: nothing can be found out about what is in a directory that may not be searched.
  for (const path of [...ancestorsOf(parent), parent, resolve(file)]) {
    const stats = statIfPossible(path);
    if (stats === undefined) return undefined;
    const isDirectory = stats.isDirectory();
    const isPassed = path !== resolve(file) && !(changes && path === parent);
    const needed = (isDirectory ? EXECUTE : 0) | (isPassed ? 0 : READ) | (changes && !isPassed ? WRITE : 0);
    const mode = stats.mode >> 6;
    if (stats.uid !== process.geteuid?.() || (mode & needed) === needed) continue;
    const whole = isDirectory ? '700' : '600';
    const added = isDirectory ? 'u+rwx' : 'u+rw';
    return placed`run "chmod ${(stats.mode & OF_OTHERS) === 0 ? whole : added} ${{ file: path }}"`;
  }
  return undefined;
}

/** Returns the directories above a path, the outermost first. */
function ancestorsOf(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [...ancestorsOf(above), above];
}

/**
 * Converts a file system error into a CofferError: what failed on which file, why, and what to do.
 * @param whenForbidden what to do if this user may not; default: become the owner of the store, or, as its owner, look
 * at its permissions; the owner of what lacks them gets the command that adds them
 */
export function diskError(error: unknown, action: Action, file: string, whenForbidden?: string): CofferError {
  if (error instanceof CofferError) return error;
  const code = errorCode(error) ?? '';
  const known = reasons[code];
  const mended = code === 'EACCES' ? unlocking(file, action) : undefined;
  return unavailable(placed`cannot ${action} ${{ file }}: ${diskReason(error)}`, {
    cause: error,
    hint: known?.hint === AS_OWNER ? (mended ?? whenForbidden ?? ownersHint(file)) : known?.hint,
  });
}
