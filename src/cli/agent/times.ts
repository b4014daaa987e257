import { parseGoDuration } from '../../ground/durations.ts';
import { invalid } from '../../ground/errors.ts';
import type { AgentStatus, UnlockTimes } from '../../service/agent/calls.ts';
import { type OptionSpec, taking } from '../command.ts';
import { type Given, textOption } from '../given.ts';
import { durationText, localTime } from '../terminal/time-texts.ts';

const SECOND_MS = 1000;
const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;
const DAY_S = 24 * HOUR_S;
const MOST_S = 30 * DAY_S;

/** Default times: long enough for a coffee break, and for a working day. */
export const DEFAULT_TIMES: UnlockTimes = {
  idleMs: 15 * MINUTE_S * SECOND_MS,
  forMs: 8 * HOUR_S * SECOND_MS,
};

const FOR = 'for';
const IDLE = 'idle';

export const timeOptions: readonly OptionSpec[] = [
  taking(IDLE, 'D', 'Lock after this long without use, e.g. 15m.', { fallback: '15m' }),
  taking(FOR, 'D', 'Lock after this long in any case, e.g. 8h; at most 30d.', { fallback: '8h' }),
];

/**
 * Returns the times that the options give.
 * @throws `invalid` if a duration is malformed
 */
export const timesOf = (given: Given['options']): UnlockTimes => ({
  idleMs: msOf(given, IDLE) ?? Math.min(DEFAULT_TIMES.idleMs, msOf(given, FOR) ?? DEFAULT_TIMES.idleMs),
  forMs: msOf(given, FOR) ?? Math.max(DEFAULT_TIMES.forMs, msOf(given, IDLE) ?? 0),
});

export const areTimesGiven = (given: Given['options']): boolean => given.has(FOR) || given.has(IDLE);

function msOf(given: Given['options'], flag: string): number | undefined {
  const text = textOption(given, flag);
  if (text === undefined) return undefined;
  const seconds = Math.trunc(parseGoDuration(text));
  if (seconds >= 1 && seconds <= MOST_S) return seconds * SECOND_MS;
  throw invalid(`invalid value "${text}"`, {
    field: `--${flag}`,
    hint: 'use a duration from 1s to 30d, e.g. 15m or 1h30m',
  });
}

/**
 * Formats the time at which the agent locks at the latest, in local time: `17:30`, or with the date if it is another
 * day.
 */
export function untilText({ until = '' }: AgentStatus): string {
  const end = new Date(until);
  const [date, time = ''] = localTime(end).slice(0, -':00'.length).split(' ');
  return end.toDateString() === new Date().toDateString() ? time : `${date} ${time}`;
}

/**
 * Formats how long the agent keeps the store unlocked, with a time in the local time zone: `15 minutes more without
 * use, at most until 17:30`.
 */
export function lifetimeText(status: AgentStatus, nowMs = Date.now()): string {
  const { idle_until: idle = '', until = '' } = status;
  const minutes = Math.ceil((Date.parse(idle) - nowMs) / (MINUTE_S * SECOND_MS));
  const length = durationText(Math.max(minutes, 1) * MINUTE_S * SECOND_MS);
  return idle < until ? `${length} more without use, at most until ${untilText(status)}` : `${length} more`;
}
