/** Which paths below `/v1` a mount can have, and which are the API's own. */

import { invalid } from '../ground/errors.ts';
import { trimSlashes } from '../ground/trim.ts';

/** The mount that a store has from the start, and that is meant where none is named. */
export const DEFAULT_MOUNT = 'transit';
export const MAX_MOUNT_PATH_LENGTH = 512;
/** Login methods are mounted below it, and what is about callers lies there. */
export const LOGIN_PREFIX = 'auth/';

const SEGMENT = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$/;
/** Other parts of the API, and in policies the paths of the tags API, which start with `api/v2/`. */
const RESERVED_FIRST_SEGMENTS = new Set(['sys', 'auth', 'identity', 'cubbyhole', 'api']);

export const isLegal = (path: string): boolean =>
  path.length <= MAX_MOUNT_PATH_LENGTH && path.split('/').every((segment) => SEGMENT.test(segment));

export const isReserved = (path: string): boolean => RESERVED_FIRST_SEGMENTS.has(path.split('/')[0] ?? '');

/** Whether an engine can be mounted at a path, without slashes at its ends; whether there is one is another question. */
export const isMountPath = (path: string): boolean => isLegal(path) && !isReserved(path);

/** Whether a path below `/v1` is about the server itself or its callers, and not about what an engine keeps. */
export const isSystemPath = (path: string): boolean =>
  path.startsWith('sys/') || path.startsWith(LOGIN_PREFIX);

/** The path of a new mount, without slashes at its ends. @throws `invalid` for an impossible one. */
export function checkedPath(path: string, isLogin: boolean): string {
  const trimmed = trimSlashes(path);
  if (!isLegal(trimmed)) {
    throw invalid(`mount path ${JSON.stringify(path)} is not allowed`, {
      field: 'path',
      hint: 'use segments of letters, digits, "_", "-" and "." with "/" between them',
    });
  }
  if (isReserved(trimmed) && !isLogin) {
    throw invalid(`cannot mount under the reserved path "${trimmed.split('/')[0]}/"`, { field: 'path' });
  }
  return trimmed;
}

/** Whether one path is the other, or lies below it. */
export const overlaps = (a: string, b: string): boolean =>
  `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`);
