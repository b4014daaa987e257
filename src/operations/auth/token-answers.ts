import { issuedMs, type TokenRecord } from '../../access/token.ts';
import type { IssuedToken } from '../../access/tokens.ts';
import { boundedSeconds, printGoTime } from '../../ground/clock.ts';
import { type Outcome, warned } from '../declaration/operation.ts';

export type TokenDetails = ReturnType<typeof tokenDetails>;

/** Formats a token for `auth/token/lookup` and related operations; members are in Vault's alphabetical order. */
export function tokenDetails({ accessor, token }: TokenRecord, id: string, nowMs: number) {
  const { expiresMs: expires, renewedMs: renewed } = token;
  return {
    accessor,
    bound_cidrs: token.boundCidrs,
    /** In Unix seconds. */
    creation_time: token.createdMs / 1000,
    /** In seconds; 0 if it never expires. */
    creation_ttl: boundedSeconds(token.creationTtl),
    display_name: token.displayName,
    entity_id: '',
    expire_time: expires === undefined ? null : printGoTime(expires),
    explicit_max_ttl: boundedSeconds(token.explicitMaxTtl),
    /** Token text; empty if it was looked up by its accessor. */
    id,
    issue_time: expires === undefined ? undefined : printGoTime(issuedMs(token)),
    last_renewal: renewed === undefined ? undefined : printGoTime(renewed),
    last_renewal_time: renewed === undefined ? undefined : Math.floor(renewed / 1000),
    meta: token.meta,
    /** Remaining uses; 0 if unlimited, -1 if this was the last. */
    num_uses: token.usesLeft === 0 ? -1 : (token.usesLeft ?? 0),
    orphan: token.parent === undefined,
    path: token.path,
    period: token.period === 0 ? undefined : boundedSeconds(token.period),
    policies: token.policies,
    renewable: expires === undefined ? undefined : token.renewable,
    role: token.role,
    /** Whole seconds left, rounded like Vault; 0 if it never expires. */
    ttl: secondsLeft(expires, nowMs, Math.floor),
    type: token.kind ?? 'service',
  } as const;
}

const secondsLeft = (
  expiresMs: number | undefined,
  nowMs: number,
  whole: (seconds: number) => number,
): number =>
  expiresMs === undefined
    ? 0
    : Math.min(Math.max(0, whole((expiresMs - nowMs) / 1000)), Number.MAX_SAFE_INTEGER);

export type TokenAuth = ReturnType<typeof tokenAuth>;

/**
 * Formats the `auth` object of calls that issue or renew a token, in Vault's order.
 * @param nowMs moment that the time left is counted from: now, or that of a renewal; a new token has all of its time
 */
export function tokenAuth({ accessor, token }: TokenRecord, id: string, nowMs?: number) {
  return {
    /** The token itself; empty if the request named its accessor. */
    client_token: id,
    accessor,
    policies: token.policies,
    token_policies: token.policies.length > 0 ? token.policies : undefined,
    metadata: token.meta,
    /** Seconds from that moment; 0 if it never expires. */
    lease_duration:
      nowMs === undefined
        ? boundedSeconds(token.creationTtl)
        : secondsLeft(token.expiresMs, nowMs, Math.ceil),
    renewable: token.renewable,
    entity_id: '',
    token_type: token.kind ?? 'service',
    orphan: token.parent === undefined,
    mfa_requirement: null,
    num_uses: token.usesLeft ?? 0,
  } as const;
}

/** Formats the response of every login. */
export const loginAnswer = (issued: IssuedToken): Outcome<TokenAuth> => ({
  // Shown as of its creation, because clients compare the time with that of the role.
  auth: tokenAuth(issued, issued.text),
  issued,
  ...warned(issued.warnings),
});
