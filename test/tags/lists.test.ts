import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/ground/clock.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { TransactOptions } from '../../src/store/store.ts';
import { organizationCalled } from '../../src/tags/organization.ts';
import { OrganizationEdit } from '../../src/tags/organization-edit.ts';
import { Tags } from '../../src/tags/tags.ts';
import { refused } from '../refusal.ts';
import { memoryStore } from '../store/memory-store.ts';
import { FakeStore } from './fake-store.ts';

const page = { number: 1, size: 20 };

/** A store that notes which changes wanted a commit of their own. */
class NotingStore extends FakeStore {
  readonly alone: boolean[] = [];

  override transact: FakeStore['transact'] = (change, ...[options]: [TransactOptions?]) => {
    this.alone.push(options?.alone === true);
    return FakeStore.prototype.transact.call(this, change) as ReturnType<typeof change> as never;
  };
}

let store: NotingStore;
let tags: Tags;
const ports = () => ({ store, clock: systemClock, random: systemRandom });
const workspace = (name: string, ...names: readonly string[]) =>
  tags.workspaces.create('acme', { name, description: null, tags: names.map((tag) => ({ name: tag })) });

beforeEach(async () => {
  store = new NotingStore();
  tags = new Tags(ports());
  await tags.organizations.create({ name: 'acme', email: null });
});

describe('the workspaces of an organization', () => {
  it('are found by the whole of their name where the pattern has no star', async () => {
    for (const name of ['app', 'App-2', 'app-20', 'my-app-2']) await workspace(name);
    const found = async (wildcard: string, search = '') =>
      (await tags.workspaces.list('acme', { wildcard, search, page })).items.map(({ name }) => name);
    expect(await found('app-2')).toEqual(['App-2']);
    expect(await found('app-2*')).toEqual(['App-2', 'app-20']);
    expect(await found('*app-2')).toEqual(['App-2', 'my-app-2']);
    expect(await found('*app-2*')).toEqual(['App-2', 'app-20', 'my-app-2']);
    expect(await found('*', 'my')).toEqual(['my-app-2']);
    expect(await found('app', 'my')).toEqual([]);
  });

  it('read the state of another, a thousand of them at most', async () => {
    const { id } = await workspace('state');
    const ids = await store.transact(async (tx) => {
      const edit = await OrganizationEdit.open(tx, await organizationCalled(tx, 'acme'), ports());
      const made: string[] = [];
      for (let index = 0; index < 1001; index++) {
        const { key } = await edit.addWorkspace(`w${index}`, { description: null }, undefined);
        made.push(`ws-${edit.organization.home}${key}`);
      }
      await edit.save();
      return made;
    });
    await tags.stateConsumers.replace({ id }, ids.slice(1));
    expect(await refused(tags.stateConsumers.add({ id }, ids.slice(0, 1)))).toMatchObject({
      kind: 'invalid',
      message: 'a workspace can have at most 1000 remote state consumers, not 1001',
    });
    expect((await tags.stateConsumers.list({ id }, page, undefined)).total).toBe(1000);
    // One that was deleted makes room, and a caller who may see only one is shown that one.
    await tags.workspaces.delete({ id: ids[5] ?? '' });
    await tags.stateConsumers.add({ id }, ids.slice(0, 1));
    const sees = ({ name }: { readonly name: string }) => name === 'w7';
    const { items, total } = await tags.stateConsumers.list({ id }, page, sees);
    expect([items.map(({ name }) => name), total]).toEqual([['w7'], 1]);
    expect((await tags.stateConsumers.list({ id }, page, undefined)).total).toBe(1000);
  });
});

describe('the tags of an organization', () => {
  it('leave out those of a workspace only if it is there, and for whom may see it', async () => {
    const { id } = await workspace('web', 'env:prod');
    await tags.pool.create('acme', [{ name: 'other' }]);
    const left = async (notOnWorkspace: string, isSeen = true) => {
      const { items, total } = await tags.pool.list('acme', { notOnWorkspace, sees: () => isSeen, page });
      expect(total).toBe(items.length);
      return items.map(({ name }) => name);
    };
    expect(await left(id)).toEqual(['other']);
    expect(await left(id, false)).toEqual(['env:prod', 'other']);
    expect(await left('ws-x')).toEqual(['env:prod', 'other']);
    await tags.workspaces.delete({ id });
    expect(await left(id)).toEqual(['env:prod', 'other']);
    expect(await left(id, false)).toEqual(['env:prod', 'other']);
  });

  it('are unused if no workspace has them, and no key either for whom may see keys', async () => {
    await workspace('web', 'used');
    await tags.pool.create('acme', [{ name: 'free' }]);
    await store.transact((tx) =>
      tags.keys.tag(tx, { mount: 'm', name: 'k' }, { record: undefined, organization: 'acme' }, ['on-key']),
    );
    const unused = async (sparesKeys: boolean) =>
      (await tags.pool.list('acme', { unused: { sparesKeys }, page })).items.map(({ name }) => name);
    expect([await unused(true), await unused(false)]).toEqual([['free'], ['free', 'on-key']]);
  });

  it('are changed in a commit of their own if there are more than sixteen', async () => {
    const named = (count: number, prefix: string) =>
      Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}` }));
    store.alone.length = 0;
    await tags.pool.create('acme', named(16, 'a'));
    await tags.pool.create('acme', named(17, 'b'));
    expect(store.alone).toEqual([false, true]);
  });

  it('are none of an organization without a name', async () => {
    const real = new Tags({ ...ports(), store: await memoryStore() });
    expect(await refused(real.pool.list('', { page }))).toMatchObject({ kind: 'not-found' });
    expect(await refused(real.organizations.delete(''))).toMatchObject({ kind: 'not-found' });
  });
});

describe('the tags of a key', () => {
  const at = (record?: string) => ({ record, organization: 'acme' });
  const tag = (name: string, texts: readonly string[], record?: string, mount = 'm') =>
    store.transact((tx) => tags.keys.tag(tx, { mount, name }, at(record), texts));
  const of = (record: string) => store.read((view) => tags.keys.of(view, record));
  const carrying = (mount: string) => store.read((view) => tags.keys.carrying(view, 'acme', mount, ['*']));

  it('are taken away one by one, and those that it does not have are ignored', async () => {
    const record = await tag('k', ['a', 'b', 'env=prod']);
    await store.transact((tx) => tags.keys.untag(tx, record, ['b', 'c', 'env=dev', 'zone=x']));
    expect(await of(record)).toEqual({ organization: 'acme', tags: ['a', 'env=prod'] });
    await store.transact((tx) => tags.keys.untag(tx, record, ['a', 'env=prod']));
    expect(await of(record)).toBeUndefined();
  });

  it('are gone with the key, after which nothing is left to take away, and nothing is written', async () => {
    const [gone, kept] = [await tag('k', ['a']), await tag('l', ['a'])];
    await store.transact((tx) => tags.keys.forget(tx, gone));
    store.written.length = 0;
    await store.transact((tx) => tags.keys.forget(tx, gone));
    await store.transact((tx) => tags.keys.untag(tx, gone, ['a']));
    await store.transact((tx) => tags.keys.forget(tx, `zzzz${gone.slice(4)}`));
    expect([await of(gone), await of(kept), store.written]).toEqual([
      undefined,
      { organization: 'acme', tags: ['a'] },
      [],
    ]);
  });

  it('are gone with the mount of the key, and those of other mounts stay', async () => {
    await tags.organizations.create({ name: 'empty', email: null });
    for (const [name, mount] of [
      ['k', 'm'],
      ['l', 'm'],
      ['k', 'm2'],
    ] as const)
      await tag(name, ['a'], undefined, mount);
    await tags.keys.forgetMount('m');
    expect([await carrying('m'), await carrying('m2')]).toMatchObject([[], [{ name: 'k' }]]);
    store.written.length = 0;
    await tags.keys.forgetMount('m');
    expect(store.written).toEqual([]);
  });
});
