import type { TokenRecord } from '../../access/token.ts';
import { printGoTime } from '../../ground/clock.ts';

/** What `auth/token/lookup` and its kin tell of a token; members in the alphabetical order of peers. */
export interface TokenDetails {
  readonly accessor: string;
  /** Unix seconds. */
  readonly creation_time: number;
  /** Seconds; 0 when it never expires. */
  readonly creation_ttl: number;
  readonly display_name: string;
  readonly entity_id: '';
  readonly expire_time: string | null;
  readonly explicit_max_ttl: number;
  /** The token itself; empty when it was looked up by its accessor. */
  readonly id: string;
  readonly issue_time?: string;
  readonly last_renewal?: string;
  readonly last_renewal_time?: number;
  readonly meta: Readonly<Record<string, string>> | null;
  /** Requests left; 0 when they are not counted, -1 when this was the last. */
  readonly num_uses: number;
  readonly orphan: boolean;
  readonly path: string;
  readonly period?: number;
  readonly policies: readonly string[];
  readonly renewable?: boolean;
  /** Seconds left; 0 when it never expires. */
  readonly ttl: number;
  readonly type: 'service';
}

export function tokenDetails({ accessor, token }: TokenRecord, id: string, nowMs: number): TokenDetails {
  const expires = token.expiresMs;
  return {
    accessor,
    creation_time: token.createdMs / 1000,
    creation_ttl: token.creationTtl,
    display_name: token.displayName,
    entity_id: '',
    expire_time: expires === undefined ? null : printGoTime(expires),
    explicit_max_ttl: token.explicitMaxTtl,
    id,
    ...(expires === undefined ? {} : { issue_time: printGoTime(token.createdMs) }),
    ...renewalOf(token.renewedMs),
    meta: token.meta,
    num_uses: token.usesLeft === 0 ? -1 : (token.usesLeft ?? 0),
    orphan: token.parent === undefined,
    path: token.path,
    ...(token.period === 0 ? {} : { period: token.period }),
    policies: token.policies,
    ...(expires === undefined ? {} : { renewable: token.renewable }),
    ttl: secondsLeft(expires, nowMs),
    type: 'service',
  };
}

function renewalOf(renewedMs: number | undefined): { last_renewal?: string; last_renewal_time?: number } {
  if (renewedMs === undefined) return {};
  return { last_renewal: printGoTime(renewedMs), last_renewal_time: Math.floor(renewedMs / 1000) };
}

const secondsLeft = (expiresMs: number | undefined, nowMs: number): number =>
  expiresMs === undefined ? 0 : Math.max(0, Math.ceil((expiresMs - nowMs) / 1000));

export type TokenAuth = ReturnType<typeof tokenAuth>;

/** The `auth` object of calls that issue or renew a token, in the order of peers. */
export function tokenAuth({ accessor, token }: TokenRecord, id: string, nowMs: number) {
  return {
    /** Empty when the token was named by its accessor. */
    client_token: id,
    accessor,
    policies: token.policies,
    token_policies: token.policies,
    metadata: token.meta,
    /** Seconds from now; 0 when it never expires. */
    lease_duration: secondsLeft(token.expiresMs, nowMs),
    renewable: token.renewable,
    entity_id: '',
    token_type: 'service',
    orphan: token.parent === undefined,
    mfa_requirement: null,
    num_uses: token.usesLeft ?? 0,
  } as const;
}
