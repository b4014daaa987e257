import {
  existsSync,
  readdirSync,
  readlinkSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { elapsedMs } from '../../../src/ground/clock.ts';
import { FileLock } from '../../../src/store/backends/files/file-lock.ts';
import { temporaryDirectory } from '../temporary-store.ts';

const nextFile = (): string => join(temporaryDirectory(), 'lock');

/** Whether this process has a file open. */
const isOpenHere = (path: string): boolean =>
  readdirSync('/proc/self/fd').some((number) => {
    try {
      return readlinkSync(`/proc/self/fd/${number}`) === path;
    } catch {
      return false;
    }
  });

describe('the lock of a file', () => {
  it('is taken again and again, and is free in between', async () => {
    const path = nextFile();
    const [mine, other] = [new FileLock(path, 0), new FileLock(path, 0)];
    for (let i = 0; i < 3; i++) {
      expect(await mine.hold(async () => other.tryHold(async () => 'in'))).toBeUndefined();
      expect(await other.hold(async () => mine.tryHold(async () => 'in'))).toBeUndefined();
      expect(await mine.tryHold(async () => 'in')).toEqual({ value: 'in' });
    }
    for (const lock of [mine, other]) lock.close();
  });

  it('is tried without waiting while this process holds it, or waits for it', async () => {
    const lock = new FileLock(nextFile(), 10_000);
    await lock.hold(async () => {
      expect(await lock.tryHold(async () => 'in')).toBeUndefined();
    });
    expect(await lock.tryHold(async () => 'in')).toEqual({ value: 'in' });
    lock.close();
  });

  it('is waited for as part of a longer wait, which a refusal tells', async () => {
    const path = nextFile();
    const [mine, other] = [new FileLock(path, 0), new FileLock(path, 0)];
    const late = /^timed out after 7s waiting for /;
    await mine.hold(async () => {
      for (const lock of [mine, other])
        await expect(lock.hold(async () => 'in', 7000, elapsedMs() - 6900)).rejects.toThrow(late);
    });
    expect(await other.hold(async () => 'in', 7000, elapsedMs() - 9000)).toBe('in');
    for (const lock of [mine, other]) lock.close();
  });

  it('stays with its holder when another one of the same process has waited for it in vain', async () => {
    const path = nextFile();
    const [lock, other] = [new FileLock(path, 10_000), new FileLock(path, 0)];
    const work = Promise.withResolvers<string>();
    const holding = lock.hold(() => work.promise);
    await expect(lock.hold(async () => 'in', 1)).rejects.toThrow(/^timed out after /);
    expect(await lock.tryHold(async () => 'in')).toBeUndefined();
    const order: string[] = [];
    const next = lock.hold(async () => order.push('next'));
    expect(await other.tryHold(async () => 'in')).toBeUndefined();
    order.push('holder');
    work.resolve('done');
    expect(await holding).toBe('done');
    await next;
    expect(order).toEqual(['holder', 'next']);
    expect(await lock.tryHold(async () => 'in')).toEqual({ value: 'in' });
    for (const each of [lock, other]) each.close();
  });

  it('is free again when what was done under it has failed', async () => {
    const lock = new FileLock(nextFile(), 0);
    const failing = async () => Promise.reject(new Error('on purpose'));
    await expect(lock.hold(failing)).rejects.toThrow('on purpose');
    await expect(lock.tryHold(failing)).rejects.toThrow('on purpose');
    expect(await lock.hold(async () => 'in')).toBe('in');
    lock.close();
  });

  it('excludes others where the file was replaced since, as when a copy was put in its place', async () => {
    const path = nextFile();
    const mine = new FileLock(path, 0);
    await mine.hold(async () => undefined);
    writeFileSync(`${path}.copy`, '', { mode: 0o600 });
    renameSync(`${path}.copy`, path);
    await FileLock.holdOnce(path, 0, async () => {
      expect(await mine.tryHold(async () => 'in')).toBeUndefined();
    });
    await mine.hold(async () => {
      await expect(FileLock.holdOnce(path, 0, async () => 'in')).rejects.toMatchObject({
        kind: 'unavailable',
      });
    });
    mine.close();
  });

  it.runIf(process.platform === 'linux')('does not keep the file open while nobody takes it', async () => {
    const path = nextFile();
    const lock = new FileLock(path, 0);
    for (let i = 0; i < 2; i++) {
      await lock.hold(async () => expect(isOpenHere(path)).toBe(true));
      await vi.waitUntil(() => !isOpenHere(path), { timeout: 20_000 });
    }
  });

  it.runIf(process.platform === 'linux')('does not keep the file open that another holder had', async () => {
    const path = nextFile();
    const lock = new FileLock(path, 0);
    await FileLock.holdOnce(path, 0, async () => {
      expect(await lock.tryHold(async () => 'in')).toBeUndefined();
    });
    await vi.waitUntil(() => !isOpenHere(path), { timeout: 20_000 });
  });

  it('is closed only once nobody holds it, and can be taken after that', async () => {
    const path = nextFile();
    const lock = new FileLock(path, 0);
    await lock.hold(async () => {
      lock.close();
      await expect(FileLock.holdOnce(path, 0, async () => 'in')).rejects.toMatchObject({
        kind: 'unavailable',
      });
    });
    expect(await FileLock.holdOnce(path, 0, async () => 'in')).toBe('in');
    expect(await lock.hold(async () => 'in')).toBe('in');
    lock.close();
  });

  it('tells by the time of the file since when it is held, and leaves nothing beside it', async () => {
    const path = nextFile();
    const lock = new FileLock(path, 0);
    writeFileSync(path, '', { mode: 0o600 });
    utimesSync(path, 0, 0);
    await lock.hold(async () => {
      expect(Math.abs(Date.now() - statSync(path).mtimeMs)).toBeLessThan(60_000);
    });
    expect([statSync(path).size, existsSync(`${path}-journal`)]).toEqual([0, false]);
    lock.close();
  });
});
