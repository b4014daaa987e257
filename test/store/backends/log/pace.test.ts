import { describe, expect, it } from 'vitest';
import { elapsedMs } from '../../../../src/ground/clock.ts';
import { pause } from '../../../../src/ground/pause.ts';
import { Pace } from '../../../../src/store/backends/files/log/pace.ts';

const half = (): number => 0.5;
const NEVER = Number.POSITIVE_INFINITY;

describe('the pace of the newest file of the log', () => {
  it('is free while no file is being moved, and at its beginning', async () => {
    const pace = new Pace();
    await pace.keep(half, NEVER);
    pace.advance(0);
    await pace.keep(() => 0.05, NEVER);
    pace.advance(undefined);
    await pace.keep(half, NEVER);
  });

  it('is that of the oldest file, as long as that is being moved', async () => {
    const pace = new Pace();
    pace.advance(0);
    const events: string[] = [];
    const kept = pace.keep(half, NEVER).then(() => events.push('kept'));
    await new Promise(setImmediate);
    events.push('moved');
    pace.advance(0.6);
    await kept;
    expect(events).toEqual(['moved', 'kept']);
    const left = pace.keep(() => 1.5, NEVER);
    pace.advance(undefined);
    await left;
  });

  it('is taken to go on as fast as before between two steps, but not for long', async () => {
    const pace = new Pace();
    pace.advance(0);
    await pause(20);
    pace.advance(0.25);
    await pace.keep(() => 0.7, NEVER);
    const end = elapsedMs() + 200;
    await pace.keep(() => 0.8, end);
    expect(elapsedMs()).toBeGreaterThanOrEqual(end);
  });

  it('is not waited for any longer than for anything else', async () => {
    const pace = new Pace();
    pace.advance(0);
    await pace.keep(half, elapsedMs() + 1);
  });
});
