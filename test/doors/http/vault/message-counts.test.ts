import { describe, expect, it } from 'vitest';
import { locally, send, startServer } from '../../../servers/serving.ts';

const KEY = '/v1/transit/keys/k';

/** As if servers had encrypted so many messages with the first version of the key. */
async function encryptedBefore(directory: string, messages: number, madeAt?: string): Promise<void> {
  await locally(directory, async ({ core }) => {
    const engine = await core.engine('transit');
    await core.store.transact(async (tx) => {
      const key = await tx.get<{ versions: Record<string, { createdAt: string }> }>({
        collection: engine.keys,
        id: 'k',
      });
      const made = madeAt ?? key?.versions['1']?.createdAt ?? '';
      const ref = { collection: engine.settings, id: 'messages/k' };
      tx.put(ref, { versions: { 1: { madeAt: made, messages } } });
    });
  });
}

describe('the messages that a server has encrypted under one key version', () => {
  it('are shown when they are many, and warned of before nonces may repeat', async () => {
    const { address, token, directory } = await startServer();
    const encrypt = () =>
      send(address, 'POST', '/v1/transit/encrypt/k', { token, body: { plaintext: 'eA==' } });
    await send(address, 'POST', KEY, { token });
    expect((await send(address, 'GET', KEY, { token })).json.data).not.toHaveProperty('messages');
    await encryptedBefore(directory, 2 ** 31);
    const warning = expect.stringMatching(
      /^version 1 of key "k" has encrypted about 2147483[6-9]\d\d messages; rotate the key/,
    );
    await expect.poll(async () => (await encrypt()).json.warnings, { timeout: 10_000 }).toEqual([warning]);
    const read = await send(address, 'GET', KEY, { token });
    expect(read.json.data.messages['1']).toBeGreaterThan(2 ** 31);
    expect(read.json.warnings).toEqual([warning]);
    await send(address, 'POST', `${KEY}/rotate`, { token });
    expect((await encrypt()).json.warnings).toBeNull();
  });

  it('are reported in the log with the mount, the key and the version', async () => {
    const { address, token, directory, log } = await startServer();
    await send(address, 'POST', KEY, { token });
    await encryptedBefore(directory, 2 ** 31 - 10);
    const batch_input = Array.from({ length: 500 }, () => ({ plaintext: 'eA==' }));
    for (let n = 0; n < 10; n++)
      await send(address, 'POST', '/v1/transit/encrypt/k', { token, body: { batch_input } });
    await send(address, 'POST', '/v1/sys/seal', { token });
    const many = () => log.map((line) => JSON.parse(line)).filter(({ message }) => /very many/.test(message));
    await expect
      .poll(many, { timeout: 10_000 })
      .toMatchObject([{ mount: 'transit', key: 'k', version: 1, messages: expect.any(Number) }]);
  });

  it('are not those of an earlier key of the same name', async () => {
    const { address, token, directory } = await startServer();
    await send(address, 'POST', KEY, { token });
    await encryptedBefore(directory, 2 ** 33, '2020-01-01T00:00:00Z');
    expect((await send(address, 'GET', KEY, { token })).json.data).not.toHaveProperty('messages');
  });
});
