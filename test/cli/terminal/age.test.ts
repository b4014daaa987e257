import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ageText, durationText } from '../../../src/cli/terminal/time-texts.ts';

const NOW = Date.parse('2026-11-26T12:00:00Z');

describe('the age of a time', () => {
  it.each([
    ['2026-11-26T11:59:30Z', 'just now'],
    ['2026-11-26T12:00:30Z', 'in less than a minute'],
    ['2026-11-26T11:59:00Z', '1 minute ago'],
    ['2026-11-26T09:00:01Z', '2 hours ago'],
    ['2026-11-26T09:00:00.000Z', '3 hours ago'],
    ['2026-11-25T12:00:00Z', '1 day ago'],
    ['2026-10-01T12:00:00Z', '1 month ago'],
    ['2024-11-01T12:00:00Z', '2 years ago'],
    ['2026-11-26T20:00:01Z', 'in 8 hours'],
    ['2027-12-26T12:00:00Z', 'in 1 year'],
  ])('of %s is "%s"', (time, text) => {
    expect(ageText(time, NOW)).toBe(text);
  });

  it('is that of the unit from its first millisecond on, and now is neither before nor after', () => {
    expect(ageText('2026-11-26T12:00:00Z', NOW)).toBe('just now');
    expect(ageText('1970-01-01T00:00:00Z', 0)).toBe('just now');
    expect(ageText('1969-12-31T23:59:59.999Z', 0)).toBe('1969-12-31T23:59:59.999Z');
    expect(ageText('2026-11-26T12:00:59.999Z', NOW)).toBe('in less than a minute');
    expect(ageText('2026-11-26T12:01:00Z', NOW)).toBe('in 1 minute');
    expect(ageText('2026-11-26T11:00:00.001Z', NOW)).toBe('59 minutes ago');
    expect(ageText('2026-11-26T11:00:00Z', NOW)).toBe('1 hour ago');
  });

  it('is the time itself if it is before 1970 or cannot be read', () => {
    expect(ageText('0001-01-01T00:00:00Z', NOW)).toBe('0001-01-01T00:00:00Z');
    expect(ageText('soon', NOW)).toBe('soon');
  });

  it('is never longer than 21 characters', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }), (date) => {
        expect(ageText(date.toISOString(), NOW).length).toBeLessThanOrEqual(21);
      }),
    );
  });
});

it.each([
  [0, '0 seconds'],
  [499, '0 seconds'],
  [500, '1 second'],
  [59_499, '59 seconds'],
  [59_500, '1 minute'],
  [90_000, '1 minute 30 seconds'],
  [3_600_000, '1 hour'],
  [90_061_000, '1 day 1 hour 1 minute 1 second'],
  [172_800_000, '2 days'],
])('a duration of %i milliseconds is %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
