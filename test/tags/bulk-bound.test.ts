import { describe, expect, it } from 'vitest';
import { processMsUntil } from '../processor-time.ts';
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

    // So long does another writer wait at most, on a processor that does nothing else: a small part of a second in fact.
    const ms = await processMsUntil(() => post('/api/v2/organizations/acme/tags', named(1000, 'c')));
    expect(ms).toBeLessThan(5000);
    const deleting = send(address, 'DELETE', '/api/v2/organizations/acme/tags', {
      token,
      body: { data: ids },
      headers: JSON_API,
    });
    const another = send(address, 'POST', '/v1/transit/keys/k', { token });
    expect([(await deleting).status, (await another).status]).toEqual([204, 200]);
  });
});
