import { beforeEach, describe, expect, it } from 'vitest';
import { Access } from '../../src/access/access.ts';
import { type CofferError, unavailable, unconfirmed } from '../../src/ground/errors.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { Store } from '../../src/store/store.ts';
import { failureOf, openRoom, type Room, tokenRequest } from './room.ts';

let room: Room;
beforeEach(async () => {
  room = await openRoom();
});

describe('a token whose creation may have failed', () => {
  /** A store whose change number `at` is made, but not confirmed; all behind it fail if `then` says so. */
  const unsure = (at: number, then?: 'fails'): Store => {
    let changes = 0;
    return {
      id: room.store.id,
      read: room.store.read.bind(room.store),
      revision: () => room.store.revision(),
      limitCache: () => undefined,
      close: () => undefined,
      async transact(change, options) {
        changes += 1;
        if (changes > at && then === 'fails') throw unavailable('full');
        const result = await room.store.transact(change, options);
        if (changes === at) throw unconfirmed('the disk is slow');
        return result;
      },
    };
  };
  const create = (store: Store) =>
    new Access({ store, clock: room.clock, random: systemRandom }).tokens.create(tokenRequest({ ttl: 60 }), {
      sudo: true,
    });
  const kept = (collection: string) => room.store.read((view) => view.list(collection));

  it('is revoked, since nobody is told its text, and nothing is left of it', async () => {
    expect(await failureOf(() => create(unsure(1)))).toEqual([
      'unavailable',
      'no token was created: the disk is slow',
    ]);
    expect([await kept('access/tokens'), await kept('access/token-ends')]).toEqual([[], []]);
  });

  it('leaves the note of others that end at its time', async () => {
    const other = await room.access.tokens.create(tokenRequest({ ttl: 60 }), { sudo: true });
    await failureOf(() => create(unsure(1)));
    expect(await kept('access/tokens')).toEqual([other.accessor]);
    room.clock.pass(60 * 60);
    expect(await room.access.tokens.sweep(0)).toBe(1);
  });

  it('is named where it can not be revoked', async () => {
    const error = await create(unsure(1, 'fails')).catch((thrown: unknown) => thrown);
    const [accessor] = await kept('access/tokens');
    expect(error).toMatchObject({ kind: 'unconfirmed', message: 'the disk is slow' });
    expect((error as CofferError).hint).toContain(String(accessor));
  });
});
