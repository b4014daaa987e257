import { withoutLast } from './trim.ts';

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

/** Of the years 1 and 9999. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_000;

/**
 * RFC 3339, UTC, with milliseconds. A time beyond the years that can be written so is shown as the nearest that can:
 * documents of others, and of earlier releases, may hold any number.
 */
export const printTime = (epochMs: number): string =>
  new Date(Math.min(Math.max(epochMs, FIRST_MS), LAST_MS)).toISOString();

/**
 * A time in the form that Go writes and the Vault family shows: RFC 3339, UTC, fraction
 * without trailing zeros, none when it is zero (`2026-02-03T10:20:30.5Z`).
 */
export function printGoTime(epochMs: number): string {
  const digits = printTime(epochMs).slice(0, -1);
  return `${withoutLast(withoutLast(digits, '0'), '.')}Z`;
}

/** The longest duration that Go, and with it the peers' clients and backups, can hold in nanoseconds: some 292 years. */
export const MOST_SECONDS = 9_223_372_036;

/** A duration as they can hold it; earlier releases took longer ones. */
export const boundedSeconds = (seconds: number): number => Math.min(seconds, MOST_SECONDS);
