/** Paths below `/v1` that mounts can have, and the API's own. */

import { invalid } from '../ground/errors.ts';
import { trimSlashes } from '../ground/trim.ts';

/** Initial and default mount. */
export const DEFAULT_MOUNT = 'transit';
export const MAX_MOUNT_PATH_LENGTH = 512;
/** Path prefix of login methods, and of operations on tokens. */
export const LOGIN_PREFIX = 'auth/';

const SEGMENT = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$/;
/** Reserved segments of other parts of the API, and `api`: the tags API's paths in policies start with `api/v2/`. */
const RESERVED_FIRST_SEGMENTS = new Set(['sys', 'auth', 'identity', 'cubbyhole', 'api']);

const isLegal = (path: string): boolean =>
  path.length <= MAX_MOUNT_PATH_LENGTH && path.split('/').every((segment) => SEGMENT.test(segment));

const isReserved = (path: string): boolean => RESERVED_FIRST_SEGMENTS.has(path.split('/')[0] ?? '');

/** Whether an engine could be mounted at a path, without slashes at the ends. */
export const isMountPath = (path: string): boolean => isLegal(path) && !isReserved(path);

/** Whether a path below `/v1` is about the server itself or its clients, not about an engine's data. */
export const isSystemPath = (path: string): boolean =>
  path.startsWith('sys/') || path.startsWith(LOGIN_PREFIX);

/**
 * Validates the path of a new mount.
 * @returns the path without slashes at the ends
 * @throws `invalid` for an impossible one
 */
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

/** Whether two paths are equal, or one is below the other. */
export const overlaps = (a: string, b: string): boolean =>
  `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`);
