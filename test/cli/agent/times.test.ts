import { describe, expect, it } from 'vitest';
import { timesOf } from '../../../src/cli/agent/times.ts';
import { refusal } from '../../refusal.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const times = (options: Readonly<Record<string, string>>) => timesOf(new Map(Object.entries(options)));

describe('how long an agent stays unlocked', () => {
  it.each([
    [{ idle: '1s' }, 1000],
    [{ idle: '30d' }, 30 * DAY],
    [{ idle: '1h30m' }, 1.5 * HOUR],
  ])('may be %j', (options, idleMs) => {
    expect(times(options).idleMs).toBe(idleMs);
  });

  it.each(['0', '0s', '999ms', '-1h', '30d1s', '31d', ''])('is not %j', (text) => {
    for (const flag of ['idle', 'for'])
      expect(refusal(() => times({ [flag]: text }))).toMatchObject({ kind: 'invalid' });
  });

  it('is in all no shorter than while idle, and while idle no longer than in all', () => {
    const usual = times({});
    expect(usual.idleMs).toBeLessThan(usual.forMs);
    expect(times({ idle: '20d' })).toEqual({ idleMs: 20 * DAY, forMs: 20 * DAY });
    expect(times({ for: '1s' })).toEqual({ idleMs: 1000, forMs: 1000 });
    expect(times({ idle: '2h', for: '1h' })).toEqual({ idleMs: 2 * HOUR, forMs: HOUR });
  });
});
