import { beforeEach, describe, expect, it } from 'vitest';
import { openCore } from '../../../src/operations/core.ts';
import { type Caller, type Core, owner } from '../../../src/operations/declaration/operation.ts';
import { loadOperation, run } from '../../../src/operations/runner.ts';
import type { Store } from '../../../src/store/store.ts';
import { refused } from '../../refusal.ts';
import { memoryStore } from '../../store/memory-store.ts';
import type { Raw } from './operations.ts';

let store: Store;
let core: Core;

async function ask(words: string, raw: Raw = {}, caller: Caller = owner): Promise<Record<string, unknown>> {
  const outcome = await run({ core, caller, mount: 'transit' }, await loadOperation(words), raw);
  return (outcome.data ?? {}) as Record<string, unknown>;
}
const keys = (words: string, raw: Raw = {}, caller: Caller = owner) =>
  ask(`transit keys ${words}`, raw, caller);
const tag = (name: string, tags: readonly string[], organization = 'acme') =>
  keys('tag', { name, tags, organization });
const listed = async (tags: readonly string[], more: Raw = {}) =>
  (await keys('list', { tag: tags, organization: 'acme', ...more }))['keys'];
/** Name and `instance-count` of each tag of the pool. */
async function pool(organization_name = 'acme'): Promise<Record<string, number>> {
  const { data } = (await ask('tags list', { organization_name })) as unknown as {
    data: { attributes: { name: string; 'instance-count': number } }[];
  };
  return Object.fromEntries(data.map(({ attributes }) => [attributes.name, attributes['instance-count']]));
}
async function idOf(tag_name: string, organization_name = 'acme'): Promise<string> {
  const { data } = await ask('tags show', { organization_name, tag_name });
  return (data as { id: string }).id;
}
const may =
  (...paths: readonly string[]): Caller['may'] =>
  (path, capability) =>
    paths.includes(`${capability} ${path}`);
const clerk = (...paths: readonly string[]): Caller => ({
  id: 'clerk',
  may: may(...paths),
  reaches: () => false,
});

beforeEach(async () => {
  store = await memoryStore();
  core = openCore(store);
  for (const name of ['acme', 'other']) await ask('orgs create', { name });
  for (const name of ['orders', 'pay', 'web']) await keys('create', { name });
});

describe('keys tag', () => {
  it('puts tags on a key by the rules of workspaces, and adds those to the pool that it lacks', async () => {
    await ask('tags create', { organization_name: 'acme', data: ['team:core'] });
    expect(
      await tag('orders', ['Env:Prod', await idOf('team:core'), 'env:prod', 'tier=1', 'owner=']),
    ).toEqual({
      organization: 'acme',
      tags: ['env:prod', 'team:core', 'tier=1', 'owner='],
    });
    expect(await tag('orders', ['tier=2', 'a'])).toMatchObject({
      tags: ['a', 'env:prod', 'team:core', 'tier=2', 'owner='],
    });
    expect(await pool()).toEqual({ a: 0, 'env:prod': 0, 'team:core': 0 });
    expect(await keys('read', { name: 'pay' })).not.toHaveProperty('tags');
  });

  it.each([
    [['env prod'], 'Tags must only contain letters, numbers, colons, hyphens or underscores'],
    [['-x'], undefined],
    [[''], undefined],
    [['x'.repeat(256)], undefined],
    [['=x'], "Key can't be blank"],
    [['hc:x=1'], 'Key is invalid'],
    [['x=a b'], 'Value is invalid'],
    [['x=1', 'x=2'], 'Key has already been taken'],
    [
      Array.from({ length: 11 }, (_, at) => `k${at}=v`),
      'Tag bindings cannot exceed 10 bindings per resource',
    ],
    [Array.from({ length: 1001 }, (_, at) => `t${at}`), undefined],
    [[], 'missing tags'],
  ])('refuses %j as a whole', async (tags, message) => {
    const { kind, message: said } = await refused(
      tag('orders', ['good', ...tags].slice(tags.length ? 0 : 1)),
    );
    expect(['invalid', 'exists']).toContain(kind);
    if (message !== undefined) expect(said).toBe(message);
    expect(await keys('tags', { name: 'orders' })).toEqual({ tags: [] });
    expect(await pool()).toEqual({});
  });

  it('refuses a tag of another organization, and another organization than that of the key', async () => {
    await ask('tags create', { organization_name: 'other', data: ['theirs'] });
    const theirs = await idOf('theirs', 'other');
    expect(await refused(tag('orders', ['mine', theirs]))).toMatchObject({
      kind: 'not-found',
      message: `tag "${theirs}" not found`,
    });
    expect(await pool()).toEqual({});
    await tag('orders', ['mine']);
    expect(await refused(tag('orders', ['theirs'], 'other'))).toMatchObject({
      kind: 'conflict',
      field: 'organization',
      message: 'the key has tags of the organization acme',
    });
    expect(await refused(keys('untag', { name: 'orders', tags: [theirs] }))).toMatchObject({
      kind: 'not-found',
    });
    await keys('untag', { name: 'orders', tags: ['mine'] });
    expect(await tag('orders', ['theirs'], 'other')).toEqual({ organization: 'other', tags: ['theirs'] });
  });

  it('takes the organization from the key when nobody says one, and a key that has none needs one', async () => {
    expect(await refused(keys('tag', { name: 'orders', tags: ['x'] }))).toMatchObject({
      kind: 'invalid',
      field: 'organization',
      message: 'missing organization',
    });
    await tag('orders', ['x']);
    expect(await keys('tag', { name: 'orders', tags: ['y'] })).toMatchObject({ tags: ['x', 'y'] });
    expect(await refused(tag('nobody', ['x']))).toMatchObject({ kind: 'not-found', field: 'name' });
    expect(await refused(tag('orders', ['x'], 'nobody'))).toMatchObject({ kind: 'not-found' });
  });

  it('wants a right in the pool beside that on the key, and tells nobody else whether there is one', async () => {
    const raw = { name: 'orders', tags: ['x'] };
    const stranger = clerk();
    for (const organization of ['acme', 'nobody']) {
      const { kind, message } = await refused(keys('tag', { ...raw, organization }, stranger));
      expect([kind, message]).toEqual(['not-found', `organization "${organization}" not found`]);
    }
    await keys('tag', { ...raw, organization: 'acme' }, clerk('update api/v2/organizations/acme/tags'));
    expect(await keys('untag', { ...raw }, stranger)).toEqual({ tags: [] });
  });
});

describe('keys untag', () => {
  it('takes tags off a key, passes over what it does not carry, and leaves the pool alone', async () => {
    await tag('orders', ['a', 'b', 'x=1', 'y=1']);
    const taken = await keys('untag', {
      name: 'orders',
      tags: ['A', await idOf('b'), 'x=1', 'y=2', 'never'],
    });
    expect(taken).toEqual({ organization: 'acme', tags: ['y=1'] });
    expect(await keys('untag', { name: 'orders', tags: ['y=1'] })).toEqual({ tags: [] });
    expect(await pool()).toEqual({ a: 0, b: 0 });
    expect(await keys('untag', { name: 'pay', tags: ['a'] })).toEqual({ tags: [] });
    expect(await refused(keys('untag', { name: 'nobody', tags: ['a'] }))).toMatchObject({
      kind: 'not-found',
    });
  });
});

describe('keys read and keys tags', () => {
  it('show whoever may read the key what it carries', async () => {
    await tag('orders', ['env:prod', 'tier=1']);
    const shown = { organization: 'acme', tags: ['env:prod', 'tier=1'] };
    expect(await keys('read', { name: 'orders' }, clerk())).toMatchObject(shown);
    expect(await keys('tags', { name: 'orders' }, clerk())).toEqual(shown);
  });
});

describe('keys list with tags', () => {
  beforeEach(async () => {
    await tag('orders', ['env:prod', 'tier=1']);
    await tag('web', ['env:prod', 'team:core']);
    await tag('pay', ['env:test', 'tier=2']);
  });

  it.each([
    [['env:prod'], ['orders', 'web']],
    [['ENV:PROD', 'team:core'], ['web']],
    [['env:*'], ['orders', 'pay', 'web']],
    [['tier=1'], ['orders']],
    [['tier=*'], ['orders', 'pay']],
    [['tier'], ['orders', 'pay']],
    [['tier', 'env:test'], ['pay']],
    [['nobody'], []],
    [['prod'], []],
  ])('answers for %j the keys %j', async (tags, expected) => {
    expect(await listed(tags)).toEqual(expected);
  });

  it('goes on after a name and stops at the limit, as the whole list does', async () => {
    expect(await listed(['env:*'], { after: 'orders' })).toEqual(['pay', 'web']);
    expect(await listed(['env:*'], { limit: 2 })).toEqual(['orders', 'pay']);
    expect(await listed(['env:*'], { after: 'a', limit: 1 })).toEqual(['orders']);
  });

  it('is of one mount and of one organization', async () => {
    await core.mounts.add('transit', 'second');
    const there = { core, caller: owner, mount: 'second' };
    await run(there, await loadOperation('transit keys create'), { name: 'orders' });
    const asked = { tag: ['env:prod'], organization: 'acme' };
    const { data } = await run(there, await loadOperation('transit keys list'), asked);
    expect(data).toEqual({ keys: [] });
    expect(await listed(['env:prod'], { organization: 'other' })).toEqual([]);
    expect(await refused(keys('list', { tag: ['x'], organization: 'nobody' }))).toMatchObject({
      kind: 'not-found',
    });
    expect(await refused(keys('list', { tag: ['x'] }))).toMatchObject({ field: 'organization' });
  });

  it('keeps nothing of the keys of a mount that was removed', async () => {
    await core.mounts.add('transit', 'second');
    const there = { core, caller: owner, mount: 'second' };
    await run(there, await loadOperation('transit keys create'), { name: 'orders' });
    const raw = { name: 'orders', tags: ['only-there', 'env:prod'], organization: 'acme' };
    await run(there, await loadOperation('transit keys tag'), raw);
    const data = [await idOf('only-there')];
    const prune = { organization_name: 'acme', data, 'filter[unused]': true };
    await ask('tags delete', prune);
    expect(Object.keys(await pool())).toContain('only-there');
    await ask('mounts remove', { path: 'second' });
    await ask('tags delete', prune);
    expect(Object.keys(await pool())).not.toContain('only-there');
    expect(await listed(['env:prod'])).toEqual(['orders', 'web']);
  });

  it('shows a caller those keys alone that he may read, and of no organization whether it is there', async () => {
    const caller = clerk('read transit/keys/web');
    const asked = { tag: ['env:prod'], organization: 'acme' };
    expect(await keys('list', asked, caller)).toEqual({ keys: ['web'] });
    expect(await keys('list', { ...asked, organization: 'nobody' }, caller)).toEqual({ keys: [] });
  });

  it('forgets a key that was deleted, and one that was restored in its place or made anew has none of its tags', async () => {
    await keys('config', { name: 'orders', deletion_allowed: true });
    await keys('delete', { name: 'orders' });
    expect(await listed(['env:prod'])).toEqual(['web']);
    await keys('create', { name: 'orders' });
    expect(await listed(['env:prod'])).toEqual(['web']);
    await keys('config', { name: 'web', exportable: true, allow_plaintext_backup: true });
    const { backup } = await ask('transit backup', { name: 'web' });
    await ask('transit restore', { name: 'web', backup, force: true });
    expect(await listed(['env:prod'])).toEqual([]);
    await tag('web', ['env:prod']);
    expect(await listed(['env:prod'])).toEqual(['web']);
    expect(await listed(['team:core'])).toEqual([]);
  });
});

describe('the pool of an organization', () => {
  it('takes a deleted tag off keys, and a later tag of that name is on none', async () => {
    await tag('orders', ['a', 'b']);
    await ask('tags delete', { organization_name: 'acme', data: [await idOf('a')] });
    expect(await keys('tags', { name: 'orders' })).toMatchObject({ tags: ['b'] });
    await ask('tags create', { organization_name: 'acme', data: ['a'] });
    expect(await listed(['a'])).toEqual([]);
    await ask('tags delete', { organization_name: 'acme', data: [await idOf('b')] });
    expect(await keys('read', { name: 'orders' })).not.toHaveProperty('tags');
    expect(await tag('orders', ['x'], 'other')).toEqual({ organization: 'other', tags: ['x'] });
  });

  it('renames and merges tags on keys as on workspaces', async () => {
    await tag('orders', ['prd', 'prod']);
    await tag('web', ['prd']);
    const merge = { organization_name: 'acme', tag_name: 'prd', name: 'prod', merge: true };
    await ask('tags rename', merge);
    await ask('tags rename', { organization_name: 'acme', tag_name: 'prod', name: 'production' });
    expect(await keys('tags', { name: 'orders' })).toMatchObject({ tags: ['production'] });
    expect(await listed(['production'])).toEqual(['orders', 'web']);
    expect(await pool()).toEqual({ production: 0 });
  });

  it('counts workspaces alone, but a tag that a key carries is not unused', async () => {
    await tag('orders', ['held', 'both']);
    await ask('tags create', { organization_name: 'acme', data: ['free'] });
    const workspace = { organization_name: 'acme', name: 'billing', tags: [{ name: 'both' }] };
    await ask('workspaces create', workspace);
    expect(await pool()).toEqual({ both: 1, free: 0, held: 0 });
    const data = await Promise.all(['both', 'free', 'held'].map((name) => idOf(name)));
    await ask('tags delete', { organization_name: 'acme', data, 'filter[unused]': true });
    expect(await pool()).toEqual({ both: 1, held: 0 });
  });

  it('leaves keys without tags when it is deleted, and nothing of them in the store', async () => {
    await tag('orders', ['a', 'x=1']);
    await ask('orgs delete', { organization_name: 'acme' });
    expect(await keys('tags', { name: 'orders' })).toEqual({ tags: [] });
    expect(await tag('orders', ['b'], 'other')).toMatchObject({ organization: 'other' });
    await ask('orgs delete', { organization_name: 'other' });
    const left = await store.read(async (view) => view.list('tags/deleted-organizations'));
    expect(left).toEqual([]);
  });
});

describe('the use of a key that carries tags', () => {
  it('reads exactly what that of a key without tags reads', async () => {
    const reads: string[] = [];
    const counting: Store = {
      ...boundTo(store),
      read: (work) =>
        store.read((view) =>
          work({
            ...viewOf(view),
            get: (ref) => {
              reads.push(`${ref.collection.split('/')[0]} ${ref.id}`);
              return view.get(ref);
            },
          }),
        ),
    };
    core = openCore(counting);
    const uses = async (): Promise<readonly string[]> => {
      reads.length = 0;
      const { ciphertext } = await ask('transit encrypt', { name: 'orders', plaintext: 'eA==' });
      await ask('transit decrypt', { name: 'orders', ciphertext });
      await ask('transit rewrap', { name: 'orders', ciphertext });
      await ask('transit hmac', { name: 'orders', input: 'eA==' });
      await ask('transit datakey', { name: 'orders', type: 'wrapped' });
      return [...reads];
    };
    const without = await uses();
    await tag('orders', ['a', 'b', 'c', 'x=1']);
    expect(await uses()).toEqual(without);
    expect(without.length).toBeGreaterThan(0);
  });
});

const boundTo = (of: Store): Store => ({
  id: of.id,
  read: (work) => of.read(work),
  transact: (change) => of.transact(change),
  revision: () => of.revision(),
  limitCache: (collection, documents) => of.limitCache(collection, documents),
  close: () => of.close(),
});

const viewOf = (view: Parameters<Parameters<Store['read']>[0]>[0]): typeof view => ({
  get: (ref) => view.get(ref),
  list: (collection, options) => view.list(collection, options),
  key: (purpose) => view.key(purpose),
});
