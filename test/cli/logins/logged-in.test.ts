import { describe, expect, it, vi } from 'vitest';
import { broughtAlong, madeNow } from '../../../src/cli/logins/logged-in.ts';
import { askedIn } from '../../../src/cli/logins/methods.ts';
import { denied, unavailable } from '../../../src/ground/errors.ts';
import type { Outcome, Runner } from '../../../src/operations/declaration/operation.ts';
import { refusal, refused } from '../../refusal.ts';

const NOW = Date.parse('2026-11-28T12:00:00Z');
const login = (auth: unknown) => madeNow({ auth } as Outcome<unknown>);
const AUTH = { client_token: 'cfr.x', lease_duration: 60, policies: ['a', 'b'] };

describe('what a server answers to a login', () => {
  it('is a token with its policies, and with the time at which it ends, if it does', () => {
    vi.useFakeTimers({ now: NOW });
    try {
      expect(login(AUTH)).toMatchObject({ token: 'cfr.x', policies: ['a', 'b'], expiresMs: NOW + 60_000 });
      for (const lease_duration of [0, -1, '60', null, undefined])
        expect(login({ ...AUTH, lease_duration }).expiresMs).toBeUndefined();
      expect(login({ ...AUTH, lease_duration: 1 }).expiresMs).toBe(NOW + 1000);
      for (const policies of [undefined, null, 'root'])
        expect(login({ ...AUTH, policies }).policies).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each<[unknown, string, string]>([
    [undefined, 'unavailable', 'unexpected response of the server: it has no token'],
    [null, 'unavailable', 'unexpected response of the server: it has no token'],
    ['cfr.x', 'unavailable', 'unexpected response of the server: it has no token'],
    [{}, 'unavailable', 'unexpected response of the server: it has no token'],
    [{ client_token: '' }, 'unavailable', 'unexpected response of the server: it has no token'],
    [{ client_token: 7 }, 'unavailable', 'unexpected response of the server: it has no token'],
    [{ ...AUTH, mfa_requirement: {} }, 'unsupported', 'the server asks for a second factor'],
    [{ ...AUTH, client_token: 'a\nb' }, 'invalid', 'not a valid token'],
  ])('is refused if it is %j', (auth, kind, message) => {
    expect(refusal(() => login(auth))).toMatchObject({ kind, message });
  });
});

const looked = (answer: () => unknown) =>
  broughtAlong({ at: async () => ({ data: answer() }) } as Partial<Runner> as Runner, 'cfr.x');

describe('a token that a user brings', () => {
  it('is described as the server describes it', async () => {
    const data = { expire_time: '2026-11-28T12:00:00Z', policies: ['a'], accessor: 'acc', ttl: 60 };
    expect(await looked(() => data)).toMatchObject({
      token: 'cfr.x',
      expiresMs: NOW,
      policies: ['a'],
      told: { client_token: 'cfr.x', accessor: 'acc' },
      outcome: { auth: { client_token: 'cfr.x', accessor: 'acc', lease_duration: 60, metadata: null } },
    });
    for (const answer of [
      undefined,
      null,
      'x',
      { expire_time: null },
      { expire_time: 'soon', policies: 'root' },
    ])
      expect(await looked(() => answer)).toMatchObject({
        token: 'cfr.x',
        expiresMs: undefined,
        policies: [],
      });
  });

  it('is refused if the server does not know it, or it is empty; another failure stays what it is', async () => {
    const failing = (error: Error) =>
      refused(
        looked(() => {
          throw error;
        }),
      );
    expect(await failing(denied('permission denied'))).toMatchObject({
      kind: 'denied',
      message: 'the server rejected the token: unknown or expired',
    });
    expect(await failing(unavailable('too slow'))).toMatchObject({
      kind: 'unavailable',
      message: 'too slow',
    });
    expect(await refused(broughtAlong({} as Runner, ''))).toMatchObject({ message: 'the token is empty' });
  });
});

describe('a login as it is typed', () => {
  it.each<[readonly string[], string | undefined, string, Readonly<Record<string, string>>]>([
    [[], undefined, 'token', {}],
    [['-'], undefined, 'token', { token: '-' }],
    [['token', '-'], undefined, 'token', { token: '-' }],
    [['token', 'token=-'], undefined, 'token', { token: '-' }],
    [['token=@file'], undefined, 'token', { token: '@file' }],
    [['role=x'], 'jwt', 'jwt', { role: 'x' }],
    [['jwt', 'role=x'], 'jwt', 'jwt', { role: 'x' }],
    [['userpass', 'username=ada'], undefined, 'userpass', { username: 'ada' }],
  ])('as %j with the option %j is one of a method with its parameters', (words, option, method, pairs) => {
    const asked = askedIn(words, option);
    expect({ method: asked.method, pairs: Object.fromEntries(asked.pairs) }).toEqual({ method, pairs });
  });

  const AS_ARGUMENT = 'a token cannot be passed as an argument: other users could see it';
  it.each<[readonly string[], string | undefined, string]>([
    [['token', 'cfr.secret'], undefined, AS_ARGUMENT],
    [['cfr.secret'], undefined, AS_ARGUMENT],
    [['aaaaaaaaaaaaaaaaaaaaa'], undefined, AS_ARGUMENT],
    [['aaaaaaaaaaaaaaaaaaaa'], undefined, 'unknown login method "aaaaaaaaaaaaaaaaaaaa"'],
    [['-', 'x'], undefined, AS_ARGUMENT],
    [['token=cfr.secret'], undefined, 'secrets cannot be passed as arguments: other users could see them'],
    [
      ['userpass', 'password=x'],
      undefined,
      'secrets cannot be passed as arguments: other users could see them',
    ],
    [['userpass', 'username=a/b'], undefined, 'the user name must not contain "/"'],
    [['jwt'], 'userpass', 'METHOD jwt contradicts --method userpass'],
  ])('as %j with the option %j is refused without a secret in the message', (words, option, message) => {
    expect(refusal(() => askedIn(words, option))).toMatchObject({ kind: 'invalid', message });
  });
});
