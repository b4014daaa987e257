import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import type { Mount, MountType } from '../../src/mounts/mount.ts';
import { collectionOf, Mounts } from '../../src/mounts/mounts.ts';
import { isMountPath, isSystemPath } from '../../src/mounts/paths.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { memoryStore } from '../store/memory-store.ts';

const TYPES: readonly MountType[] = [
  { name: 'transit', collections: ['keys', 'config'] },
  { name: 'echo', isLogin: true, login: { summary: 'Manage echoes', needs: [] }, collections: ['roles'] },
];

const freshStore = () => memoryStore({ clock: { now: () => 0 } });

const mounts = async (): Promise<Mounts> => new Mounts(await freshStore(), systemRandom, TYPES);

describe('the path of a mount', () => {
  it.each(['sys', 'auth', 'identity', 'cubbyhole', 'api'])(
    'of an engine is not in the part of the API that is called %s, nor in its policies',
    async (first) => {
      for (const path of [first, `${first}/v2`]) {
        expect(await rejectionOf((await mounts()).add('transit', path))).toMatchObject({
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
      expect(await rejectionOf((await mounts()).add('transit', path))).toMatchObject({
        kind: 'invalid',
        message: `mount path ${JSON.stringify(path)} is not allowed`,
      });
      expect(isMountPath(path)).toBe(false);
    },
  );

  it('has 512 characters at most', async () => {
    expect((await (await mounts()).add('transit', 'a'.repeat(512))).path).toBe('a'.repeat(512));
    expect([isMountPath('a'.repeat(512)), isMountPath('a'.repeat(513))]).toEqual([true, false]);
  });

  it('of an engine may be any other, without the slashes at its ends', async () => {
    expect((await (await mounts()).add('transit', '/teams/payments.eu/')).path).toBe('teams/payments.eu');
    expect(isMountPath('teams/payments.eu')).toBe(true);
    expect(isMountPath('apis/sys')).toBe(true);
  });

  it('of a login method is below auth/, and nowhere else', async () => {
    const table = await mounts();
    expect(await table.add('echo', 'auth/echo')).toMatchObject({
      type: 'echo',
      path: 'auth/echo',
      accessor: expect.stringMatching(/^auth_echo_[0-9a-f]{8}$/),
    });
    expect(await rejectionOf(table.add('echo', 'echo'))).toMatchObject({
      kind: 'invalid',
      message: 'plugin not found in the catalog: echo',
      hint: 'use "transit"',
    });
    expect(await rejectionOf(table.add('echo', 'auth/token'))).toMatchObject({
      kind: 'exists',
      message: 'path is already in use at token/',
    });
  });

  it('is not inside another mount, but may begin with the same letters', async () => {
    const table = await mounts();
    expect((await table.add('transit', 'transit2')).path).toBe('transit2');
    const hint = 'a mount cannot be inside another one: choose another path';
    expect(await rejectionOf(table.add('transit', 'transit/x'))).toMatchObject({ kind: 'exists', hint });
    expect(await rejectionOf(table.move('transit', 'transit/x'))).toMatchObject({ kind: 'invalid', hint });
  });

  it('tells what is about the server and its callers from what an engine keeps', () => {
    expect(['sys/seal', 'auth/token/create', 'auth/echo/login'].every(isSystemPath)).toBe(true);
    expect(['system/keys', 'authority/keys', 'transit/auth/x', 'sys'].some(isSystemPath)).toBe(false);
  });
});

describe('the table of mounts', () => {
  it('has an engine and the built-in login method from the start, the same for good', async () => {
    const store = await freshStore();
    const list = () => new Mounts(store, systemRandom, TYPES).list();
    expect((await list()).map(({ type, path }) => [type, path])).toEqual([
      ['token', 'auth/token'],
      ['transit', 'transit'],
    ]);
    expect(await list()).toEqual(await list());
    expect(await new Mounts(store, systemRandom, TYPES).remove('auth/token')).toBe(false);
  });

  it('lists and finds the mounts of one type', async () => {
    const table = await mounts();
    await table.add('echo', 'auth/echo');
    await table.add('transit', 'a');
    expect((await table.list('transit')).map(({ path }) => path)).toEqual(['a', 'transit']);
    expect(await table.get('auth/echo', 'echo')).toMatchObject({ type: 'echo' });
    expect(await rejectionOf(table.get('auth/echo', 'transit'))).toMatchObject({ kind: 'not-found' });
  });

  it('is read as earlier releases wrote it, and written so that they read it', async () => {
    const store = await freshStore();
    const old = {
      path: 'old',
      dialect: 'vault',
      description: '',
      accessor: 'transit_00000001',
      uuid: '1-2-3',
    };
    const written = { collection: 'sys', id: 'mounts' };
    await store.transact((tx) => tx.put(written, { mounts: [old] }));
    const table = new Mounts(store, systemRandom, TYPES);
    expect(await table.get('old')).toEqual({
      type: 'transit',
      path: 'old',
      description: '',
      accessor: 'transit_00000001',
      uuid: '1-2-3',
      options: { dialect: 'vault' },
    });
    await table.add('echo', 'auth/echo');
    await table.add('transit', 'new', { description: 'd' });
    const rows = async () => (await store.read((view) => view.get<{ mounts: Mount[] }>(written)))?.mounts;
    expect(await rows()).toMatchObject([
      { path: 'new', dialect: 'service', description: 'd' },
      { path: 'old', dialect: 'vault' },
    ]);
    // An earlier release changes the member that it knows.
    const changed = (await rows())?.map((row) => ({ ...row, dialect: 'vault' }));
    await store.transact((tx) => tx.put(written, { mounts: changed }));
    expect((await table.list('transit')).map(({ options }) => options['dialect'])).toEqual([
      'vault',
      'vault',
    ]);
    expect((await table.list()).map(({ path }) => path)).toEqual(['auth/echo', 'auth/token', 'new', 'old']);
  });

  it('changes the options that are given, and leaves the others', async () => {
    const table = await mounts();
    await table.add('echo', 'auth/echo', { description: 'one', options: { a: '1', b: '2' } });
    await table.tune('auth/echo', () => ({ options: { b: '3' } }));
    expect(await table.get('auth/echo')).toMatchObject({ description: 'one', options: { a: '1', b: '3' } });
  });

  it('changes no settings where nothing is mounted, nor those of tokens', async () => {
    const table = await mounts();
    const tune = (path: string) => table.tune(path, () => ({ description: 'changed' }));
    expect(await rejectionOf(tune('nosuch'))).toMatchObject({ kind: 'not-found' });
    expect(await rejectionOf(tune('auth/token'))).toMatchObject({
      kind: 'unsupported',
      message: 'the login method "token" has no settings',
    });
  });

  it('takes everything that its type keeps away with a mount, and nothing else', async () => {
    const store = await freshStore();
    const table = new Mounts(store, systemRandom, TYPES);
    const one = await table.add('echo', 'auth/one');
    const two = await table.add('echo', 'auth/two');
    const role = (mount: Mount) => ({ collection: collectionOf(mount, 'roles'), id: 'r' });
    await store.transact((tx) => {
      tx.put(role(one), {});
      tx.put(role(two), {});
    });
    expect(await table.remove('auth/one')).toBe(true);
    expect(await store.read((view) => view.list(collectionOf(one, 'roles')))).toEqual([]);
    expect(await store.read((view) => view.list(collectionOf(two, 'roles')))).toEqual(['r']);
    expect(await table.remove('auth/one')).toBe(false);
  });

  it('clears away what a login method kept, also after somebody was killed at it, and nothing is reached till then', async () => {
    const store = await freshStore();
    const table = new Mounts(store, systemRandom, TYPES);
    const one = await table.add('echo', 'auth/one');
    const collection = collectionOf(one, 'roles');
    await store.transact((tx) => {
      for (let i = 0; i < 1201; i++) tx.put({ collection, id: `role${i}` }, {});
    });
    let changes = 0;
    const killedAfter = (most: number) =>
      new Proxy(store, {
        get(target, name) {
          if (name === 'transact' && ++changes > most) throw new Error('killed');
          const value: unknown = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    const left = () => store.read((view) => view.list(collection));
    await expect(new Mounts(killedAfter(2), systemRandom, TYPES).remove('auth/one')).rejects.toThrow(
      'killed',
    );
    expect(await left()).toHaveLength(701);
    expect((await table.list()).map(({ path }) => path)).toEqual(['auth/token', 'transit']);
    expect(await table.add('echo', 'auth/one')).not.toMatchObject({ uuid: one.uuid });
    await table.sweep();
    expect(await left()).toEqual([]);
    const before = await store.revision();
    await table.sweep();
    expect(await store.revision()).toBe(before);
  });

  it('keeps mounts of a type that only a later release knows', async () => {
    const store = await freshStore();
    await new Mounts(store, systemRandom, TYPES).add('echo', 'auth/echo');
    const earlier = new Mounts(store, systemRandom, TYPES.slice(0, 1));
    expect(await rejectionOf(earlier.remove('auth/echo'))).toMatchObject({ kind: 'unsupported' });
    expect((await earlier.list()).map(({ path }) => path)).toContain('auth/echo');
  });
});
