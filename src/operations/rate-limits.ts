import type { Admission } from '../access/quotas/quotas.ts';
import type { Rated } from '../access/quotas/rates.ts';
import type { AskedRequest, Door, GuardedCore, Result } from './asked-request.ts';
import { loginMountOf } from './login-limits.ts';
import { performAdmitted, recordRefusal } from './perform.ts';

/**
 * Answers a request within the limits that there are for its rate: before anybody looks who asks, so that strangers are counted,
 * and before anything of its body is read.
 * @see docs/decisions/0187
 */
export async function perform<A>(guarded: GuardedCore, asked: AskedRequest, door: Door<A>): Promise<A> {
  if (asked.byOwner) return performAdmitted(guarded, asked, door);
  let admission: Admission | undefined;
  try {
    const { revision, remoteAddress } = asked;
    admission = await guarded.access.quotas.admit({
      revision,
      paths: () => pathsOf(guarded, asked),
      remoteAddress,
      loginMount: loginMountOf(asked)?.path,
    });
  } catch (error) {
    return door.failed(error, undefined).answer;
  }
  if (admission === undefined) return performAdmitted(guarded, asked, door);
  const { config, rated, byRole } = admission;
  let last = rated;
  const told = (answer: A): A =>
    config.enable_rate_limit_response_headers && last !== undefined && door.told !== undefined
      ? door.told(answer, headersOf(last))
      : answer;
  const refusal = (by: Rated): Result<A> =>
    door.tooOften?.(Math.max(1, by.resetsIn)) ?? door.unauthenticated();
  if (rated?.isAllowed === false) {
    const refused = refusal(rated);
    const failure = config.enable_rate_limit_audit_logging
      ? await recordRefusal(guarded, asked, door, refused)
      : undefined;
    return failure ?? told(refused.answer);
  }
  if (byRole === undefined) return told(await performAdmitted(guarded, asked, door));
  const answer = await performAdmitted(guarded, asked, door, (role) => {
    last = byRole(role);
    return last?.isAllowed === false ? refusal(last) : undefined;
  });
  return told(answer);
}

/** The path as it was sent, and as policies know it: what an identifier leads to counts for its organization, too. */
async function pathsOf({ core }: GuardedCore, asked: AskedRequest): Promise<readonly string[]> {
  const { paths } = await asked.policyPaths(core);
  return [...new Set([asked.path, ...paths.map((path) => asked.policyPrefix + path)])];
}

const headersOf = ({ limit, left, resetsIn }: Rated): Readonly<Record<string, string>> => ({
  'X-Ratelimit-Limit': String(limit),
  'X-Ratelimit-Remaining': String(left),
  'X-Ratelimit-Reset': String(resetsIn),
});
