import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { CofferError, placed, type Text, unavailable } from '../../../ground/errors.ts';

const AS_OWNER = 'run as the user that owns the store';
/** Hint for a place that is no part of a store. */
export const ELSEWHERE = 'use a directory that you can write to';

const reasons: Record<string, { readonly reason: string; readonly hint: string }> = {
  ENOSPC: { reason: 'no space left on the disk', hint: 'free some space and try again' },
  EDQUOT: { reason: 'the disk quota is used up', hint: 'free some space and try again' },
  EFBIG: { reason: 'the limit of file sizes is reached', hint: 'raise the limit (ulimit -f)' },
  EROFS: { reason: 'the file system is read-only', hint: 'mount it writable, or work on a copy elsewhere' },
  EACCES: { reason: 'permission denied', hint: AS_OWNER },
  EPERM: { reason: 'operation not permitted', hint: AS_OWNER },
  EMFILE: { reason: 'too many open files', hint: 'raise the limit of open files (ulimit -n)' },
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

/** Returns what to do if this user may not use a file of a store: its owner can find out why, others cannot. */
function ownersHint(file: string): Text {
  const directory = dirname(file);
  return (isOwn(file) ?? isOwn(directory) ?? false)
    ? placed`check the permissions: run "ls -la ${{ file: directory }}"`
    : AS_OWNER;
}

/** Whether a file belongs to this user; undefined if that cannot be found out. */
function isOwn(path: string): boolean | undefined {
  try {
    return statSync(path).uid === process.geteuid?.();
  } catch {
    return undefined;
  }
}

/**
 * Converts a file system error into a CofferError: what failed on which file, why, and what to do.
 * @param whenForbidden what to do if this user may not; default: become the owner of the store, or, as its owner, look
 * at its permissions
 */
export function diskError(
  error: unknown,
  action: 'read' | 'write' | 'create' | 'delete',
  file: string,
  whenForbidden?: string,
): CofferError {
  if (error instanceof CofferError) return error;
  const known = reasons[errorCode(error) ?? ''];
  return unavailable(placed`cannot ${action} ${{ file }}: ${diskReason(error)}`, {
    cause: error,
    hint: known?.hint === AS_OWNER ? (whenForbidden ?? ownersHint(file)) : known?.hint,
  });
}
