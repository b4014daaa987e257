import { describe, expect, it } from 'vitest';
import { lifetimeText } from '../../../src/cli/agent/times.ts';

const NOW = Date.parse('2026-11-27T10:00:00Z');
const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();
const status = (idle: number, end: number) => ({
  locked: false,
  idle_until: at(idle),
  until: at(end),
  uses: 0,
  pid: 1,
});

describe('the time that an agent keeps a store unlocked', () => {
  it('is given in whole minutes without use, and as a time of day at most', () => {
    expect(lifetimeText(status(14.2, 120), NOW)).toMatch(
      /^15 minutes more without use, at most until (?:\d{4}-\d\d-\d\d )?\d\d:\d\d$/,
    );
    expect(lifetimeText(status(0.1, 120), NOW)).toMatch(/^1 minute more without use, at most until /);
    expect(lifetimeText(status(90, 120), NOW)).toMatch(/^1 hour 30 minutes more without use, /);
  });

  it('is only the rest where use does not make it longer', () => {
    expect(lifetimeText(status(10, 10), NOW)).toBe('10 minutes more');
  });
});
