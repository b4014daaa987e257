const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Length of the Gregorian year on average. */
const YEAR = 365.2425 * DAY;
const MONTH = YEAR / 12;

/** Units from the longest to the shortest, in milliseconds. */
const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['year', YEAR],
  ['month', MONTH],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
];

/**
 * Formats a time by its distance from now, in whole units rounded down: `just now`, `3 hours ago`, `in 2 days`.
 * @param time RFC 3339; returned as it is if it cannot be parsed or is before 1970, as Go's zero time is
 * @param nowMs milliseconds since the Unix epoch
 */
export function ageText(time: string, nowMs: number): string {
  const ms = Date.parse(time);
  if (Number.isNaN(ms) || ms < 0) return time;
  const distance = Math.abs(nowMs - ms);
  const [name, unit] = UNITS.find(([, length]) => distance >= length) ?? [];
  if (name === undefined || unit === undefined) return ms > nowMs ? 'in less than a minute' : 'just now';
  const count = Math.floor(distance / unit);
  const text = `${count} ${name}${count === 1 ? '' : 's'}`;
  return ms > nowMs ? `in ${text}` : `${text} ago`;
}

/** Formats a time of the local time zone: `2026-11-27 08:18:06`. */
export function localTime(at: Date): string {
  const two = (part: number): string => String(part).padStart(2, '0');
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${date} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
}

const SECOND_MS = 1000;
/** Units of a duration, in seconds. */
const LENGTHS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

/** Formats a duration, e.g. `15 minutes`, `1 hour 30 minutes`. */
export function durationText(ms: number): string {
  let left = Math.round(ms / SECOND_MS);
  const parts: string[] = [];
  for (const [seconds, unit] of LENGTHS) {
    const count = Math.floor(left / seconds);
    left -= count * seconds;
    if (count > 0) parts.push(`${count} ${unit}${count === 1 ? '' : 's'}`);
  }
  return parts.join(' ') || '0 seconds';
}
