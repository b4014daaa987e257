import { Crowded } from '../../access/login/turns.ts';
import { asCofferError, type ErrorKind } from '../../ground/errors.ts';
import type { Mount } from '../../mounts/mount.ts';
import type { AskedRequest, GuardedCore } from './asked-request.ts';

/** Returns the mount of a login. */
export const loginMountOf = ({ endpoint: { operation, mount } }: AskedRequest): Mount | undefined =>
  operation?.unauthenticated ? mount : undefined;

/**
 * Counts a login from its arrival, before the request is read.
 * @see docs/decisions/0174
 */
export function countLogin({ access, loginFailed }: GuardedCore, asked: AskedRequest) {
  const mount = loginMountOf(asked);
  if (mount === undefined) return undefined;
  const begun = access.loginAttempts.begin(mount.uuid, asked.remoteAddress);
  if (begun === undefined) return { isBarred: true, failed: () => undefined, end: () => undefined };
  let hasFailed = false;
  return {
    /** Whether there are too many logins from that source, or too many failed recently. */
    isBarred: false,
    /** Called when it failed with an error. */
    failed(error: unknown): void {
      hasFailed = isCallersFault(error);
      if (hasFailed) loginFailed();
    },
    /** Called when it has been answered. */
    end: () => begun.end(hasFailed),
  };
}

const CALLERS_FAULTS: ReadonlySet<ErrorKind | undefined> = new Set<ErrorKind>([
  'invalid',
  'denied',
  'not-found',
  'too-large',
  'unsupported',
]);

/** Whether a login failed because of the client; exceeding the queue counts as a failure. */
const isCallersFault = (error: unknown): boolean =>
  error instanceof Crowded || CALLERS_FAULTS.has(asCofferError(error)?.kind);
