import { beforeEach, describe, expect, it } from 'vitest';
import { Access } from '../../src/access/access.ts';
import type { TokenRequest } from '../../src/access/token-request.ts';
import { unavailable } from '../../src/ground/errors.ts';
import { systemRandom } from '../../src/ground/random.ts';
import type { Store } from '../../src/store/store.ts';
import { failureOf, openRoom, type Room, tokenRequest } from './room.ts';

let room: Room;
beforeEach(async () => {
  room = await openRoom();
});

const issue = async (wanted: Partial<TokenRequest> = {}): Promise<string> =>
  (await room.access.tokens.create(tokenRequest(wanted), { sudo: true })).text;

const mayRead = async (access: Access, token: string, path = 'a'): Promise<boolean> => {
  const identity = await access.authenticate(token);
  return identity?.acl.allows(path, 'read') ?? false;
};

const NAMES = 'use up to 128 characters, without spaces, "," or "/"';
const READ_A = 'path "a" { capabilities = ["read"] }';

describe('what a token may do', () => {
  it('follows its policies as they are at each request', async () => {
    const token = await issue();
    expect(await mayRead(room.access, token)).toBe(false);
    await room.access.policies.write('app', READ_A);
    expect(await mayRead(room.access, token)).toBe(true);
    await room.access.policies.write('app', 'path "b" { capabilities = ["read"] }');
    expect(await mayRead(room.access, token)).toBe(false);
    expect(await mayRead(room.access, token, 'b')).toBe(true);
    await room.access.policies.delete('app');
    expect(await mayRead(room.access, token, 'b')).toBe(false);
  });

  it('is the union of its policies, the default one included', async () => {
    await room.access.policies.write('app', READ_A);
    await room.access.policies.write('more', 'path "a" { capabilities = ["list"] }');
    const identity = await room.access.authenticate(await issue({ policies: ['app', 'more'] }));
    expect(identity?.policies).toEqual(['app', 'default', 'more']);
    expect(identity?.acl.capabilities('a')).toEqual(['list', 'read']);
    expect(identity?.acl.capabilities('auth/token/renew-self')).toEqual(['update']);
  });

  it('is everything for root', async () => {
    const identity = await room.access.authenticate(await issue({ policies: [] }));
    expect(identity?.acl.capabilities('a')).toEqual(['root']);
  });

  it('is seen the same way by another process at once', async () => {
    const other = new Access({ store: room.store, clock: room.clock, random: systemRandom });
    await room.access.policies.write('app', READ_A);
    const issued = await room.access.tokens.create(tokenRequest(), { sudo: true });
    for (let i = 0; i < 100; i++) {
      expect(await mayRead(other, issued.text)).toBe(true);
      await room.access.policies.write('app', 'path "a" { capabilities = ["deny"] }');
      expect(await mayRead(other, issued.text)).toBe(false);
      await room.access.policies.write('app', READ_A);
    }
    await room.access.tokens.revoke(issued.accessor);
    expect(await mayRead(other, issued.text)).toBe(false);
  });
});

/** Counts what is asked of a store. */
function counting(store: Store): Store & { readonly asked: { reads: number; transactions: number } } {
  const asked = { reads: 0, transactions: 0 };
  return {
    id: store.id,
    asked,
    read: (read) => {
      asked.reads++;
      return store.read(read);
    },
    transact: (change) => {
      asked.transactions++;
      return store.transact(change);
    },
    revision: () => store.revision(),
    limitCache: () => {},
    close: () => store.close(),
  };
}

describe('authenticating', () => {
  it('neither reads nor writes while nothing changes', async () => {
    const store = counting(room.store);
    const access = new Access({ store, clock: room.clock, random: systemRandom });
    const token = await issue();
    const first = await access.authenticate(token);
    const before = { ...store.asked };
    for (let i = 0; i < 100; i++) expect(await access.authenticate(token)).toBe(first);
    expect(store.asked).toEqual(before);
    expect(store.asked.transactions).toBe(0);
  });

  it('keeps what it compiled when something else in the store changes', async () => {
    const token = await issue();
    const before = await room.access.authenticate(token);
    await room.store.transact((tx) => tx.put({ collection: 'else', id: 'where' }, {}));
    const after = await room.access.authenticate(token);
    expect(after?.acl).toBe(before?.acl);
  });

  it('does not remember an identity read before a change that came in between', async () => {
    await room.access.policies.write('app', READ_A);
    const token = await issue();
    let interfere: (() => Promise<void>) | undefined;
    const store: Store = {
      ...counting(room.store),
      async read(read) {
        const result = await room.store.read(read);
        await interfere?.();
        return result;
      },
    };
    const access = new Access({ store, clock: room.clock, random: systemRandom });
    interfere = async () => {
      interfere = undefined;
      await room.access.policies.delete('app');
      // Another request of the same process notices the change first.
      await access.authenticate('cfr.unknown');
    };
    // This request began before the change; the next one must see it.
    expect(await mayRead(access, token)).toBe(true);
    expect(await mayRead(access, token)).toBe(false);
  });
});

describe('a token with counted uses', () => {
  it('is good for so many requests, whoever serves them', async () => {
    const token = await issue({ numUses: 3 });
    const other = new Access({ store: room.store, clock: room.clock, random: systemRandom });
    expect(await room.access.authenticate(token)).toBeDefined();
    expect(await other.authenticate(token)).toBeDefined();
    const last = await room.access.authenticate(token);
    expect(last).toBeDefined();
    expect(await room.access.authenticate(token)).toBeUndefined();
    expect(await other.authenticate(token)).toBeUndefined();
    // The request that had the last use can still look the token up.
    expect((await room.access.tokens.get(last?.accessor ?? ''))?.token.usesLeft).toBe(0);
    expect(await room.access.identify({ token })).toBeUndefined();
  });

  it('is good for no more when requests come at the same time', async () => {
    const token = await issue({ numUses: 5 });
    const results = await Promise.all(Array.from({ length: 20 }, () => room.access.authenticate(token)));
    expect(results.filter((identity) => identity !== undefined)).toHaveLength(5);
  });

  it('is no token that is not good where its use can not be written down, but no answer at all', async () => {
    const token = await issue({ numUses: 2 });
    const full = { ...counting(room.store), transact: () => Promise.reject(unavailable('full')) };
    const access = new Access({ store: full, clock: room.clock, random: systemRandom });
    expect(await failureOf(async () => access.authenticate(token))).toEqual(['unavailable', 'full']);
    expect(await room.access.authenticate(token)).toBeDefined();
  });

  it('loses none when it is only asked about', async () => {
    const token = await issue({ numUses: 1 });
    expect(await room.access.identify({ token })).toBeDefined();
    expect(await room.access.authenticate(token)).toBeDefined();
  });
});

describe('policies', () => {
  it('are kept as written', async () => {
    const text = '# äöü\r\n\tpath "a" {capabilities=["read"]}\n\n';
    await room.access.policies.write('App', text);
    expect(await room.access.policies.read('app')).toBe(text);
    expect(await room.access.policies.read('APP')).toBe(text);
  });

  it('may arrive in base64', async () => {
    await room.access.policies.write('app', Buffer.from(READ_A).toString('base64'));
    expect(await room.access.policies.read('app')).toBe(READ_A);
  });

  it('are listed by name, with root at the end and default always', async () => {
    expect(await room.access.policies.list()).toEqual(['default', 'root']);
    await room.access.policies.write('zeta', READ_A);
    await room.access.policies.write('alpha', READ_A);
    await room.access.policies.write('default', READ_A);
    expect(await room.access.policies.list()).toEqual(['alpha', 'default', 'zeta', 'root']);
  });

  it('called default can be changed for all tokens that have it', async () => {
    const token = await issue();
    await room.access.policies.write('default', READ_A);
    expect(await mayRead(room.access, token)).toBe(true);
    expect(await mayRead(room.access, await issue({ noDefaultPolicy: true }))).toBe(false);
  });

  it('that are not there are undefined, and deleting them changes nothing', async () => {
    expect(await room.access.policies.read('gone')).toBeUndefined();
    expect(await room.access.policies.read('root')).toBe('');
    expect(await room.access.policies.delete('gone')).toBe(false);
  });

  it('warn of a name that was changed', async () => {
    expect(await room.access.policies.write('App', READ_A)).toEqual(['policy name was converted to app']);
    expect(await room.access.policies.write('app', READ_A)).toEqual([]);
  });

  it.each([
    ['root', READ_A, 'cannot update "root" policy'],
    ['a', '', "'policy' parameter not supplied or empty"],
    [
      'a',
      'path',
      'failed to parse policy: line 1, column 5: expected "=" or "{" after path, found the end of the policy',
    ],
    ['', READ_A, `policy name "" is not allowed: ${NAMES}`],
    ['a,b', READ_A, `policy name "a,b" is not allowed: ${NAMES}`],
    ['a/b', READ_A, `policy name "a/b" is not allowed: ${NAMES}`],
    ['a\nb', READ_A, `policy name "a\\nb" is not allowed: ${NAMES}`],
    ['x'.repeat(129), READ_A, `policy name "${'x'.repeat(129)}" is not allowed: ${NAMES}`],
  ])('are refused with the name %j and the text %j', async (name, text, problem) => {
    expect(await failureOf(() => room.access.policies.write(name, text))).toEqual(['invalid', problem]);
  });

  it('may have a name of 128 characters', async () => {
    const name = 'x'.repeat(128);
    expect(await room.access.policies.write(name, READ_A)).toEqual([]);
    expect(await room.access.policies.read(name)).toBe(READ_A);
  });

  it.each([
    ['root', 'cannot delete "root" policy'],
    ['response-wrapping', 'cannot delete "response-wrapping" policy'],
    ['default', 'cannot delete default policy'],
  ])('can not lose the one called %s', async (name, problem) => {
    expect(await failureOf(() => room.access.policies.delete(name))).toEqual(['invalid', problem]);
  });
});
