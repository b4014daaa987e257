import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { send, startServer } from '../servers/serving.ts';

const JSON_API = { 'content-type': 'application/vnd.api+json' };

const named = (count: number, prefix: string) => ({
  data: Array.from({ length: count }, (_, index) => ({
    type: 'tags',
    attributes: { name: `${prefix}-${index}` },
  })),
});

describe('one call with very many tags', () => {
  it('is refused with the number that is allowed, and keeps no writer out', async () => {
    const { address, token } = await startServer();
    const post = (path: string, body: object) =>
      send(address, 'POST', path, { token, body, headers: JSON_API });
    await post('/api/v2/organizations', { data: { type: 'organizations', attributes: { name: 'acme' } } });
    const refused = await post('/api/v2/organizations/acme/tags', named(100_000, 'a'));
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining('must have at most 1000 items, not 100000'),
    ]);
    const taken = await post('/api/v2/organizations/acme/tags', named(1000, 'b'));
    expect(taken.status).toBe(201);
    const ids = (taken.json.data as { id: string }[]).map(({ id }) => ({ type: 'tags', id }));

    // What others wait while as much is done as one call may do, again and again; a busy machine makes it slow.
    let longest = 0;
    let done = false;
    const others = (async () => {
      for (let count = 0; !done; count++) {
        const start = performance.now();
        expect((await send(address, 'POST', `/v1/transit/keys/k${count}`, { token })).status).toBe(200);
        longest = Math.max(longest, performance.now() - start);
        await sleep(5);
      }
    })();
    for (const prefix of ['c', 'd', 'e']) await post('/api/v2/organizations/acme/tags', named(1000, prefix));
    const body = { data: ids };
    const deleted = await send(address, 'DELETE', '/api/v2/organizations/acme/tags', {
      token,
      body,
      headers: JSON_API,
    });
    done = true;
    await others;
    expect(deleted.status).toBe(204);
    process.stderr.write(`the longest wait of another writer: ${longest.toFixed()} ms\n`);
    expect(longest).toBeLessThan(5000);
  });
});
