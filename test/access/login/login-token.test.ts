import { expect, it } from 'vitest';
import {
  buildLoginToken,
  nobodyHasKey,
  policiesOf,
  renewalTerms,
} from '../../../src/access/login/login-token.ts';
import {
  changedSettings,
  NO_SETTINGS,
  type TokenSettings,
} from '../../../src/access/login/token-settings.ts';
import { userpassMounts } from '../../../src/access/methods/userpass/mount-type.ts';
import { MAX_TTL_SECONDS as MAX, type Token } from '../../../src/access/token.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import { Mounts } from '../../../src/mounts/mounts.ts';
import { failureOf, openRoom } from '../room.ts';

const mount = { type: 'jwt', path: 'auth/jwt', uuid: 'u', description: '', accessor: '', options: {} };

it.each<[string, object, string, string]>([
  [
    'policy for wrapped answers',
    { policies: ['Response-Wrapping'] },
    'invalid',
    'cannot assign policy "response-wrapping"',
  ],
  ['policy root', { policies: ['Root', 'app'] }, 'invalid', 'auth methods cannot create root tokens'],
  [
    'policies without number',
    { policies: Array.from({ length: 257 }, (_, index) => `p${index}`) },
    'invalid',
    'a token can have at most 256 policies, not 258',
  ],
  [
    'policy with an endless name',
    { policies: ['p'.repeat(10_000)] },
    'invalid',
    'the name of a policy can have at most',
  ],
  [
    'name without end',
    { displayName: 'x'.repeat(600) },
    'too-large',
    'the display name is longer than 512 characters',
  ],
  [
    'metadata without end',
    { meta: { x: 'x'.repeat(17_000) } },
    'too-large',
    'the metadata is larger than 16384 bytes',
  ],
])(
  'no login gives a token a %s',
  async (_, { policies = [], ...wanted }: { policies?: string[] }, kind, text) => {
    const login = {
      mount,
      path: 'auth/jwt/login',
      meta: {},
      settings: { ...NO_SETTINGS, token_policies: policies },
      role: { collection: 'roles', id: 'r' },
      name: 'r',
      ...wanted,
    };
    expect(await failureOf(() => buildLoginToken(login, 0))).toEqual([kind, expect.stringContaining(text)]);
  },
);

it.each<[string, object, string]>([
  [
    'a TTL above the maximum',
    { token_ttl: 61, token_max_ttl: 60 },
    "'token_ttl' cannot be greater than 'token_max_ttl'",
  ],
  ['a negative number of uses', { token_num_uses: -1 }, "'token_num_uses' cannot be negative"],
  [
    'batch tokens with a period',
    { token_type: 'batch', token_period: 1 },
    "'token_type' cannot be 'batch' or 'default_batch' when set to generate periodic tokens",
  ],
  [
    'batch tokens with a number of uses',
    { token_type: 'batch', token_num_uses: 1 },
    "'token_type' cannot be 'batch' or 'default_batch' when set to generate tokens with limited use count",
  ],
  [
    'the address of each login and networks',
    { token_strictly_bind_ip: true, token_bound_cidrs: ['10.0.0.0/8'] },
    "'token_strictly_bind_ip' conflicts with 'token_bound_cidrs'; set only one",
  ],
])('no role gives its tokens %s', async (_, change, text) => {
  expect(await failureOf(() => changedSettings(NO_SETTINGS, change))).toEqual(['invalid', text]);
});

it.each([
  { token_ttl: 60, token_max_ttl: 60 },
  { token_ttl: 60, token_max_ttl: 0 },
  { token_type: 'batch' as const, token_ttl: 60 },
  { token_strictly_bind_ip: true },
])('a role may give its tokens %j', (change) => {
  expect(changedSettings(NO_SETTINGS, change)).toMatchObject(change);
});

it('tokens of a role have the policy default unless it says otherwise', () => {
  const settings = { ...NO_SETTINGS, token_policies: ['b', 'a'] };
  expect(policiesOf(settings)).toEqual(['a', 'b', 'default']);
  expect(policiesOf({ ...settings, token_no_default_policy: true })).toEqual(['a', 'b']);
});

it.each<[string, object, object, object]>([
  ['all that may be', {}, {}, { ttl: MAX, maxTtl: MAX }],
  ['what the role says', { token_ttl: 60, token_max_ttl: 90 }, {}, { ttl: 60, maxTtl: 90 }],
  ['the longest of the role', { token_max_ttl: 90 }, {}, { ttl: 90, maxTtl: 90 }],
  ['what the method says', {}, { default_lease_ttl: 70, max_lease_ttl: 80 }, { ttl: 70, maxTtl: 80 }],
  ['the longest of the method', { token_max_ttl: 90 }, { max_lease_ttl: 80 }, { ttl: 80, maxTtl: 80 }],
  ['what the role says first', { token_ttl: 60 }, { default_lease_ttl: 70 }, { ttl: 60, maxTtl: MAX }],
])('the time of a renewal is %s', async (_, settings, config, times) => {
  const { store } = await openRoom();
  const mounts = new Mounts(store, systemRandom, [userpassMounts]);
  const { uuid, path } = await mounts.add('userpass', 'auth/userpass');
  await mounts.tune(path, () => ({ config }));
  const role = { collection: 'roles', id: 'r' };
  await store.transact((tx) => tx.put(role, { token: { ...NO_SETTINGS, ...settings } }));
  const token = { policies: [], login: { mount: uuid, role, name: 'r' } } as unknown as Token;
  const terms = () => store.read((view) => renewalTerms(view, token, { nowMs: 0, checkKey: nobodyHasKey }));
  expect(await terms()).toMatchObject(times);
  await store.transact((tx) => tx.delete(role));
  expect(await failureOf(terms)).toEqual([
    'invalid',
    'failed to renew entry: role "r" does not exist during renewal',
  ]);
});

it('a token of a certificate is renewed only by who can show its key', async () => {
  const { store, access } = await openRoom();
  const mounts = new Mounts(store, systemRandom, [userpassMounts]);
  const method = await mounts.add('userpass', 'auth/userpass');
  const role = { collection: 'roles', id: 'r' };
  await store.transact((tx) => tx.put(role, { token: NO_SETTINGS }));
  const login = {
    mount: method,
    path: 'auth/userpass/login',
    meta: {},
    settings: NO_SETTINGS,
    role,
    name: 'r',
  };
  const { accessor } = await access.tokens.login(async () => ({ ...login, certifiedKey: 'of a client' }));
  expect(await failureOf(() => access.tokens.renew(accessor, 0))).toEqual([
    'invalid',
    'no client certificate found',
  ]);
  const other = await access.tokens.login(async () => login);
  expect((await access.tokens.renew(other.accessor, 0)).accessor).toBe(other.accessor);
});

it.each<[string | undefined, TokenSettings['token_type'], 'batch' | 'service']>([
  [undefined, 'default', 'service'],
  [undefined, 'service', 'service'],
  [undefined, 'batch', 'batch'],
  ['service', 'batch', 'service'],
  ['batch', 'service', 'batch'],
  ['default-batch', 'default', 'batch'],
  ['default-batch', 'service', 'service'],
])('a login by a method of %s tokens and a role of %s ones has a %s token', (of, token_type, kind) => {
  const config = of === undefined ? {} : { token_type: of as 'service' };
  const role = { collection: 'roles', id: 'r' };
  const { token } = buildLoginToken(
    {
      mount: { ...mount, config },
      path: 'auth/jwt/login',
      meta: {},
      settings: { ...NO_SETTINGS, token_type, token_explicit_max_ttl: 90 },
      role,
      name: 'r',
    },
    1_767_323_045_678,
  );
  const { renewable, explicitMaxTtl, expiresMs, login } = token;
  // Nothing is stored of a batch token, so that it holds only what ends it.
  expect([token.kind ?? 'service', renewable, explicitMaxTtl, expiresMs, login?.role]).toEqual(
    kind === 'batch'
      ? ['batch', false, 0, 1_767_323_045_000 + 90_000, undefined]
      : ['service', true, 90, 1_767_323_045_678 + 90_000, role],
  );
});
