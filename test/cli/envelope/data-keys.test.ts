import { describe, expect, it } from 'vitest';
import { dataKeysOf } from '../../../src/cli/envelope/jobs.ts';
import type { OptionValue } from '../../../src/cli/given.ts';
import { Session } from '../../../src/cli/session.ts';
import { standardStreams } from '../../../src/cli/terminal/streams.ts';
import { rejectionOf } from '../../reference/thrown.ts';

/** The data keys of a session whose server notes which mount is asked. */
async function dataKeys(asked: string[], everywhere: Record<string, OptionValue> = {}, expected?: string) {
  const prompts = { available: () => false } as unknown as Session['prompts'];
  const options = new Map(Object.entries(everywhere));
  const session = new Session(standardStreams(), {}, options, prompts, async () => ({
    run: async (_operation, _raw, mount = 'transit') => {
      asked.push(mount);
      return { data: { plaintext: 'AAAA', ciphertext: 'service:v1:AAAA' } };
    },
    at: () => Promise.reject(new Error('not asked for')),
    close: () => undefined,
  }));
  return dataKeysOf(session, undefined, expected);
}

describe('the data keys of an envelope', () => {
  it.each(['sys/mounts/new', 'auth/token', '../sys', 'transit/../sys', 'a//b', '/transit', '', 'api/v2'])(
    'are asked for nowhere when its header says that the mount is %j',
    async (mount) => {
      const asked: string[] = [];
      const keys = await dataKeys(asked);
      for (const work of [keys.unwrap, keys.rewrap]) {
        expect(await rejectionOf(work({ mount, name: 'orders' }, 'service:v1:AAAA'))).toMatchObject({
          kind: 'denied',
          message: 'the envelope names an invalid transit mount',
        });
      }
      expect(asked).toEqual([]);
    },
  );

  it('are asked for where the header says, or where the user says', async () => {
    const asked: string[] = [];
    const key = { mount: 'teams/payments', name: 'orders' };
    await (await dataKeys(asked)).unwrap(key, 'service:v1:AAAA');
    await (await dataKeys(asked, { mount: 'moved' })).unwrap({ ...key, mount: 'sys' }, 'service:v1:AAAA');
    expect(asked).toEqual(['teams/payments', 'moved']);
  });

  it('are not asked for in another mount when the user expects a key of this name', async () => {
    const asked: string[] = [];
    const key = { mount: 'teams/others', name: 'orders' };
    const keys = await dataKeys(asked, {}, 'orders');
    expect(await rejectionOf(keys.unwrap(key, 'service:v1:AAAA'))).toMatchObject({
      kind: 'denied',
      message: 'the envelope is encrypted under key "orders" of mount "teams/others", not of "transit"',
      hint: 'use --mount teams/others if you trust the file',
    });
    await keys.unwrap({ ...key, mount: 'transit' }, 'service:v1:AAAA');
    await (await dataKeys(asked, { mount: 'teams/others' }, 'orders')).unwrap(key, 'service:v1:AAAA');
    expect(asked).toEqual(['transit', 'teams/others']);
  });
});
