import { Agent, request } from 'node:http';
import { expect, it } from 'vitest';
import { heldBody, LARGE_BODY_BYTES } from '../../../src/doors/http/incoming-body.ts';
import { startServer } from '../../servers/serving.ts';

it.each([
  ['no body', undefined, 0],
  ['a body of four bytes', Buffer.from('four'), 4],
])('%s in memory is taken up to the limit, and not one byte more', async (_, bytes, length) => {
  const body = heldBody(bytes);
  expect([body.exceeds(length), body.exceeds(length - 1)]).toEqual([false, true]);
  expect(await body.read(length)).toBe(bytes);
  await expect(body.read(length - 1)).rejects.toThrow('request body too large');
  expect(await body.read()).toBe(bytes);
});

it('a connection goes on behind a body that was read, however large it was', async () => {
  const { address, token } = await startServer();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { 'x-service-token': token };
  const ask = (bytes: number) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify({ input: Buffer.alloc(bytes).toString('base64') });
      const asked = request(`${address}/v1/transit/hash`, { agent, method: 'POST', headers }, (answer) => {
        answer.resume();
        answer.on('end', () => resolve([answer.statusCode, asked.reusedSocket]));
      });
      asked.on('error', reject);
      asked.end(body);
    });
  expect(await ask(LARGE_BODY_BYTES)).toEqual([200, false]);
  for (const bytes of [LARGE_BODY_BYTES, 10, 10]) expect(await ask(bytes)).toEqual([200, true]);
  agent.destroy();
});
