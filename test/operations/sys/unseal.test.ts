import { describe, expect, it } from 'vitest';
import { turn } from '../../../src/ground/pause.ts';
import type { Call, ServerState } from '../../../src/operations/declaration/operation.ts';
import { unseal } from '../../../src/operations/sys/seal.ts';

describe('keys that are offered to a sealed server', () => {
  it('are tried one after the other, one of each source in turn, and of none more than may wait', async () => {
    const tried: string[] = [];
    const ends: (() => void)[] = [];
    const server = {
      unseal: (key: string) =>
        new Promise<object>((resolve) => {
          tried.push(key);
          ends.push(() => resolve({}));
        }),
    } as unknown as ServerState;
    const offer = (key: string, remoteAddress: string) =>
      unseal
        .run({ core: { server }, remoteAddress } as unknown as Call, { key, reset: false })
        .then(() => 'tried')
        .catch((error: Error) => error.message);
    const strangers = Array.from({ length: 25 }, (_, index) => offer(`guess ${index}`, '198.51.100.1'));
    const owner = offer('right', '192.0.2.1');
    await turn();
    expect(tried).toEqual(['guess 0']);
    for (let ended = 0; ended < ends.length; ended++) {
      ends[ended]?.();
      await turn();
    }
    expect(await owner).toBe('tried');
    expect(tried.indexOf('right')).toBeLessThanOrEqual(2);
    const answers = await Promise.all(strangers);
    expect(answers.filter((answer) => answer === 'too many unseal attempts at once')).toHaveLength(5);
  });
});
