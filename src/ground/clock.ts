import { withoutLast } from './trim.ts';

/** Source of the time; replaced in tests. */
export interface Clock {
  /** Returns milliseconds since the Unix epoch, UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/**
 * Monotonic clock: milliseconds since the process began. Equivalent to `performance.now()`, whose module takes longer
 * to load than most commands take to do their work.
 */
export const elapsedMs = (): number => process.uptime() * 1000;

/** Range of the years 1 to 9999, in milliseconds. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_000;

/**
 * Formats a time: RFC 3339, UTC, with milliseconds. A time outside of the representable years is clamped: foreign
 * documents, and those of earlier releases, may contain any number.
 */
export const printTime = (epochMs: number): string =>
  new Date(Math.min(Math.max(epochMs, FIRST_MS), LAST_MS)).toISOString();

/**
 * Formats a time like Go and Vault: RFC 3339, UTC, fraction without trailing zeros, none if it is zero
 * (`2026-02-03T10:20:30.5Z`).
 */
export function printGoTime(epochMs: number): string {
  const digits = printTime(epochMs).slice(0, -1);
  return `${withoutLast(withoutLast(digits, '0'), '.')}Z`;
}

/** Longest duration that Go, and with it Vault's clients and backups, can represent in nanoseconds: some 292 years. */
export const MOST_SECONDS = 9_223_372_036;

/** Clamps a duration to that; earlier releases accepted longer ones. */
export const boundedSeconds = (seconds: number): number => Math.min(seconds, MOST_SECONDS);
