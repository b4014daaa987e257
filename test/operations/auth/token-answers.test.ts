import { describe, expect, it } from 'vitest';
import { missingPolicy } from '../../../src/access/policies.ts';
import { roleName } from '../../../src/operations/auth/named-objects.ts';
import { tokenAuth, tokenDetails } from '../../../src/operations/auth/token-answers.ts';
import { explainedPolicies } from '../../../src/operations/auth/token-settings.ts';
import type { Runner } from '../../../src/operations/declaration/operation.ts';
import { parseValues } from '../../../src/operations/declaration/params.ts';
import { openRoom, tokenRequest } from '../../access/room.ts';
import { thrownBy } from '../../reference/thrown.ts';

describe('the time that a token has left', () => {
  it.each(['service', 'batch'] as const)(
    'is told in whole seconds, as peers count them, and in full by the answer that issues it: %s',
    async (kind) => {
      const { access, clock } = await openRoom();
      clock.ms += 900;
      const issued = await access.tokens.create(tokenRequest({ ttl: 60, kind }), { sudo: true });
      const live = await access.tokens.find(issued.text);
      if (live === undefined) throw new Error('the token is not there');
      const later = (ms: number): number => clock.now() + ms;
      expect(tokenAuth(live, '').lease_duration).toBe(60);
      expect(tokenAuth(live, '', later(5)).lease_duration).toBe(60);
      if (kind === 'batch') return;
      expect(tokenDetails(live, '', later(0)).ttl).toBe(60);
      expect(tokenDetails(live, '', later(1)).ttl).toBe(59);
      expect(tokenDetails(live, '', later(300)).ttl).toBe(59);
      expect(tokenDetails(live, '', later(1001)).ttl).toBe(58);
      expect(tokenDetails(live, '', later(60_000)).ttl).toBe(0);
    },
  );
});

it.each([
  ['a,b', 'use --policy a --policy b'],
  [',', '"coffer policy list" shows the names'],
])('a new token with the policy %s comes with what to do', async (name, hint) => {
  const runner = { run: async () => ({ data: { keys: ['a'] } }) } as unknown as Runner;
  expect(await explainedPolicies([missingPolicy(name)], runner)).toEqual([
    `a policy cannot be named "${name}" (${hint})`,
  ]);
});

it('a role whose name is not allowed is refused with what is', () => {
  const params = { name: roleName('role', 'release') };
  expect(thrownBy(() => parseValues(params, { name: 'a@b.c' }))).toMatchObject({
    message: 'name "a@b.c" is not allowed',
    hint: 'use letters, digits, "_", "-" and "."; the name must begin and end with a letter, a digit or "_"',
  });
});
