import type { StatsFs } from 'node:fs';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { freeBytes } from '../../src/service/service.ts';

/** Disks by a directory on each: blocks that only root may use are free, and yet nothing that the server can use. */
const disks = new Map<string, Pick<StatsFs, 'bsize' | 'blocks' | 'bfree' | 'bavail'>>();

vi.mock('node:fs/promises', async (original) => ({
  ...(await original<object>()),
  async statfs(directory: string) {
    const found = disks.get(directory);
    if (found === undefined) throw new Error('no such file or directory');
    return found;
  },
}));

beforeEach(() => {
  disks.clear();
  disks.set('/srv/store', { bsize: 4096, blocks: 1000, bfree: 60, bavail: 10 });
  disks.set('/var/log', { bsize: 512, blocks: 9000, bfree: 450, bavail: 0 });
});

describe('the free space for monitoring', () => {
  it('is what the server may use of each disk, without what is reserved for root', async () => {
    expect(await freeBytes('/srv/store', '/var/log/audit.log')).toEqual({
      storeFreeBytes: 40_960,
      auditFreeBytes: 0,
    });
  });

  it('is that of the store alone where there is no audit log', async () => {
    expect(await freeBytes('/srv/store', undefined)).toEqual({ storeFreeBytes: 40_960 });
  });

  it('is unknown of a store in a database, and of a disk that does not say it', async () => {
    expect(await freeBytes('postgres://admin@127.0.0.1:1/coffer', '/var/log/audit.log')).toEqual({
      auditFreeBytes: 0,
    });
    expect(await freeBytes('/srv/gone', '/srv/gone/audit.log')).toEqual({});
  });
});
