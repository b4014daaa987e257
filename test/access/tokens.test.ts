import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Login } from '../../src/access/login/login-token.ts';
import { NO_SETTINGS } from '../../src/access/login/token-settings.ts';
import { jwtMounts } from '../../src/access/methods/jwt/mount-type.ts';
import type { TokenRequest } from '../../src/access/token-request.ts';
import type { IssuedToken } from '../../src/access/tokens.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { Mount } from '../../src/mounts/mount.ts';
import { Mounts } from '../../src/mounts/mounts.ts';
import { failureOf, openRoom, type Room, tokenRequest } from './room.ts';

let room: Room;
beforeEach(async () => {
  room = await openRoom();
});

const issue = (wanted: Partial<TokenRequest> = {}, parent?: IssuedToken): Promise<IssuedToken> =>
  room.access.tokens.create(
    tokenRequest(wanted),
    parent === undefined ? { sudo: true } : { accessor: parent.accessor, sudo: false },
  );

const works = async ({ text }: IssuedToken): Promise<boolean> =>
  (await room.access.authenticate(text)) !== undefined;

describe('a token', () => {
  it('is 256 random bits behind a prefix, and its accessor does not contain it', async () => {
    const [a, b] = [await issue(), await issue()];
    expect(a.text).toMatch(/^cfr\.[A-Za-z0-9_-]{43}$/);
    expect(a.accessor).toMatch(/^[0-9a-f]{40}$/);
    expect(a.text).not.toBe(b.text);
    expect(a.accessor).not.toBe(b.accessor);
  });

  it('is known by its text alone, not by its accessor or anything near it', async () => {
    const token = await issue();
    expect((await room.access.authenticate(token.text))?.accessor).toBe(token.accessor);
    for (const text of [
      token.accessor,
      '',
      token.text.slice(0, -1),
      `${token.text}x`,
      token.text.toUpperCase(),
      'x'.repeat(100_000),
    ]) {
      expect(await room.access.authenticate(text)).toBeUndefined();
    }
  });

  it('is not known in a store that never made one', async () => {
    expect(await room.access.authenticate('cfr.nothing')).toBeUndefined();
    expect(await room.access.tokens.list()).toEqual([]);
  });

  it('warns about policies that do not exist', async () => {
    await room.access.policies.write('app', 'path "a" { capabilities = ["read"] }');
    expect((await issue({ policies: ['app', 'gone'] })).warnings).toEqual(['Policy "gone" does not exist']);
  });
});

describe('the store', () => {
  it('holds neither tokens nor anything of them in a document of another name', async () => {
    const issued = await Promise.all([1, 2, 3].map(() => issue({ id: '' })));
    const documents = await room.store.read(async (view) => {
      const accessors = await view.list('access/tokens');
      return Promise.all(accessors.map((id) => view.get({ collection: 'access/tokens', id })));
    });
    const written = JSON.stringify(documents);
    expect(documents).toHaveLength(3);
    for (const { text } of issued) {
      expect(written).not.toContain(text);
      expect(written).not.toContain(text.slice(4, 20));
    }
  });
});

describe('time', () => {
  it('ends a token at once, without anything being written', async () => {
    const token = await issue({ ttl: 60 });
    const revision = await room.store.revision();
    room.clock.pass(59);
    expect(await works(token)).toBe(true);
    room.clock.pass(1);
    expect(await works(token)).toBe(false);
    expect(await room.access.tokens.find(token.text)).toBeUndefined();
    expect(await room.access.tokens.list()).toEqual([]);
    expect(await room.store.revision()).toBe(revision);
  });

  it('ends what a token issued together with it, however long that was to live', async () => {
    const parent = await issue({ ttl: 60 });
    const child = await issue({ ttl: 3600 }, parent);
    const orphan = await issue({ ttl: 3600, orphan: 'by-path' }, parent);
    expect(await works(child)).toBe(true);
    room.clock.pass(60);
    expect(await works(child)).toBe(false);
    expect(await works(orphan)).toBe(true);
  });

  it('is pushed on by renewal up to the maximum', async () => {
    const token = await issue({ ttl: 3600, explicitMaxTtl: 5400 });
    room.clock.pass(3000);
    const renewed = await room.access.tokens.renew(token.accessor, 0);
    expect(renewed.warnings).toEqual([
      'TTL of "1h" exceeded the effective max_ttl of "40m"; TTL value is capped accordingly',
    ]);
    room.clock.pass(2399);
    expect(await works(token)).toBe(true);
    room.clock.pass(1);
    expect(await works(token)).toBe(false);
    expect(await failureOf(() => room.access.tokens.renew(token.accessor, 0))).toEqual([
      'invalid',
      'token not found',
    ]);
  });

  it('is pushed on for ever for a periodic token', async () => {
    const token = await issue({ period: 3600 });
    for (let i = 0; i < 2000; i++) {
      room.clock.pass(3599);
      await room.access.tokens.renew(token.accessor, 7_000_000);
    }
    expect(await works(token)).toBe(true);
    room.clock.pass(3600);
    expect(await works(token)).toBe(false);
  });

  it('that is left can be shortened by a renewal', async () => {
    const token = await issue({ ttl: 3600 });
    await room.access.tokens.renew(token.accessor, 5);
    room.clock.pass(5);
    expect(await works(token)).toBe(false);
  });

  it('does not matter to a root token, which can not be renewed either', async () => {
    const token = await issue({ policies: ['root'] });
    room.clock.pass(1e9);
    expect(await works(token)).toBe(true);
    expect(await failureOf(() => room.access.tokens.renew(token.accessor, 60))).toEqual([
      'invalid',
      'lease is not renewable',
    ]);
  });

  it('is not renewed for a token that was made not to be', async () => {
    const token = await issue({ renewable: false });
    expect(await failureOf(() => room.access.tokens.renew(token.accessor, 60))).toEqual([
      'invalid',
      'lease is not renewable',
    ]);
  });
});

describe('revoking', () => {
  it('ends a token and all generations below it, and nobody else', async () => {
    const other = await issue();
    const parent = await issue();
    const child = await issue({}, parent);
    const grandchild = await issue({}, child);
    const orphan = await issue({ orphan: 'by-path' }, child);
    const sibling = await issue({}, parent);
    expect(await room.access.tokens.revoke(child.accessor)).toBe(true);
    expect(await Promise.all([other, parent, child, grandchild, orphan, sibling].map(works))).toEqual([
      true,
      true,
      false,
      false,
      true,
      true,
    ]);
    expect(await room.access.tokens.revoke(child.accessor)).toBe(false);
  });

  it('can leave alone what the token issued', async () => {
    const parent = await issue();
    const child = await issue({}, parent);
    const grandchild = await issue({}, child);
    await room.access.tokens.revokeAlone(parent.accessor);
    expect(await Promise.all([parent, child, grandchild].map(works))).toEqual([false, true, true]);
    expect((await room.access.tokens.get(child.accessor))?.token.parent).toBeUndefined();
    expect(await failureOf(() => room.access.tokens.revokeAlone(parent.accessor))).toEqual([
      'invalid',
      'token to revoke not found',
    ]);
  });

  it('of one alone lets what another token of the same text issued stay dead', async () => {
    const first = await issue({ id: 'mine' });
    const child = await issue({}, first);
    await room.access.tokens.revoke(first.accessor);
    const second = await issue({ id: 'mine' });
    const later = await issue({}, second);
    await room.access.tokens.revokeAlone(second.accessor);
    expect(await Promise.all([first, child, later].map(works))).toEqual([false, false, true]);
  });

  it('of one alone lets what it issues meanwhile live on', async () => {
    const parent = await issue();
    const { tokens } = room.access;
    const transact = room.store.transact.bind(room.store);
    let late: Awaited<ReturnType<typeof issue>> | undefined;
    vi.spyOn(room.store, 'transact').mockImplementationOnce(async (change) => {
      late = await issue({}, parent);
      return transact(change);
    });
    await tokens.revokeAlone(parent.accessor);
    expect(late && (await works(late))).toBe(true);
  });

  it('of one alone is refused where somebody else revoked it meanwhile, and leaves its children dead', async () => {
    const parent = await issue();
    const child = await issue({}, parent);
    const transact = room.store.transact.bind(room.store);
    vi.spyOn(room.store, 'transact').mockImplementationOnce(async (change, options) => {
      await room.access.tokens.revoke(parent.accessor);
      return transact(change, options);
    });
    expect(await failureOf(() => room.access.tokens.revokeAlone(parent.accessor))).toEqual([
      'invalid',
      'token to revoke not found',
    ]);
    expect(await works(child)).toBe(false);
    expect((await room.access.tokens.get(child.accessor))?.token.parent).toBeUndefined();
  });

  it('keeps a token from issuing more', async () => {
    const parent = await issue();
    await room.access.tokens.revoke(parent.accessor);
    expect(await failureOf(() => issue({}, parent))).toEqual([
      'invalid',
      'parent token lookup failed: no parent found',
    ]);
  });
});

describe('a text chosen by the caller', () => {
  it('is a token like others', async () => {
    const token = await issue({ id: 'my-own-token' });
    expect(token.text).toBe('my-own-token');
    expect(await works(token)).toBe(true);
  });

  it('is taken only once at a time', async () => {
    await issue({ id: 'mine' });
    expect(await failureOf(() => issue({ id: 'mine' }))).toEqual([
      'invalid',
      'cannot create a token with a duplicate ID',
    ]);
  });

  it('does not bring back what an earlier token of that text issued', async () => {
    const first = await issue({ id: 'mine' });
    const child = await issue({}, first);
    const grandchild = await issue({}, child);
    await room.access.tokens.revoke(first.accessor);
    const second = await issue({ id: 'mine' });
    expect(second.accessor).toBe(first.accessor);
    expect(await Promise.all([second, child, grandchild].map(works))).toEqual([true, false, false]);
  });

  it('can be used again once the token expired', async () => {
    await issue({ id: 'mine', ttl: 60 });
    room.clock.pass(60);
    expect(await works(await issue({ id: 'mine' }))).toBe(true);
  });

  it('may have 1,024 characters', async () => {
    const token = await issue({ id: 'x'.repeat(1024) });
    expect(token.text).toBe('x'.repeat(1024));
    expect(await works(token)).toBe(true);
  });

  it('is refused when it is longer than any token', async () => {
    expect(await failureOf(() => issue({ id: 'x'.repeat(1025) }))).toEqual([
      'invalid',
      'custom token ID is too long',
    ]);
  });
});

describe('a use', () => {
  it('is not counted of a token that has none left, that is gone, or whose uses nobody counts', async () => {
    const { tokens } = room.access;
    const limited = await issue({ numUses: 1 });
    await tokens.consume(limited.accessor);
    const gone = await issue({ numUses: 2 });
    await tokens.revoke(gone.accessor);
    for (const { accessor } of [limited, gone, await issue()]) {
      expect(await failureOf(() => tokens.consume(accessor))).toEqual(['denied', 'permission denied']);
    }
  });
});

const loginAt = (mount: Mount, token_type: 'service' | 'batch'): Login => ({
  mount,
  path: `${mount.path}/login`,
  meta: {},
  settings: { ...NO_SETTINGS, token_type },
  role: { collection: 'roles', id: 'r' },
  name: 'r',
});

describe('a login', () => {
  it.each(['service', 'batch'] as const)(
    'by a mount that was removed meanwhile gets no %s token',
    async (token_type) => {
      const mount = {
        type: 'jwt',
        path: 'auth/jwt',
        uuid: 'gone',
        description: '',
        accessor: '',
        options: {},
      };
      const made = loginAt(mount, token_type);
      const enter = (changes: boolean) => () =>
        room.access.tokens.login(async (tx) => {
          if (changes) tx.put({ collection: 'roles', id: 'r' }, {});
          return made;
        });
      for (const changes of [false, true]) {
        expect(await failureOf(enter(changes))).toEqual(['denied', 'permission denied']);
      }
      expect(await room.access.tokens.list()).toEqual([]);
    },
  );

  it.each(['service', 'batch'] as const)(
    'by a mount that was moved meanwhile gets no %s token',
    async (token_type) => {
      const mounts = new Mounts(room.store, systemRandom, jwtMounts);
      const mount = await mounts.add('jwt', 'auth/here');
      await mounts.move('auth/here', 'auth/there');
      expect(await failureOf(() => room.access.tokens.login(async () => loginAt(mount, token_type)))).toEqual(
        ['denied', 'permission denied'],
      );
      expect(await room.access.tokens.list()).toEqual([]);
    },
  );
});

describe('generations', () => {
  it('of tokens that issued each other are bounded', async () => {
    let last = await issue();
    for (let i = 1; i < 32; i++) last = await issue({}, last);
    expect(await works(last)).toBe(true);
    expect(await failureOf(() => issue({}, last))).toEqual([
      'invalid',
      'child tokens can be nested at most 32 levels deep',
    ]);
  });
});

describe('the sweep', () => {
  it('removes what holds no more and keeps the rest', async () => {
    const kept = await issue();
    const parent = await issue();
    await issue({}, parent);
    await issue({ ttl: 60 });
    const limited = await issue({ numUses: 1 });
    await works(limited);
    await room.access.tokens.revoke(parent.accessor);
    room.clock.pass(60);
    expect(await room.access.tokens.sweep()).toBe(3);
    expect(await room.access.tokens.sweep()).toBe(0);
    const left = await room.store.read((view) => view.list('access/tokens'));
    expect(left).toEqual([kept.accessor]);
  });
});
