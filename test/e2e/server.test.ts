import { describe, expect, it } from 'vitest';
import { isLong } from '../long.ts';
import { server as serverOfItsOwn } from './server.ts';
import { serverHere } from './server-here.ts';
import { describeCommands } from './suites/index.ts';

const server = isLong ? serverOfItsOwn : serverHere;

describeCommands(server);

describe('who is denied by a server', () => {
  it('learns whether there was no token, or one that does not do', async () => {
    const { place, stop } = await server.start();
    try {
      expect(await place.with({ COFFER_TOKEN: undefined }).refused('transit keys list', 4)).toBe(
        'coffer: permission denied (no token given: use "coffer login", COFFER_TOKEN or --token-file; the owner of the store creates the first token on the server with "coffer token create --store STORE")',
      );
      expect(await place.with({ COFFER_TOKEN: 'wrong' }).refused('transit keys list', 4)).toBe(
        'coffer: permission denied (the token is unknown, expired, revoked or not valid from your address: log in again with "coffer login", or use another token)',
      );
      const powerless = place.with({ COFFER_TOKEN: await place.ok('token create --policy default') });
      expect(await powerless.refused('transit keys list', 4)).toBe(
        'coffer: permission denied (the token\'s policies must grant "list" on transit/keys for this request; "coffer token capabilities transit/keys" shows what they grant)',
      );
      expect(await powerless.refused('write transit/encrypt/a.b plaintext=', 4)).toContain(
        'grant "update" on transit/encrypt/a.b',
      );
      expect(await powerless.refused('transit encrypt orders x', 4)).toContain(
        'grant "update", or "create" if nothing has this name yet, on transit/encrypt/orders',
      );
    } finally {
      await stop();
    }
  });
});
