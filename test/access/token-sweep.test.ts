import { beforeEach, describe, expect, it } from 'vitest';
import { Access } from '../../src/access/access.ts';
import type { TokenRequest } from '../../src/access/token-request.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { DocumentRef, Store, View } from '../../src/store/store.ts';
import { openRoom, type Room, tokenRequest } from './room.ts';

let room: Room;
beforeEach(async () => {
  room = await openRoom();
});

const issue = (wanted: Partial<TokenRequest> = {}) =>
  room.access.tokens.create(tokenRequest(wanted), { sudo: true });

const kept = (collection = 'access/tokens') => room.store.read((view) => view.list(collection));

/** Seconds until everything of tokens that live so long is due. */
const late = (ttl: number): number => ttl + Math.max(1200, ttl / 4);

describe('clearing away', () => {
  it('takes every token whose time has passed, however many there are, and all notes of them', async () => {
    for (let index = 0; index < 620; index++) await issue({ ttl: 60 + index });
    const stays = await issue({ ttl: 86_400 });
    room.clock.pass(late(700));
    expect(await room.access.tokens.sweep(0)).toBe(620);
    expect(await kept()).toEqual([stays.accessor]);
    expect(await kept('access/token-ends')).toHaveLength(1);
    room.clock.pass(late(86_400));
    expect(await room.access.tokens.sweep(0)).toBe(1);
    expect([await kept(), await kept('access/token-ends')]).toEqual([[], []]);
  });

  it('looks again at a token that was renewed when that time has passed', async () => {
    const token = await issue({ period: 3600 });
    for (let hours = 0; hours < 5; hours++) {
      room.clock.pass(3000);
      await room.access.tokens.renew(token.accessor, 0);
      expect(await room.access.tokens.sweep(0)).toBe(0);
      expect(await kept('access/token-ends')).toHaveLength(1);
    }
    room.clock.pass(late(3600));
    expect(await room.access.tokens.sweep(0)).toBe(1);
    expect(await kept('access/token-ends')).toEqual([]);
  });

  it('takes a token at the moment of its end, where that is a whole number of ten minutes', async () => {
    room.clock.ms = Date.UTC(2026, 0, 2, 3, 0, 0);
    await issue({ ttl: 600 });
    room.clock.pass(599);
    expect(await room.access.tokens.sweep(0)).toBe(0);
    room.clock.pass(1);
    expect(await room.access.tokens.sweep(0)).toBe(1);
  });

  it('has 512 tokens in a note, and fills the last one of its time, however many there are', async () => {
    const { accessor } = await issue({ ttl: 60 });
    const [first = ''] = await kept('access/token-ends');
    const step = first.slice(0, -6);
    const idOf = (number: number) => `${step}${String(number).padStart(6, '0')}`;
    const ref = (number: number) => ({ collection: 'access/token-ends', id: idOf(number) });
    const inNote = async (number: number) =>
      (await room.store.read((view) => view.get<{ readonly accessors: string[] }>(ref(number))))?.accessors;
    expect([first, await inNote(0)]).toEqual([idOf(0), [accessor]]);
    await room.store.transact(async (tx) => {
      for (let number = 0; number < 102; number++) tx.put(ref(number), { accessors: [`of ${number}`] });
      tx.put(ref(102), { accessors: Array.from({ length: 511 }, (_, index) => `t${index}`) });
    });
    const [last, next] = [await issue({ ttl: 60 }), await issue({ ttl: 60 })];
    expect((await inNote(102))?.slice(510)).toEqual(['t510', last.accessor]);
    expect(await inNote(103)).toEqual([next.accessor]);
  });

  it('finds what lost its parent when it is asked for, among 250 tokens and not among more', async () => {
    const parent = await issue();
    for (let index = 0; index < 2; index++) {
      await room.access.tokens.create(tokenRequest(), { accessor: parent.accessor, sudo: true });
    }
    for (let index = 0; index < 249; index++) await issue();
    await room.access.tokens.revoke(parent.accessor);
    expect(await kept()).toHaveLength(251);
    expect(await room.access.tokens.tidy()).toBe(0);
    const live = (await room.access.tokens.list()).at(-1)?.accessor ?? '';
    await room.access.tokens.revoke(live);
    expect(await kept()).toHaveLength(250);
    expect(await room.access.tokens.tidy()).toBe(2);
  });

  it('keeps no note of a token that was revoked, nor trips over it', async () => {
    const token = await issue({ ttl: 60 });
    await room.access.tokens.revoke(token.accessor);
    room.clock.pass(late(60));
    expect(await room.access.tokens.sweep(0)).toBe(0);
    expect(await kept('access/token-ends')).toEqual([]);
  });

  it('finds by and by what ended before its time', async () => {
    const parent = await issue();
    for (let index = 0; index < 30; index++) {
      await room.access.tokens.create(tokenRequest(), { accessor: parent.accessor, sudo: true });
    }
    for (let index = 0; index < 30; index++) await issue();
    await room.access.tokens.revoke(parent.accessor);
    let removed = 0;
    for (let turn = 0; turn < 7; turn++) removed += await room.access.tokens.sweep(10);
    expect(removed).toBe(30);
    expect(await kept()).toHaveLength(30);
  });

  it('finds tokens of earlier releases, which made no notes', async () => {
    await issue({ ttl: 60 });
    await room.store.transact(async (tx) => {
      for (const id of await tx.list('access/token-ends')) tx.delete({ collection: 'access/token-ends', id });
    });
    room.clock.pass(61);
    expect(await room.access.tokens.sweep()).toBe(1);
  });

  it('opens no token when it is asked for and there are many whose time has not come', async () => {
    for (let index = 0; index < 600; index++) await issue({ ttl: 86_400 });
    let read = 0;
    const counted = (view: View): View => ({
      list: (collection, options) => view.list(collection, options),
      key: (purpose) => view.key(purpose),
      get: <T>(ref: DocumentRef) => {
        read += 1;
        return view.get<T>(ref);
      },
    });
    const store: Store = {
      id: room.store.id,
      read: (look) => room.store.read((view) => look(counted(view))),
      transact: (change) => room.store.transact(change),
      revision: () => room.store.revision(),
      limitCache: () => undefined,
      close: () => undefined,
    };
    const access = new Access({ store, clock: room.clock, random: systemRandom });
    expect(await access.tokens.tidy()).toBe(0);
    expect(read).toBe(0);
  });
});
