import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { isMountPath, Mounts } from '../../src/mounts/mounts.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { rejectionOf } from '../reference/thrown.ts';

const mounts = async (): Promise<Mounts> =>
  new Mounts(await memoryStore({ clock: { now: () => 0 } }), systemRandom);

describe('the path of a mount', () => {
  it.each(['sys', 'auth', 'identity', 'cubbyhole', 'api'])(
    'is not in the part of the API that is called %s, nor in its policies',
    async (first) => {
      for (const path of [first, `${first}/v2`]) {
        expect(await rejectionOf((await mounts()).add(path))).toMatchObject({
          kind: 'invalid',
          message: `cannot mount under the reserved path "${first}/"`,
          field: 'path',
        });
        expect(isMountPath(path)).toBe(false);
      }
    },
  );

  it.each(['', '/', '..', 'a/../b', 'a//b', '-a', 'a b', 'a%2fb', 'a'.repeat(513)])(
    'is made of plain segments, which %j is not',
    async (path) => {
      expect(await rejectionOf((await mounts()).add(path))).toMatchObject({
        kind: 'invalid',
        message: `mount path ${JSON.stringify(path)} is not allowed`,
      });
      expect(isMountPath(path)).toBe(false);
    },
  );

  it('may be any other, without the slashes at its ends', async () => {
    expect((await (await mounts()).add('/teams/payments.eu/')).path).toBe('teams/payments.eu');
    expect(isMountPath('teams/payments.eu')).toBe(true);
    expect(isMountPath('apis/sys')).toBe(true);
  });
});
