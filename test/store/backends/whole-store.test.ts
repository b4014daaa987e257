import { describe, expect, it } from 'vitest';
import { unavailable } from '../../../src/ground/errors.ts';
import type { Backend, WriteSession } from '../../../src/store/backends/backend.ts';
import { besideOrBetween } from '../../../src/store/backends/whole-store.ts';

const version = { generation: 1, revision: 5 };

/** A backend of which the write lock is free, or not to be had. */
const locking = (isFree: boolean): Backend =>
  ({
    exclusive: async <T>(work: (session: WriteSession) => Promise<T>) => {
      if (!isFree) throw unavailable('the lock is taken');
      return work({ version } as WriteSession);
    },
  }) as unknown as Backend;

describe('reading a store that others keep changing', () => {
  it('happens once with all writers waiting, whatever comes of it', async () => {
    const looks: string[] = [];
    const beside = async () => {
      looks.push('beside');
      return undefined;
    };
    const failing = besideOrBetween(locking(true), beside, async (found) => {
      looks.push(`between, at ${found.revision}`);
      throw unavailable('the disk is gone');
    });
    await expect(failing).rejects.toMatchObject({ kind: 'unavailable', message: 'the disk is gone' });
    expect(looks).toEqual(['beside', 'between, at 5']);
  });

  it('is tried beside them again where they do not come to wait', async () => {
    let looks = 0;
    const beside = async () => (++looks < 3 ? undefined : () => 'read');
    const never = async (): Promise<string> => expect.fail('the lock is not to be had');
    expect(await besideOrBetween(locking(false), beside, never)).toBe('read');
    expect(looks).toBe(3);
  });
});
