import { describe, expect, it } from 'vitest';
import {
  Lockout,
  type LockState,
  lockedNames,
  lockoutOf,
  unlock,
} from '../../../src/access/login/lockout.ts';
import { userpassMounts } from '../../../src/access/methods/userpass/mount-type.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import type { Mount } from '../../../src/mounts/mount.ts';
import { collectionOf, Mounts } from '../../../src/mounts/mounts.ts';
import type { Store } from '../../../src/store/store.ts';
import { memoryStore } from '../../store/memory-store.ts';
import { FakeClock } from '../room.ts';

async function world(): Promise<{ store: Store; clock: FakeClock; mount: Mount }> {
  const store = await memoryStore();
  const mount = await new Mounts(store, systemRandom, [userpassMounts]).add('userpass', 'auth/userpass');
  return { store, clock: new FakeClock(), mount };
}

const names = [
  { name: 'ann', isThere: true },
  { name: 'nobody', isThere: false },
] as const;

/** How a name stands now. */
const standingOf = (
  { store, lockout, mount }: { store: Store; lockout: Lockout; mount: Mount },
  { name, isThere }: { name: string; isThere: boolean },
): Promise<LockState> => {
  const standingIn = lockout.recall(mount, name);
  return store.read((view) => standingIn(view, isThere));
};

describe('a name that fails to log in', () => {
  it('is locked alike whether somebody has it or not, in every process and as time passes', async () => {
    const { store, clock, mount } = await world();
    const processes = [new Lockout(store, clock), new Lockout(store, clock)] as const;
    /** What a stranger is told of each try: a lock elsewhere looks like a wrong password. */
    const told: Record<string, string[]> = { ann: [], nobody: [] };
    const guess = async (lockout: Lockout) => {
      for (const one of names) {
        const standing = await standingOf({ store, lockout, mount }, one);
        told[one.name]?.push(standing === 'locked here' ? '403' : '400');
        if (standing !== 'locked here') lockout.failed({ mount, ...one });
      }
    };
    for (let i = 0; i < 6; i++) await guess(processes[0]);
    await processes[0].settled();
    await guess(processes[0]);
    for (let i = 0; i < 6; i++) await guess(processes[1]);
    await processes[1].settled();
    clock.pass(15 * 60 - 1);
    for (const process of processes) await guess(process);
    clock.pass(1);
    for (const process of processes) await guess(process);
    expect(told['ann']).toEqual(told['nobody']);
    expect(told['ann']?.slice(0, 7)).toEqual(['400', '400', '400', '400', '400', '403', '403']);
  });

  it('is locked before the lock lies in the store, and where it can not be written', async () => {
    const { store, clock, mount } = await world();
    const stuck: Store = {
      ...store,
      read: store.read.bind(store),
      transact: () => Promise.reject(new Error('full')),
    };
    const lockout = new Lockout(stuck, clock);
    const ann = { mount, name: 'ann', isThere: true };
    for (let i = 0; i < 5; i++) lockout.failed(ann);
    const standing = (): Promise<LockState> => standingOf({ store, lockout, mount }, ann);
    expect(await standing()).toBe('locked here');
    await lockout.settled();
    expect(await standing()).toBe('locked here');
  });

  it('is open once it was unlocked in the store, by whatever process', async () => {
    const { store, clock, mount } = await world();
    const lockout = new Lockout(store, clock);
    const ann = { mount, name: 'ann', isThere: true };
    for (let i = 0; i < 5; i++) lockout.failed(ann);
    await lockout.settled();
    await unlock(store, mount, 'ann');
    expect(await standingOf({ store, lockout, mount }, ann)).toBe('open');
    expect(await lockedNames(store, mount, clock)).toEqual([]);
  });

  it('is open to somebody who was made under a name that was locked while nobody had it', async () => {
    const { store, clock, mount } = await world();
    const lockout = new Lockout(store, clock);
    for (let i = 0; i < 5; i++) lockout.failed({ mount, name: 'new', isThere: false });
    const standing = (isThere: boolean) => standingOf({ store, lockout, mount }, { name: 'new', isThere });
    expect(await standing(false)).toBe('locked here');
    expect(await standing(true)).toBe('open');
  });

  it('is locked only by failures within a quarter of an hour of the first one, or within what the mount says', async () => {
    const { store, clock, mount } = await world();
    const lockout = new Lockout(store, clock);
    const quick = { ...mount, config: { user_lockout_config: { user_lockout_counter_reset_duration: 10 } } };
    for (const [at, seconds] of [
      [mount, 15 * 60],
      [quick, 10],
    ] as const) {
      for (const [name, wait, standing] of [
        ['late', seconds, 'open'],
        ['just', seconds - 1, 'locked here'],
      ] as const) {
        const ann = { mount: at, name: `${name} ${seconds}`, isThere: true };
        for (let i = 0; i < 4; i++) lockout.failed(ann);
        clock.pass(wait);
        lockout.failed(ann);
        expect(await standingOf({ store, lockout, mount }, ann)).toBe(standing);
      }
    }
  });

  it('is not written down for a method that is gone', async () => {
    const { store, clock, mount } = await world();
    const lockout = new Lockout(store, clock);
    const fail = async (at: Mount) => {
      for (let i = 0; i < 5; i++) lockout.failed({ mount: at, name: 'ann', isThere: true });
      await lockout.settled();
      return store.read((view) => view.list(collectionOf(at, 'locked')));
    };
    expect(await fail(mount)).toHaveLength(1);
    expect(await fail({ ...mount, uuid: 'of-a-mount-that-is-gone' })).toEqual([]);
  });

  it('is never locked where the mount says so', async () => {
    const { store, clock, mount: usual } = await world();
    const mount = { ...usual, config: { user_lockout_config: { user_lockout_disable: true } } };
    const lockout = new Lockout(store, clock);
    for (let i = 0; i < 9; i++) lockout.failed({ mount, name: 'ann', isThere: true });
    for (const at of [mount, usual]) {
      expect(await standingOf({ store, lockout, mount: at }, { name: 'ann', isThere: true })).toBe('open');
    }
  });

  it('is listed as locked until the moment when it is open again', async () => {
    const { store, clock, mount } = await world();
    const lockout = lockoutOf(store, clock);
    for (let i = 0; i < 5; i++) lockout.failed({ mount, name: 'ann', isThere: true });
    clock.ms += 15 * 60 * 1000 - 1;
    expect(await lockedNames(store, mount, clock)).toEqual(['ann']);
    clock.ms += 1;
    expect(await lockedNames(store, mount, clock)).toEqual([]);
    expect(await standingOf({ store, lockout, mount }, { name: 'ann', isThere: true })).toBe('open');
  });

  it('is remembered however many made-up names fail, which are forgotten for each other', async () => {
    const { store, clock, mount } = await world();
    const lockout = new Lockout(store, clock);
    const fail = (name: string, isThere: boolean) => lockout.failed({ mount, name, isThere });
    for (let i = 0; i < 4; i++) for (const { name, isThere } of names) fail(name, isThere);
    for (let i = 0; i < 10_000; i++) fail(`made-up-${i}`, false);
    for (const { name, isThere } of names) fail(name, isThere);
    const standings = await Promise.all(names.map((one) => standingOf({ store, lockout, mount }, one)));
    expect(standings).toEqual(['locked here', 'open']);
  });
});
