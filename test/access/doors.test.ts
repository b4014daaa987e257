import { describe, expect, it } from 'vitest';
import { Doors, type Offer } from '../../src/access/doors.ts';
import { refused } from '../refusal.ts';
import { memoryStore } from '../store/memory-store.ts';

const offer = (key: string, uses: readonly string[] = ['sign']): Offer => ({
  mount: 'transit',
  key,
  uses,
  confirm: false,
});

describe('the keys that are offered through one protocol', () => {
  it('are 256 at most, each of which may still be changed or withdrawn', async () => {
    const doors = new Doors(await memoryStore());
    const offered = () => doors.offers('ssh');
    for (let index = 0; index < 256; index++) await doors.offer('ssh', offer(`k${index}`));
    expect(await refused(doors.offer('ssh', offer('more')))).toMatchObject({
      kind: 'invalid',
      message: 'at most 256 keys can be offered through one protocol',
    });
    await doors.offer('ssh', offer('k255', ['sign', 'forward']));
    expect(await offered()).toHaveLength(256);
    expect((await offered()).at(-1)).toEqual(offer('k255', ['sign', 'forward']));
    await doors.offer('age', offer('more'));
    expect(await doors.withdraw('ssh', 'transit', 'k0')).toBe(true);
    expect(await doors.withdraw('ssh', 'other', 'k1')).toBe(false);
    await doors.offer('ssh', offer('more'));
    expect(await offered()).toHaveLength(256);
  });
});
