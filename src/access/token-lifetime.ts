import { invalid } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';

/** Default TTL, and maximum TTL of tokens without a period: 32 days. */
const DEFAULT_TTL_SECONDS = 2_764_800;
export const MAX_TTL_SECONDS = 2_764_800;

/** All in seconds; 0 means "not given". */
interface LifetimeRequest {
  /** Time since the token was created. */
  readonly age: number;
  /** TTL requested by this creation or renewal. */
  readonly wanted: number;
  /** TTL requested when the token was created. */
  readonly ttl: number;
  readonly period: number;
  readonly explicitMaxTtl: number;
  /** Maximum TTL of a login method's mount and role, instead of the server's. */
  readonly maxTtl?: number;
}

/**
 * Computes the TTL of a token from now on. Each renewal of a periodic token grants its full period, limited only by an
 * explicit maximum; any other token is limited by its maximum counted from its creation. (Rules and messages of Vault
 * and OpenBao.)
 *
 * @throws `invalid` if the maximum is already reached
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

/** Prints `1h30m`, without parts that are zero. */
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
