import { beforeEach, describe, expect, it } from 'vitest';
import { Access } from '../../src/access/access.ts';
import { endBatchTokens } from '../../src/access/batch-tokens.ts';
import { MAX_TTL_SECONDS } from '../../src/access/token.ts';
import type { TokenRequest } from '../../src/access/token-request.ts';
import type { IssuedToken } from '../../src/access/tokens.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { rekey } from '../../src/store/administration/slots.ts';
import { failureOf, openRoom, type Room, tokenRequest } from './room.ts';

let room: Room;
beforeEach(async () => {
  room = await openRoom();
});

const issue = (wanted: Partial<TokenRequest> = {}, parent?: IssuedToken): Promise<IssuedToken> =>
  room.access.tokens.create(
    tokenRequest({ kind: 'batch', ...wanted }),
    parent === undefined ? { sudo: true } : { accessor: parent.accessor, sudo: true },
  );

const isGood = async ({ text }: Pick<IssuedToken, 'text'>): Promise<boolean> =>
  (await room.access.authenticate(text)) !== undefined;

/** Paths, with their final slashes, of which tokens are noted to have ended. */
const ends = async (): Promise<readonly string[] | undefined> => {
  const ref = { collection: 'access/batch-tokens', id: 'ended' };
  const noted = await room.store.read((view) => view.get<{ paths: { prefix: string }[] }>(ref));
  return noted?.paths.map(({ prefix }) => prefix);
};

const end = (path: string) => room.store.transact((tx) => endBatchTokens(tx, path, room.clock.now()));

describe('a batch token', () => {
  it('writes nothing, and is known to whoever has the store open', async () => {
    const before = await room.store.revision();
    const token = await issue({ meta: { team: 'x' }, displayName: 'ci' });
    expect(await room.store.revision()).toBe(before);
    expect(token.text).toMatch(/^b\.[A-Za-z0-9_-]{130,300}$/);
    const elsewhere = new Access({ store: room.store, clock: room.clock, random: systemRandom });
    expect(await elsewhere.authenticate(token.text)).toMatchObject({
      accessor: '',
      displayName: 'token-ci',
      policies: ['app', 'default'],
    });
    expect((await elsewhere.tokens.find(token.text))?.token).toEqual({
      ...token.token,
      meta: { team: 'x' },
      path: 'auth/token/create',
    });
    expect(await room.access.tokens.list()).toEqual([]);
  });

  it('is told from others also before it is used, so that none takes what another one may have under way', async () => {
    const [one, other] = [await issue(), await issue()];
    const known = await room.access.authenticate(one.text);
    expect((await room.access.identify({ token: one.text }))?.batch).toBe(known?.batch);
    expect((await room.access.identify({ token: other.text }))?.batch).not.toBe(known?.batch);
  });

  it('has another text each time, of which every character counts', async () => {
    const { text } = await issue();
    expect((await issue()).text).not.toBe(text);
    for (let at = 0; at < text.length; at++) {
      const changed = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
      expect(await isGood({ text: changed })).toBe(false);
    }
    for (const changed of [
      `${text}A`,
      `${text}=`,
      text.slice(0, -1),
      ` ${text}`,
      `b.${text}`,
      'b.',
      'b.AQ',
    ]) {
      expect(await isGood({ text: changed })).toBe(false);
    }
    expect(await isGood({ text })).toBe(true);
  });

  it('is none of another store', async () => {
    const { text } = await issue();
    const other = await openRoom();
    expect(await other.access.authenticate(text)).toBeUndefined();
  });

  it('ends with its time, though it is remembered', async () => {
    const token = await issue({ ttl: 60 });
    room.clock.pass(59);
    expect(await isGood(token)).toBe(true);
    room.clock.pass(1);
    expect(await isGood(token)).toBe(false);
    expect(await room.access.tokens.find(token.text)).toBeUndefined();
  });

  it('ends with the token that issued it, and with that one’s own', async () => {
    const grand = await issue({ kind: 'service' });
    const parent = await issue({ kind: 'service' }, grand);
    const [child, orphan] = [await issue({}, parent), await issue({ orphan: 'asked' }, parent)];
    expect([await isGood(child), await isGood(orphan)]).toEqual([true, true]);
    await room.access.tokens.revoke(grand.accessor);
    expect([await isGood(child), await isGood(orphan)]).toEqual([false, true]);
  });

  it.each(['batch', 'service'] as const)(
    'does not come back with another token of its issuer’s text (%s)',
    async (kind) => {
      const first = await issue({ kind: 'service', id: 'chosen' });
      const child = await issue({ kind }, first);
      await room.access.tokens.revoke(first.accessor);
      const second = await issue({ kind: 'service', id: 'chosen' });
      expect(second.accessor).toBe(first.accessor);
      expect([await isGood(second), await isGood(child)]).toEqual([true, false]);
    },
  );

  it('ends with a rekey, in every process', async () => {
    const token = await issue();
    const elsewhere = new Access({ store: room.store, clock: room.clock, random: systemRandom });
    expect(await elsewhere.authenticate(token.text)).toBeDefined();
    await rekey(room.store);
    expect(await isGood(token)).toBe(false);
    expect(await elsewhere.authenticate(token.text)).toBeUndefined();
    expect(await isGood(await issue())).toBe(true);
  });

  it('loses what its policies lose', async () => {
    await room.access.policies.write('app', 'path "a" { capabilities = ["read"] }');
    const { text } = await issue();
    expect((await room.access.authenticate(text))?.acl.allows('a', 'read')).toBe(true);
    await room.access.policies.delete('app');
    expect((await room.access.authenticate(text))?.acl.allows('a', 'read')).toBe(false);
  });

  it('is bound to the addresses of its issuer', async () => {
    const { access } = room;
    await access.roles.write('near', { token_bound_cidrs: ['10.0.0.0/8'], allowed_policies: ['app'] });
    const { text } = await issue({ role: 'near' });
    expect(await access.authenticate(text, undefined, '10.1.2.3')).toBeDefined();
    expect(await access.authenticate(text, undefined, '192.0.2.1')).toBeUndefined();
    expect(await access.authenticate(text)).toBeUndefined();
  });

  it('is no wrapping token, and opens nothing', async () => {
    const { text } = await issue();
    const wrapped = await room.access.wrapping.wrap({ answer: '{}', ttl: 60, path: 'a' });
    expect(await room.access.wrapping.find(text)).toBeUndefined();
    expect(await room.access.wrapping.take({ text })).toBeUndefined();
    expect(await room.access.wrapping.take({ accessor: '' })).toBeUndefined();
    expect(await room.access.wrapping.find(wrapped.text)).toBeDefined();
  });

  it.each<[Partial<TokenRequest>, string]>([
    [{ explicitMaxTtl: 5, numUses: 1 }, 'batch tokens cannot have "explicit_max_ttl" set'],
    [{ numUses: 1, period: 1 }, 'batch tokens cannot have "num_uses" set'],
    [{ period: 1 }, 'batch tokens cannot have "period" set'],
    [{ policies: ['root'] }, 'batch tokens cannot be root tokens'],
    [{ policies: [] }, 'batch tokens cannot be root tokens'],
    [{ policies: ['response-wrapping'] }, 'cannot assign policy "response-wrapping"'],
  ])('can not be asked for as %j', async (wanted, text) => {
    expect(await failureOf(() => issue(wanted))).toEqual(['invalid', text]);
  });

  it('issues no tokens', async () => {
    const make = room.access.tokens.create(tokenRequest(), { accessor: '', sudo: true });
    expect(await failureOf(() => make)).toEqual(['invalid', 'batch tokens cannot create more tokens']);
  });

  it('is refused where headers would have no room for it: above 4,096 characters', async () => {
    const noted = (length: number) => issue({ meta: { note: 'x'.repeat(length) } });
    const { length } = (await noted(2700)).text;
    // Three bytes are four characters.
    const longest = 2700 + Math.floor(((4096 - length) * 3) / 4);
    const token = await noted(longest);
    expect(token.text).toHaveLength(4096);
    expect(await isGood(token)).toBe(true);
    expect(await failureOf(() => noted(longest + 1))).toEqual([
      'too-large',
      'the batch token would be longer than 4096 characters',
    ]);
  });
});

describe('batch tokens of a path', () => {
  it('end at once, those made from then on hold', async () => {
    const path = 'auth/token/create/ci';
    const [before, other] = [await issue({ path }), await issue({ path: 'auth/token/create/cinema' })];
    expect(await isGood(before)).toBe(true);
    await end(path);
    expect([await isGood(before), await isGood(other)]).toEqual([false, true]);
    const after = await issue({ path });
    expect(await isGood(after)).toBe(true);
    await end('auth');
    expect([await isGood(after), await isGood(other)]).toEqual([false, false]);
    expect(await isGood(await issue({ path }))).toBe(true);
  });

  it('end everywhere where no path is named, and what was noted of paths before is of no use then', async () => {
    const tokens = await Promise.all(['a', 'b/c'].map((path) => issue({ path })));
    await end('b');
    expect(await Promise.all(tokens.map(isGood))).toEqual([true, false]);
    room.clock.pass(1);
    await end('');
    expect(await Promise.all(tokens.map(isGood))).toEqual([false, false]);
    expect(await ends()).toEqual(['']);
  });

  it('are noted no longer than any of them could still hold', async () => {
    await end('a');
    room.clock.pass(MAX_TTL_SECONDS);
    room.clock.ms -= 1;
    await end('b');
    expect(await ends()).toEqual(['a/', 'b/']);
    room.clock.ms += 1;
    await end('c');
    expect(await ends()).toEqual(['b/', 'c/']);
  });

  it('end although somebody set the clock back', async () => {
    const token = await issue();
    room.clock.pass(-86_400);
    await end('auth/token');
    expect(await isGood(token)).toBe(false);
    const later = await issue();
    await end('auth/token');
    expect(await isGood(later)).toBe(false);
  });

  it('end all together past a thousand paths: rather too many than one too few', async () => {
    const token = await issue({ path: 'auth/elsewhere/login' });
    for (let index = 0; index < 1000; index++) await end(`auth/path-${index}`);
    expect(await isGood(token)).toBe(true);
    await end('auth/one-more');
    expect(await isGood(token)).toBe(false);
    expect(await isGood(await issue())).toBe(true);
  });
});
