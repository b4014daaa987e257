import { expect, it } from 'vitest';
import { buildLoginToken } from '../../../src/access/login/login-token.ts';
import { NO_SETTINGS } from '../../../src/access/login/token-settings.ts';
import { failureOf } from '../room.ts';

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
