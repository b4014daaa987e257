/** How Go writes a `time.Time` that was never set. */
export const GO_ZERO_TIME = '0001-01-01T00:00:00Z';

const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Reads a time as Go's `time.Time` takes it from JSON: RFC 3339 with a zone, nanoseconds at most.
 * @returns the text as Go would write it again (same zone, no trailing zeros in the fraction); undefined when it is none.
 */
export function canonicalGoTime(text: string): string | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = '', zone = ''] =
    match;
  const calendar = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const parsed = new Date(`${calendar}Z`);
  // Date carries what is out of range over into the next unit; then the text no longer agrees.
  if (Number.isNaN(parsed.getTime()) || !parsed.toISOString().startsWith(calendar)) return undefined;
  const nanoseconds = fraction.slice(0, 9).replace(/0+$/, '');
  const canonicalZone = zone === '+00:00' || zone === '-00:00' ? 'Z' : zone;
  return calendar + (nanoseconds === '' ? '' : `.${nanoseconds}`) + canonicalZone;
}

/** Whole seconds since the Unix epoch of a canonical time; negative before 1970. */
export const unixSecondsOf = (canonical: string): number =>
  Math.floor(Date.parse(canonical.replace(/\.\d+/, '')) / 1000);
