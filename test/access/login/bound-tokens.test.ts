import { describe, expect, it } from 'vitest';
import { NO_SETTINGS } from '../../../src/access/login/token-settings.ts';
import { systemRandom } from '../../../src/ground/random.ts';
import { Mounts } from '../../../src/mounts/mounts.ts';
import { openRoom, tokenRequest } from '../room.ts';

async function boundToken() {
  const room = await openRoom();
  const types = [
    {
      name: 'echo',
      isLogin: true as const,
      login: { summary: 'Manage echoes', needs: [] },
      collections: ['roles'],
    },
  ];
  const mounts = new Mounts(room.store, systemRandom, types);
  const mount = await mounts.add('echo', 'auth/echo');
  const role = { collection: 'roles', id: 'r' };
  const settings = { ...NO_SETTINGS, token_bound_cidrs: ['10.0.0.0/8'], token_num_uses: 0 };
  const issued = await room.access.tokens.login(async () => ({
    mount,
    path: 'auth/echo/login',
    meta: {},
    settings,
    role,
    name: 'r',
  }));
  return { ...room, mounts, issued };
}

describe('a token that is bound to networks', () => {
  it('is good from there alone, before it is remembered and after, and so is what it issues', async () => {
    const { access, issued } = await boundToken();
    const child = await access.tokens.create(tokenRequest({ policies: [] }), {
      accessor: issued.accessor,
      sudo: false,
    });
    for (const { text } of [issued, child]) {
      const isGood = async (address?: string) =>
        (await access.authenticate(text, undefined, address)) !== undefined;
      expect(await isGood('11.0.0.1')).toBe(false);
      expect(await isGood('10.0.0.1')).toBe(true);
      expect(await isGood('11.0.0.1')).toBe(false);
      expect(await isGood('')).toBe(false);
      expect(await isGood()).toBe(false);
    }
  });

  it('is swept away, as what it issued, once its method is gone', async () => {
    const { access, issued, mounts } = await boundToken();
    await access.tokens.create(tokenRequest({ policies: [] }), { accessor: issued.accessor, sudo: false });
    expect(await access.tokens.sweep()).toBe(0);
    await mounts.remove('auth/echo');
    expect(await access.authenticate(issued.text, undefined, '10.0.0.1')).toBeUndefined();
    expect(await access.tokens.sweep()).toBe(2);
  });
});
