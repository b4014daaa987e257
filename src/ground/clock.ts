/** Where the time comes from; tests hand in their own. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/**
 * Milliseconds since the process began, whatever is done to the machine's clock. As `performance.now()`, whose module takes
 * longer to load than most commands to do their work.
 */
export const elapsedMs = (): number => process.uptime() * 1000;

/**
 * A time in the form that Go writes and the Vault family shows: RFC 3339, UTC, fraction
 * without trailing zeros, none when it is zero (`2026-02-03T10:20:30.5Z`).
 */
export function printGoTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/\.?0*Z$/, 'Z');
}
