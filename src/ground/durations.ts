const SECONDS_PER: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
};

/** Parses seconds in Go's notation (`1h30m`), extended by days, or plain seconds; NaN for anything else. */
export function parseGoDuration(text: string): number {
  if (/^[+-]?\d+$/.test(text)) return Number(text);
  const sign = text.startsWith('-') ? -1 : 1;
  const body = text.replace(/^[+-]/, '');
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h|d)/gy;
  let seconds = 0;
  let end = 0;
  for (let match = part.exec(body); match !== null; match = part.exec(body)) {
    seconds += Number(match[1]) * (SECONDS_PER[match[2] ?? ''] ?? Number.NaN);
    end = part.lastIndex;
  }
  return end > 0 && end === body.length ? sign * seconds : Number.NaN;
}
