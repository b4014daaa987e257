import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Pace } from '../../src/ground/pace.ts';

describe('a pace', () => {
  let now = 0;
  beforeEach(() => {
    now = 1000;
    vi.spyOn(process, 'uptime').mockImplementation(() => now / 1000);
  });
  afterEach(() => vi.restoreAllMocks());

  /** Rounds until a pause is due, each taking so long. */
  function roundsUntilDue(pace: Pace, milliseconds: number): number {
    for (let rounds = 1; rounds < 100_000; rounds++) {
      now += milliseconds;
      if (pace.isDue()) return rounds;
    }
    throw new Error('a pause never became due');
  }

  it('calls for a pause after 15 ms, however long a round is', () => {
    expect(roundsUntilDue(new Pace(), 200)).toBe(1);
    expect(roundsUntilDue(new Pace(), 8)).toBe(2);
    expect(roundsUntilDue(new Pace(), 0.01)).toBeLessThanOrEqual(1500 + 16);
  });

  it('notices slow rounds after quick ones within 16', () => {
    const pace = new Pace();
    for (let round = 0; round < 1000; round++) pace.isDue();
    expect(roundsUntilDue(pace, 20)).toBeLessThanOrEqual(16);
  });

  it('lets others have their turn, and then starts anew', async () => {
    const pace = new Pace();
    let others = 0;
    setImmediate(() => others++);
    now += 20;
    await pace.step();
    expect(others).toBe(1);
    now += 1;
    expect(pace.isDue()).toBe(false);
  });

  it('goes on at once when it is not time yet', async () => {
    const pace = new Pace();
    let others = 0;
    setImmediate(() => others++);
    await pace.step();
    expect(others).toBe(0);
  });
});
