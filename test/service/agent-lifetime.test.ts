import { describe, expect, it } from 'vitest';
import { Lifetime } from '../../src/service/agent/lifetime.ts';

const MINUTE = 60_000;

/** Clocks that a test turns. */
function clocks() {
  const at = { wall: 1_800_000_000_000, steady: 5000 };
  return {
    at,
    pass(ms: number): void {
      at.wall += ms;
      at.steady += ms;
    },
    wall: () => at.wall,
    steady: () => at.steady,
  };
}

describe('the time for which a store stays unlocked', () => {
  const times = { idleMs: 15 * MINUTE, forMs: 60 * MINUTE };

  it('begins anew with each use, up to its end in any case', () => {
    const now = clocks();
    const lifetime = new Lifetime(times, now);
    for (let use = 0; use < 5; use++) {
      now.pass(10 * MINUTE);
      expect(lifetime.leftMs).toBe(5 * MINUTE);
      lifetime.use();
    }
    expect(lifetime.leftMs).toBe(10 * MINUTE);
    now.pass(10 * MINUTE);
    lifetime.use();
    expect(lifetime.leftMs).toBe(0);
  });

  it('is over after as long without use', () => {
    const now = clocks();
    const lifetime = new Lifetime(times, now);
    now.pass(15 * MINUTE);
    expect(lifetime.leftMs).toBe(0);
  });

  it('goes on while the machine sleeps, when only the clock of the wall does', () => {
    const now = clocks();
    const lifetime = new Lifetime(times, now);
    now.at.wall += 8 * 60 * MINUTE;
    expect(lifetime.leftMs).toBeLessThan(0);
  });

  it.each([
    ['without use', 'wall', { idleMs: 15 * MINUTE, forMs: 600 * MINUTE }],
    ['without use', 'steady', { idleMs: 15 * MINUTE, forMs: 600 * MINUTE }],
    ['in any case', 'wall', { idleMs: 600 * MINUTE, forMs: 15 * MINUTE }],
    ['in any case', 'steady', { idleMs: 600 * MINUTE, forMs: 15 * MINUTE }],
  ] as const)('%s is measured by the %s clock, also when the other one stands still', (_, clock, limits) => {
    const now = clocks();
    const lifetime = new Lifetime(limits, now);
    now.at[clock] += 14 * MINUTE;
    expect(lifetime.leftMs).toBe(MINUTE);
    now.at[clock] += 2 * MINUTE;
    expect(lifetime.leftMs).toBe(-MINUTE);
  });

  it('is not longer for a clock that was set back', () => {
    const now = clocks();
    const lifetime = new Lifetime(times, now);
    now.at.wall -= 24 * 60 * MINUTE;
    now.at.steady += 15 * MINUTE;
    expect(lifetime.leftMs).toBe(0);
  });

  it('is told as moments: without use never later than in any case', () => {
    const now = clocks();
    const lifetime = new Lifetime({ idleMs: 15 * MINUTE, forMs: 20 * MINUTE }, now);
    const start = now.at.wall;
    expect(lifetime.until).toEqual({ idle: start + 15 * MINUTE, latest: start + 20 * MINUTE });
    now.pass(10 * MINUTE);
    lifetime.use();
    expect(lifetime.until).toEqual({ idle: start + 20 * MINUTE, latest: start + 20 * MINUTE });
  });

  it('has its ends on both clocks', () => {
    const now = clocks();
    const lifetime = new Lifetime({ idleMs: 15 * MINUTE, forMs: 20 * MINUTE }, now);
    const start = now.at.wall;
    now.pass(10 * MINUTE);
    const latest = { wall: start + 20 * MINUTE, leftMs: 10 * MINUTE };
    const idle = { wall: start + 15 * MINUTE, leftMs: 5 * MINUTE };
    expect(lifetime.ends).toEqual({ latest, idle, idleMs: 15 * MINUTE });
    lifetime.use();
    expect(lifetime.ends.idle).toEqual({ wall: start + 25 * MINUTE, leftMs: 15 * MINUTE });
  });
});
