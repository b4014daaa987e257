import { describe, expect, it } from 'vitest';
import { tokenAuth, tokenDetails } from '../../../src/operations/auth/token-answers.ts';
import { openRoom, tokenRequest } from '../../access/room.ts';

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
