import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Watchdog } from '../../src/service/agent/watchdog.ts';

const HOUR = 3_600_000;

interface Shell extends EventEmitter {
  kill(signal: string): void;
  unref(): void;
}

let shells: { readonly shell: Shell; readonly told: readonly string[]; isKilled: boolean }[];
/** Of the clock that never goes back, in milliseconds. */
let now: number;
let failures: unknown[];
let dog: Watchdog;
beforeEach(() => {
  shells = [];
  failures = [];
  now = 0;
  dog = new Watchdog();
  vi.spyOn(process, 'uptime').mockImplementation(() => now / 1000);
  vi.spyOn(process.getBuiltinModule('node:child_process'), 'spawn').mockImplementation((_, told) => {
    const shell = Object.assign(new EventEmitter(), { kill: () => undefined, unref: () => undefined });
    const one = { shell, told: told as readonly string[], isKilled: false };
    shell.kill = () => {
      one.isKilled = true;
    };
    shells.push(one);
    return shell as unknown as ChildProcess;
  });
});

/** Watches for an end of use in so many milliseconds, long before the one in any case. */
const watch = (idleMs: number, slackMs = HOUR): void => {
  const latest = { wall: 100 * HOUR, leftMs: 100 * HOUR };
  dog.watch({ latest, idle: { wall: idleMs, leftMs: idleMs }, idleMs: slackMs }, (error) =>
    failures.push(error),
  );
};

describe('the shell of a watchdog', () => {
  it.each([
    ['as long as before', HOUR, 1],
    ['a millisecond less, which may be a matter of the clocks', HOUR - 1, 1],
    ['two milliseconds less', HOUR - 2, 2],
    ['half the time without use more', HOUR + HOUR / 2, 1],
    ['longer than that', HOUR + HOUR / 2 + 1, 2],
  ])('is started again or goes on for an end in %s', (_, idleMs, expected) => {
    watch(HOUR);
    watch(idleMs);
    expect(shells.map(({ isKilled }) => isKilled)).toEqual(expected === 1 ? [false] : [true, false]);
  });

  it('is started again for any later end once half the time without use is left to it', () => {
    watch(HOUR);
    now = HOUR + HOUR / 2;
    watch(-HOUR / 4);
    expect(shells).toHaveLength(1);
    now += 1;
    // The same end as before.
    watch(-HOUR / 2 - 1);
    expect(shells).toHaveLength(1);
    watch(-HOUR / 2);
    expect(shells.map(({ isKilled }) => isKilled)).toEqual([true, false]);
  });

  it('is told whom to kill, when by its own sleep, and when by the clock of the wall', () => {
    dog.watch(
      { latest: { wall: 5000, leftMs: 300 }, idle: { wall: HOUR, leftMs: HOUR }, idleMs: 0 },
      () => undefined,
    );
    expect(shells[0]?.told.slice(2)).toEqual(['coffer-watchdog', String(process.pid), '0.500', '1', '7']);
    const other = new Watchdog();
    other.watch(
      { latest: { wall: 9 * HOUR, leftMs: HOUR }, idle: { wall: 0, leftMs: 0 }, idleMs: 0 },
      () => undefined,
    );
    expect(shells[1]?.told.slice(4)).toEqual(['0.000', '60', '60']);
  });

  it('is not started again where it cannot be, which is said once', () => {
    watch(HOUR);
    const error = new Error('ENOENT');
    shells[0]?.shell.emit('error', error);
    watch(HOUR);
    expect(shells).toHaveLength(1);
    expect(failures).toEqual([error]);
  });

  it('is not started again where the system lacks what it runs', () => {
    watch(HOUR);
    shells[0]?.shell.emit('exit', 99);
    watch(HOUR);
    expect(shells).toHaveLength(1);
    expect(failures.map(String)).toEqual(['Error: the system has no suitable "sleep", "date" or "ps"']);
  });

  it.each([0, 1, 98, null])('is started again after it has ended with %j', (code) => {
    watch(HOUR);
    shells[0]?.shell.emit('exit', code);
    watch(HOUR);
    expect([shells.length, failures]).toEqual([2, []]);
  });

  it('says nothing of its end once another has taken its place, or it was stopped', () => {
    watch(HOUR);
    watch(1);
    shells[0]?.shell.emit('exit', 99);
    watch(1);
    dog.stop();
    shells[1]?.shell.emit('exit', 99);
    expect([shells.map(({ isKilled }) => isKilled), failures]).toEqual([[true, true], []]);
  });
});
