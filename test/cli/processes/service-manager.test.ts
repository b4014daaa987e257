import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { serviceManager } from '../../../src/cli/processes/service-manager.ts';

/** A notification that is on its way. */
class Notification extends EventEmitter {
  readonly unref = (): void => undefined;
}

const SOCKET = { PATH: '/usr/bin', NOTIFY_SOCKET: '/run/notify', COFFER_MASTER_KEY: 'secret' };
const WATCHED = { ...SOCKET, WATCHDOG_USEC: '30000000' };
/** A third of the time after which systemd ends a server that it has not heard of. */
const BEAT_MS = 10_000;

describe('the service manager', () => {
  let told: string[];
  let warnings: string[];
  let last: Notification;
  let environments: unknown[];

  beforeEach(() => {
    [told, warnings, environments] = [[], [], []];
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    vi.spyOn(process.getBuiltinModule('node:child_process'), 'spawn').mockImplementation(
      (program, words, { env }) => {
        told.push([program, ...words].join(' '));
        environments.push(env);
        last = new Notification();
        return last as unknown as ChildProcess;
      },
    );
  });

  const managerOf = (environment: Readonly<Record<string, string>>) =>
    serviceManager(environment, (text) => warnings.push(text));
  const beats = (): number => told.filter((line) => line === 'systemd-notify WATCHDOG=1').length;
  const arrives = (): boolean => last.emit('exit', 0);

  it('is told that the server is ready, three times within its limit that it lives, and that it ends', () => {
    const manager = managerOf(WATCHED);
    expect(told).toEqual([]);
    manager?.ready();
    arrives();
    for (let beat = 0; beat < 3; beat++) {
      vi.advanceTimersByTime(BEAT_MS);
      arrives();
    }
    manager?.stopping();
    arrives();
    vi.advanceTimersByTime(5 * BEAT_MS);
    expect(told).toEqual([
      'systemd-notify READY=1',
      ...Array.from({ length: 3 }, () => 'systemd-notify WATCHDOG=1'),
      'systemd-notify STOPPING=1',
    ]);
    expect(warnings).toEqual([]);
  });

  it.each<[string, (notification: Notification) => void, string]>([
    ['cannot be started', (it) => it.emit('error', new Error('spawn EAGAIN')), 'spawn EAGAIN'],
    ['fails', (it) => it.emit('exit', 1), 'systemd-notify exited with 1'],
    ['is killed', (it) => it.emit('exit', null, 'SIGKILL'), 'systemd-notify exited with null'],
  ])('is told at each beat that the server lives, also after a notification that %s', (_how, fail, why) => {
    managerOf(WATCHED)?.ready();
    fail(last);
    for (let beat = 1; beat <= 3; beat++) {
      vi.advanceTimersByTime(BEAT_MS);
      expect(beats()).toBe(beat);
      fail(last);
    }
    vi.advanceTimersByTime(BEAT_MS);
    arrives();
    vi.advanceTimersByTime(BEAT_MS);
    expect(beats()).toBe(5);
    // Once is enough: the reason is the same each time.
    expect(warnings).toEqual([`cannot notify the service manager: ${why}`]);
  });

  it('is not told again while a notification is on its way, and is at the next beat', () => {
    managerOf(WATCHED)?.ready();
    vi.advanceTimersByTime(3 * BEAT_MS);
    expect(beats()).toBe(0);
    arrives();
    vi.advanceTimersByTime(BEAT_MS);
    expect(beats()).toBe(1);
    vi.advanceTimersByTime(3 * BEAT_MS);
    expect(beats()).toBe(1);
    arrives();
    vi.advanceTimersByTime(BEAT_MS);
    expect(beats()).toBe(2);
  });

  it.each([
    ['there is no watchdog', SOCKET, 0],
    ['its limit is none', { ...SOCKET, WATCHDOG_USEC: '0' }, 0],
    ['its limit is no number', { ...SOCKET, WATCHDOG_USEC: 'soon' }, 0],
    ['the watchdog is meant for another process', { ...WATCHED, WATCHDOG_PID: `${process.pid + 1}` }, 0],
    ['the watchdog is meant for this process', { ...WATCHED, WATCHDOG_PID: `${process.pid}` }, 1],
  ])('is told that the server lives only if it waits for that: %s', (_what, environment, expected) => {
    managerOf(environment)?.ready();
    arrives();
    vi.advanceTimersByTime(BEAT_MS);
    expect(beats()).toBe(expected);
  });

  it('gets nothing of the environment but its socket and the path of programs, and is none without a socket', () => {
    managerOf(SOCKET)?.ready();
    expect(environments).toEqual([{ PATH: '/usr/bin', NOTIFY_SOCKET: '/run/notify' }]);
    expect(managerOf({ PATH: '/usr/bin', WATCHDOG_USEC: '30000000' })).toBeUndefined();
  });
});
