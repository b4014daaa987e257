import fs, { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AuditLog } from '../../src/access/audit-log.ts';
import { failureOf } from './room.ts';

const real = fs.writeSync;
let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'coffer-torn-'));
  path = join(directory, 'audit.log');
});
afterEach(async () => {
  fs.writeSync = real;
  syncBuiltinESMExports();
  await rm(directory, { recursive: true });
});

/** Lets each write take so many bytes; -1 stands for a disk that is full. */
function taking(...most: readonly number[]): void {
  const left = [...most];
  const write = (fd: number, bytes: Uint8Array, offset: number): number => {
    const length = left.shift() ?? bytes.length - offset;
    if (length < 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    return real(fd, bytes, offset, Math.min(length, bytes.length - offset));
  };
  fs.writeSync = write as typeof real;
  syncBuiltinESMExports();
}

describe('an audit log on a disk that takes only a part', () => {
  const NOT_WRITTEN = ['unavailable', 'the audit log cannot be written'];

  it('has the whole line once the rest was taken, too', async () => {
    const log = await AuditLog.open(path);
    taking(2, 1);
    await log.append('a line');
    await log.append('another');
    expect(readFileSync(path, 'utf8')).toBe('a line\nanother\n');
    await log.close();
  });

  it('begins a new line behind a part, and none where nothing was taken', async () => {
    const log = await AuditLog.open(path);
    taking(-1, 3, -1, -1);
    for (const line of ['lost', 'cut off', 'lost']) {
      expect(await failureOf(() => log.append(line))).toEqual(NOT_WRITTEN);
    }
    await log.append('whole');
    await log.append('last');
    expect(readFileSync(path, 'utf8')).toBe('cut\nwhole\nlast\n');
    await log.close();
  });
});
