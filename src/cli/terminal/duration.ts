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
