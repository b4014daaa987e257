import { invalid } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';

/** What a token gets that asks for nothing, and what no token can exceed without renewal of a period: 32 days. */
export const DEFAULT_TTL_SECONDS = 2_764_800;
export const MAX_TTL_SECONDS = 2_764_800;

/** All in seconds; 0 stands for "not given". */
export interface LifetimeRequest {
  /** Since the token was created. */
  readonly age: number;
  /** What this creation or renewal asks for. */
  readonly wanted: number;
  /** What the token asked for when it was created. */
  readonly ttl: number;
  readonly period: number;
  readonly explicitMaxTtl: number;
  /** What a login method's mount and role allow at most, in place of what the server does. */
  readonly maxTtl?: number;
}

/**
 * How many seconds a token lives from now on. A periodic token lives for its period again each time, without end but
 * for an explicit maximum; any other never past its maximum counted from its creation. (The rules and texts of Vault
 * and OpenBao.)
 *
 * @throws `invalid` when the maximum is reached already.
 */
export function grantLifetime(request: LifetimeRequest): { ttl: number; warnings: readonly string[] } {
  const warnings: string[] = [];
  const longest = request.maxTtl ?? MAX_TTL_SECONDS;
  const limit = request.explicitMaxTtl > 0 ? Math.min(request.explicitMaxTtl, longest) : longest;
  const periodic = request.period > 0;
  let ttl = periodic ? request.period : request.wanted || request.ttl || DEFAULT_TTL_SECONDS;
  if (periodic && ttl > limit) {
    warnings.push(
      `period of "${printSeconds(ttl)}" exceeded the effective max_ttl of "${printSeconds(limit)}"; period value is capped accordingly`,
    );
    ttl = limit;
  }
  const end = periodic ? request.explicitMaxTtl : limit;
  if (end === 0) return { ttl, warnings };
  const left = end - request.age;
  if (left <= 0) throw invalid(ownWords('past the max TTL, cannot renew'));
  if (ttl > left) {
    warnings.push(
      `TTL of "${printSeconds(ttl)}" exceeded the effective max_ttl of "${printSeconds(left)}"; TTL value is capped accordingly`,
    );
    ttl = left;
  }
  return { ttl, warnings };
}

/** `1h30m`, without parts that are zero. */
export function printSeconds(seconds: number): string {
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'm'],
    [seconds % 60, 's'],
  ];
  return (
    parts
      .filter(([count]) => count > 0)
      .map(([count, unit]) => `${count}${unit}`)
      .join('') || '0s'
  );
}
