import { describe, expect, it } from 'vitest';
import { canonicalGoTime, GO_ZERO_TIME, unixSecondsOf } from '../../../src/transit/backup/go-time.ts';

describe('times as Go reads and writes them', () => {
  it.each([
    ['2026-02-03T10:20:30.123456789Z', '2026-02-03T10:20:30.123456789Z'],
    ['2026-02-03T10:20:30.120000000Z', '2026-02-03T10:20:30.12Z'],
    ['2026-02-03T10:20:30.000Z', '2026-02-03T10:20:30Z'],
    ['2026-02-03T10:20:30.1234567899Z', '2026-02-03T10:20:30.123456789Z'],
    ['2026-02-03T10:20:30+01:30', '2026-02-03T10:20:30+01:30'],
    ['2026-02-03T10:20:30+00:00', '2026-02-03T10:20:30Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
    [GO_ZERO_TIME, '0001-01-01T00:00:00Z'],
  ])('reads %s as %s', (text, canonical) => {
    expect(canonicalGoTime(text)).toBe(canonical);
  });

  it.each([
    '',
    '2026-02-03',
    '2026-02-03 10:20:30Z',
    '2026-02-03T10:20:30',
    '2026-02-03t10:20:30z',
    '2026-02-30T10:20:30Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-02-03T24:00:00Z',
    '2026-02-03T10:60:30Z',
    '2026-02-03T10:20:60Z',
    '2026-02-03T10:20:30.Z',
    '2026-02-03T10:20:30,5Z',
    '2026-02-03T10:20:30+24:00',
    '2026-02-03T10:20:30+0130',
    '12026-02-03T10:20:30Z',
    '-0026-02-03T10:20:30Z',
  ])('refuses the text %j', (text) => {
    expect(canonicalGoTime(text)).toBeUndefined();
  });

  it('counts whole seconds since the epoch, zones considered', () => {
    expect(unixSecondsOf('2026-02-03T10:20:30.999999999Z')).toBe(1_770_114_030);
    expect(unixSecondsOf('2026-02-03T11:50:30+01:30')).toBe(1_770_114_030);
    expect(unixSecondsOf(GO_ZERO_TIME)).toBe(-62_135_596_800);
  });
});
