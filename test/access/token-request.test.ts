import { describe, expect, it } from 'vitest';
import type { Token } from '../../src/access/token.ts';
import { buildToken, type TokenCreator, type TokenRequest } from '../../src/access/token-request.ts';
import { failureOf, tokenRequest } from './room.ts';

const NOW = 1_767_323_045_678;
const owner: TokenCreator = { sudo: true };

const parent = (token: Partial<Token>, sudo = false): TokenCreator => ({
  sudo,
  record: {
    accessor: 'parent',
    token: { ...buildToken(tokenRequest({ policies: ['app', 'other'] }), owner, NOW).token, ...token },
  },
});

const policiesOf = (request: Partial<TokenRequest>, creator: TokenCreator): readonly string[] =>
  buildToken(tokenRequest(request), creator, NOW).token.policies;

describe('the policies of a new token', () => {
  it.each([
    [
      'are sorted, in lower case, once each, with default',
      { policies: ['b', 'A ', 'a', ''] },
      owner,
      ['a', 'b', 'default'],
    ],
    [
      'are without default when that is said',
      { policies: ['a', 'default'], noDefaultPolicy: true },
      owner,
      ['a'],
    ],
    ['are root alone when root is among them', { policies: ['a', 'root'] }, owner, ['root']],
    ['are root when the owner names none', { policies: [] }, owner, ['root']],
    ['are not root when the owner gives an empty name', { policies: [''] }, owner, ['default']],
    [
      'are none when an empty name is given without default',
      { policies: [' '], noDefaultPolicy: true },
      owner,
      [],
    ],
    ['are not those of the creator when an empty name is given', { policies: [''] }, parent({}), ['default']],
    [
      'are those of the creator when none is named',
      { policies: [] },
      parent({}),
      ['app', 'default', 'other'],
    ],
    [
      'are inherited without a default that was not there',
      { policies: [] },
      parent({ policies: ['app'] }),
      ['app'],
    ],
    [
      'are inherited but for default when that is said',
      { policies: [], noDefaultPolicy: true },
      parent({}),
      ['app', 'other'],
    ],
    ['may be a part of those of the creator', { policies: ['other'] }, parent({}), ['default', 'other']],
    [
      'are a part without default when the creator has none',
      { policies: ['app'] },
      parent({ policies: ['app'] }),
      ['app'],
    ],
    ['may be any others with sudo', { policies: ['x'] }, parent({}, true), ['default', 'x']],
  ])('%s, when the request is %j', (_, request, creator, policies) => {
    expect(policiesOf(request, creator)).toEqual(policies);
  });
});

describe('a request for a token', () => {
  it.each([
    [
      'for policies beyond the creator',
      { policies: ['x'] },
      parent({}),
      'child policies must be subset of parent',
    ],
    [
      'for policies of the creator and one beyond them',
      { policies: ['app', 'other', 'x'] },
      parent({}),
      'child policies must be subset of parent',
    ],
    ['for root without sudo', { policies: ['root'] }, parent({}), 'child policies must be subset of parent'],
    [
      'for root with sudo alone',
      { policies: ['root'] },
      parent({}, true),
      'root tokens may not be created without parent token being root',
    ],
    [
      'from a token whose uses are counted',
      {},
      parent({ usesLeft: 5 }, true),
      'restricted use token cannot generate child tokens',
    ],
    ['for fewer than no uses', { numUses: -1 }, owner, 'number of uses cannot be negative'],
    [
      'for an orphan without sudo',
      { orphan: 'asked' as const },
      parent({}),
      'root or sudo privileges required to create orphan token',
    ],
    [
      'for a period without sudo',
      { period: 60 },
      parent({}),
      'root or sudo privileges required to create periodic token',
    ],
    [
      'for a chosen text without sudo',
      { id: 'mine' },
      parent({}),
      'root or sudo privileges required to specify token id',
    ],
    [
      'for a text that looks like a made one',
      { id: 'hvs.mine' },
      owner,
      "custom token ID cannot have the 'hvs.' prefix",
    ],
    ['for a text with a dot', { id: 'my.own' }, owner, "custom token ID cannot have a '.' in the value"],
    [
      'for an endless root token from one that ends',
      { policies: ['root'] },
      parent({ policies: ['root'] }, true),
      'expiring root tokens cannot create non-expiring root tokens',
    ],
  ])('is refused %s', async (_, request, creator, text) => {
    expect(await failureOf(() => buildToken(tokenRequest(request), creator, NOW))).toEqual(['invalid', text]);
  });
});

describe('what a token carries', () => {
  const request = (wanted: Partial<TokenRequest>) => buildToken(tokenRequest(wanted), owner, NOW);

  it('may be 256 policies, with names of 128 characters', async () => {
    const policies = (count: number, length = 128) =>
      Array.from({ length: count }, (_, index) => `${index}`.padStart(length, 'p')).sort();
    const noDefaultPolicy = true;
    expect(request({ policies: policies(256), noDefaultPolicy }).token.policies).toEqual(policies(256));
    expect(await failureOf(() => request({ policies: policies(257), noDefaultPolicy }))).toEqual([
      'invalid',
      'a token can have at most 256 policies, not 257',
    ]);
    expect(await failureOf(() => request({ policies: policies(1, 129) }))).toEqual([
      'invalid',
      'the name of a policy can have at most 128 characters, not 129',
    ]);
  });

  it('may be a display name of 512 characters and metadata of 16 KiB', () => {
    const meta = { note: 'x'.repeat(16 * 1024 - 4) };
    const { token } = request({ displayName: 'n'.repeat(512), meta });
    expect(token.displayName).toBe(`token-${'n'.repeat(512)}`);
    expect(token.meta).toEqual(meta);
  });

  it.each([
    [
      'a longer display name',
      { displayName: 'n'.repeat(513) },
      'the display name is longer than 512 characters',
    ],
    [
      'metadata with a long value',
      { meta: { note: 'x'.repeat(16 * 1024 - 3) } },
      'the metadata is larger than 16384 bytes',
    ],
    [
      'metadata with many names, counted in UTF-8',
      { meta: Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`ü${i + 1000}`, '€€€€'])) },
      'the metadata is larger than 16384 bytes',
    ],
  ])('is refused when it is %s', async (_, wanted, text) => {
    expect(await failureOf(() => request(wanted))).toEqual(['too-large', text]);
  });
});

describe('a new token', () => {
  it('has a parent unless the owner or an orphan is asked for', () => {
    const parentOf = (request: Partial<TokenRequest>, creator: TokenCreator) =>
      buildToken(tokenRequest(request), creator, NOW).token.parent;
    expect(parentOf({}, parent({}))).toBe('parent');
    expect(parentOf({}, owner)).toBeUndefined();
    expect(parentOf({ orphan: 'asked' }, parent({}, true))).toBeUndefined();
    expect(parentOf({ orphan: 'by-path' }, parent({}))).toBeUndefined();
  });

  it('of root never expires and is not renewable, unless a time is given', () => {
    const tokenOf = (request: Partial<TokenRequest>) =>
      buildToken(tokenRequest({ policies: ['root'], ...request }), owner, NOW).token;
    expect(tokenOf({})).toMatchObject({ creationTtl: 0, renewable: false });
    expect(tokenOf({}).expiresMs).toBeUndefined();
    expect(tokenOf({ ttl: 60 })).toMatchObject({
      creationTtl: 60,
      renewable: true,
      expiresMs: 1_767_323_105_678,
    });
    expect(tokenOf({ explicitMaxTtl: 60 })).toMatchObject({ creationTtl: 60 });
    expect(tokenOf({ period: 60 })).toMatchObject({ creationTtl: 60, period: 60 });
  });

  it.each([
    ['', 'token'],
    ['billing', 'token-billing'],
    ['CI / "main" ü', 'token-CI----main--'],
    ['x.', 'token-x'],
  ])('is called by what it asked for: %j', (wanted, name) => {
    expect(buildToken(tokenRequest({ displayName: wanted }), owner, NOW).token.displayName).toBe(name);
  });
});
