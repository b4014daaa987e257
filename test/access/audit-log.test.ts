import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditLog } from '../../src/access/audit-log.ts';
import { failureOf } from './room.ts';

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coffer-audit-'));
  path = join(directory, 'audit.log');
});
afterEach(() => rm(directory, { recursive: true }));

/** What callers of a server see; the file is only in the cause. */
const NOT_WRITTEN = ['unavailable', 'the audit log cannot be written'];

const linesOf = async (file: string): Promise<string[]> =>
  (await readFile(file, 'utf8')).split('\n').slice(0, -1);

describe('the audit log', () => {
  it('has a line when the append is done, in a file for its owner alone', async () => {
    const log = await AuditLog.open(path);
    await log.append('one');
    expect(await readFile(path, 'utf8')).toBe('one\n');
    await log.append('two');
    expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await log.close();
  });

  it.each(['system', 'disk'] as const)(
    'keeps every line of many requests at once, in their order: %s',
    async (durability) => {
      const log = await AuditLog.open(path, { durability });
      await Promise.all(Array.from({ length: 5000 }, (_, i) => log.append(`line ${i}`)));
      expect(await linesOf(path)).toEqual(Array.from({ length: 5000 }, (_, i) => `line ${i}`));
      await log.close();
    },
  );

  it('goes on behind what is there', async () => {
    await writeFile(path, 'old\n');
    const log = await AuditLog.open(path);
    await log.append('new');
    expect(await linesOf(path)).toEqual(['old', 'new']);
    await log.close();
  });

  it('starts a new line behind one that was cut off', async () => {
    await writeFile(path, 'old\n{"cut');
    const log = await AuditLog.open(path);
    await log.append('new');
    expect(await linesOf(path)).toEqual(['old', '{"cut', 'new']);
    await log.close();
  });

  it('writes what waits before it closes, and takes no more', async () => {
    const log = await AuditLog.open(path);
    const waiting = log.append('last');
    await log.close();
    await waiting;
    expect(await linesOf(path)).toEqual(['last']);
    expect(await failureOf(() => log.append('late'))).toEqual(NOT_WRITTEN);
  });

  it('goes on in a new file when it is told that the old one was moved', async () => {
    const log = await AuditLog.open(path);
    await log.append('old');
    await rename(path, `${path}.1`);
    log.reopen();
    await log.append('new');
    expect([await linesOf(`${path}.1`), await linesOf(path)]).toEqual([['old'], ['new']]);
    await log.close();
  });

  it('notices by itself, within a second, that the old file was moved', async () => {
    let now = 5;
    const log = await AuditLog.open(path, { elapsedMs: () => now });
    await log.append('old');
    await rename(path, `${path}.1`);
    now += 999;
    await log.append('late');
    now += 1;
    await log.append('new');
    await log.append('newer');
    expect([await linesOf(`${path}.1`), await linesOf(path)]).toEqual([
      ['old', 'late'],
      ['new', 'newer'],
    ]);
    await log.close();
  });

  it('does not take a line that another process is writing for one that was cut short', async () => {
    let isWhole = false;
    appendFileSync(path, 'a');
    let written = 1;
    const growing = setInterval(() => {
      isWhole = ++written > 40;
      appendFileSync(path, isWhole ? '\n' : 'a');
      if (isWhole) clearInterval(growing);
    }, 1);
    const log = await AuditLog.open(path);
    expect(isWhole).toBe(true);
    await log.append('second');
    await log.close();
    expect(await readFile(path, 'utf8')).toMatch(/^a+\nsecond\n$/);
  });

  it('does not mix the lines of several processes', async () => {
    const source = new URL('../../src/access/audit-log.ts', import.meta.url).href;
    const script = `
      const { AuditLog } = await import(${JSON.stringify(source)});
      const log = await AuditLog.open(${JSON.stringify(path)});
      const name = process.argv[1];
      for (let round = 0; round < 50; round++)
        await Promise.all(Array.from({ length: 20 }, (_, i) => log.append(name.repeat(500) + round + '.' + i)));
      await log.close();`;
    const run = (name: string): Promise<number | null> =>
      new Promise((resolve) => {
        spawn(process.execPath, ['--input-type=module', '-e', script, name], { stdio: 'inherit' }).on(
          'close',
          resolve,
        );
      });
    expect(await Promise.all(['a', 'b', 'c'].map(run))).toEqual([0, 0, 0]);
    const lines = await linesOf(path);
    expect(lines).toHaveLength(3000);
    expect(lines.filter((line) => !/^(a{500}|b{500}|c{500})\d+\.\d+$/.test(line))).toEqual([]);
  });
});

describe('a log that can not be written fails the request', () => {
  it('when its directory is missing', async () => {
    const missing = join(directory, 'gone', 'audit.log');
    const failure = await failureOf(() => AuditLog.open(missing));
    expect(failure).toEqual([
      'unavailable',
      expect.stringContaining(`cannot open the audit log ${missing}: no such file or directory`),
    ]);
  });

  it('when the device is full, and works again when it is not', async () => {
    const log = await AuditLog.open('/dev/full');
    for (let i = 0; i < 3; i++) {
      const failure = await failureOf(() => log.append('line'));
      expect(failure).toEqual(NOT_WRITTEN);
    }
    await log.close();
  });

  it('when it was moved and can not be opened anew, until it can', async () => {
    const log = await AuditLog.open(path);
    await rename(path, `${path}.1`);
    await rm(`${path}.1`);
    await chmod(directory, 0o500);
    log.reopen();
    const refused = await failureOf(() => log.append('lost'));
    // Root may write anywhere.
    if (process.getuid?.() !== 0) {
      expect(refused).toEqual(NOT_WRITTEN);
    }
    await chmod(directory, 0o700);
    await log.append('found');
    expect(await linesOf(path)).toContain('found');
    await log.close();
  });
});
