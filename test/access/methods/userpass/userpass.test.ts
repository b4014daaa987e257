import { hash as bcrypt } from 'bcryptjs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Access } from '../../../../src/access/access.ts';
import { Lockout } from '../../../../src/access/login/lockout.ts';
import { Crowded, LoginTurns } from '../../../../src/access/login/turns.ts';
import { userpassMounts } from '../../../../src/access/methods/userpass/mount-type.ts';
import { requireBcrypt, Userpass } from '../../../../src/access/methods/userpass/userpass.ts';
import type { Tokens } from '../../../../src/access/tokens.ts';
import { asCofferError } from '../../../../src/ground/errors.ts';
import { systemRandom } from '../../../../src/ground/random.ts';
import type { Mount } from '../../../../src/mounts/mount.ts';
import { collectionOf, Mounts } from '../../../../src/mounts/mounts.ts';
import { lightWork } from '../../../light-work.ts';
import { isLong } from '../../../long.ts';
import { refusal } from '../../../refusal.ts';
import { openRoom, type Room } from '../../room.ts';

interface World extends Room {
  readonly mount: Mount;
  readonly userpass: Userpass;
  logIn(name: string, password: string, address?: string): Promise<'in' | string>;
  keptOf(name: string): Promise<object | undefined>;
}

async function world(): Promise<World> {
  onTestFinished(lightWork.here());
  const room = await openRoom();
  const mounts = new Mounts(room.store, systemRandom, [userpassMounts]);
  const mount = await mounts.add('userpass', 'auth/userpass');
  const userpass = new Userpass({ ...room, random: systemRandom }, mount);
  return {
    ...room,
    mount,
    userpass,
    async logIn(name, password, address = '192.0.2.1') {
      try {
        await userpass.login(room.access, name, password, address);
        return 'in';
      } catch (error) {
        const known = asCofferError(error);
        if (known === undefined) throw error;
        return known.message;
      }
    },
    keptOf: async (name) => {
      const ref = { collection: collectionOf(mount, 'users'), id: name };
      return (await room.store.read((view) => view.get<{ password: object }>(ref)))?.password;
    },
  };
}

const WRONG = 'invalid username or password';

describe('a user with a hash of bcrypt', () => {
  it.each([
    ['behind byte 72', 'x'.repeat(80), `${'x'.repeat(72)}another end`],
    ['up to byte 72', 'x'.repeat(80), 'x'.repeat(72)],
    ['behind a NUL, as a repetition', 'abc', 'abc\0abc'],
  ])('keeps it when it was typed what only looks the same, %s', async (_, right, typed) => {
    const { userpass, logIn, keptOf } = await world();
    await userpass.write('moved', {}, { hash: await bcrypt(right, 5) });
    expect(await logIn('moved', typed)).toBe('in');
    expect(await logIn('moved', right)).toBe('in');
    const kept = (await keptOf('moved')) ?? {};
    if (right.length > 72) expect(Object.keys(kept)).toEqual(['bcrypt']);
    else expect(kept).toMatchObject({ memoryKiB: 19_456, passes: 2, lanes: 1 });
    expect(await logIn('moved', right)).toBe('in');
    expect(await logIn('moved', 'wrong')).toBe(WRONG);
  });

  it('keeps it and is let in where there is no room for making another one, which the next login makes', async () => {
    const { userpass, logIn, keptOf } = await world();
    await userpass.write('moved', {}, { hash: await bcrypt('right', 5) });
    const real = LoginTurns.prototype.take;
    let calls = 0;
    vi.spyOn(LoginTurns.prototype, 'take').mockImplementation(function (this: LoginTurns, ...given) {
      calls += 1;
      return calls === 2 ? Promise.reject(new Crowded('too many')) : Reflect.apply(real, this, given);
    });
    expect(await logIn('moved', 'right')).toBe('in');
    expect(Object.keys((await keptOf('moved')) ?? {})).toEqual(['bcrypt']);
    expect(await logIn('moved', 'right')).toBe('in');
    expect(Object.keys((await keptOf('moved')) ?? {})).not.toContain('bcrypt');
  });

  it('waits with all others of that kind, and nobody else with them', async () => {
    const { userpass, logIn } = await world();
    const strangers = Array.from({ length: 12 }, (_, index) => `moved-${index}`);
    const hash = await bcrypt('right', 6);
    for (const name of strangers) await userpass.write(name, {}, { hash });
    await userpass.write('ann', {}, { plain: 'right' });
    let done = 0;
    const all = strangers.map(async (name) => {
      await logIn(name, 'wrong', '198.51.100.1');
      done += 1;
    });
    expect(await logIn('ann', 'right')).toBe('in');
    expect(done).toBeLessThan(6);
    await Promise.all(all);
  });

  it('has their turn among few others, however many strangers of one address want one', async () => {
    const { userpass, logIn } = await world();
    const hash = await bcrypt('right', 6);
    const names = Array.from({ length: 20 }, (_, index) => `moved-${index}`);
    for (const name of [...names, 'ann']) await userpass.write(name, {}, { hash });
    let done = 0;
    const all = names.map(async (name) => {
      await logIn(name, 'wrong', '198.51.100.1');
      done += 1;
    });
    expect(await logIn('ann', 'right')).toBe('in');
    expect(done).toBeLessThan(6);
    await Promise.all(all);
  });
});

/** The same, and something happens between the proof of a password and the token for it. */
function accessAfter(access: Access, happens: () => Promise<void>): Access {
  const tokens = having(access.tokens, 'login', async (...given: Parameters<Tokens['login']>) => {
    await happens();
    return access.tokens.login(...given);
  });
  return having(access, 'tokens', tokens);
}

/** The same object with another member. */
const having = <T extends object, K extends keyof T>(object: T, name: K, member: T[K]): T =>
  new Proxy(object, {
    get(target, asked) {
      if (asked === name) return member;
      const value: unknown = Reflect.get(target, asked);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

describe('a password that was right when the login began', () => {
  it.each([
    ['another one is set', (users: Userpass) => users.write('ann', {}, { plain: 'new' })],
    ['the user is deleted', (users: Userpass) => users.remove('ann')],
  ])('is wrong when %s before the login ends', async (_, change) => {
    const { userpass, ...room } = await world();
    await userpass.write('ann', {}, { plain: 'old' });
    const access = accessAfter(room.access, () => change(userpass));
    await expect(userpass.login(access, 'ann', 'old', '192.0.2.1')).rejects.toThrow(WRONG);
    expect(await room.logIn('ann', 'old')).toBe(WRONG);
  });
});

describe('a right password', () => {
  it('is refused like a wrong one while another process has locked the name, and counts as no failure', async () => {
    const { userpass, store, clock, mount, logIn } = await world();
    await userpass.write('ann', {}, { plain: 'right' });
    const elsewhere = new Lockout(store, clock);
    for (let i = 0; i < 5; i++) elsewhere.failed({ mount, name: 'ann', isThere: true });
    await elsewhere.settled();
    for (let i = 0; i < 6; i++) expect(await logIn('ann', 'right')).toBe(WRONG);
    clock.pass(15 * 60);
    expect(await logIn('ann', 'right')).toBe('in');
  });
});

describe('a good login', () => {
  it.each(isLong ? [1, 4] : [4])(
    'is let in beside 110 connections of strangers with made-up names, from %i addresses',
    async (addresses) => {
      const { userpass, logIn } = await world();
      await userpass.write('ann', {}, { plain: 'right' });
      let answered = 0;
      const strangers = Array.from({ length: 110 }, async (_, index) => {
        await logIn(`made-up-${index}`, 'guess', `198.51.100.${index % addresses}`);
        answered += 1;
      });
      const good = [];
      for (let i = 0; i < 3; i++) good.push(await logIn('ann', 'right'));
      const before = answered;
      await Promise.all(strangers);
      expect(new Set(good)).toEqual(new Set(['in']));
      // They were waiting for all that time, and not gone already.
      expect(before).toBeLessThan(110);
    },
  );
});

describe('a hash of bcrypt', () => {
  it('is taken with a cost of 5 to 12', () => {
    const check = (cost: string) => () => requireBcrypt(`$2b$${cost}$${'a'.repeat(53)}`);
    for (const cost of ['05', '12']) expect(check(cost)).not.toThrow();
    expect(refusal(check('04')).message).toBe('bcrypt cost of 4 is too low, want 5 at minimum');
    expect(refusal(check('13')).message).toBe('bcrypt cost of 13 exceeds maximum cost of 12');
  });
});
