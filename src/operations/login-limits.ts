import type { Access } from '../access/access.ts';
import { asCofferError, type ErrorKind } from '../ground/errors.ts';
import type { Mount } from '../mounts/mounts.ts';
import type { GuardedCore } from './asked-request.ts';
import type { Match } from './routes.ts';

/** As much of a request as says whether it is a login, and from where. */
interface Attempt {
  readonly match: Match;
  readonly mount?: Mount;
  readonly remoteAddress: string;
}

/** The mount that somebody wants to log in at. */
export const loginMountOf = ({ match, mount }: Attempt): Mount | undefined =>
  typeof match !== 'string' && match.served.operation.unauthenticated ? mount : undefined;

/** Whether logins from there failed too often of late. Asked before anything is read of what was sent. @see docs/decisions/0174 */
export function isBarred({ loginFailures }: Access, attempt: Attempt): boolean {
  const mount = loginMountOf(attempt);
  return mount !== undefined && !loginFailures.admits(mount.uuid, attempt.remoteAddress);
}

const CALLERS_FAULTS: ReadonlySet<ErrorKind | undefined> = new Set<ErrorKind>([
  'invalid',
  'denied',
  'not-found',
  'too-large',
  'unsupported',
]);

/** Counts what ended a login, if that is the caller's fault. */
export function countFailure(
  { access: { loginFailures }, loginFailed }: GuardedCore,
  attempt: Attempt,
  error: unknown,
): void {
  const mount = loginMountOf(attempt);
  if (mount !== undefined && CALLERS_FAULTS.has(asCofferError(error)?.kind)) {
    loginFailures.count(mount.uuid, attempt.remoteAddress);
    loginFailed();
  }
}
