import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect, HttpTransport } from '../../src/client/http-transport.ts';
import { catalogue } from '../../src/operations/catalogue.ts';
import { cleanUpAfterAll, send, startServer } from '../servers/serving.ts';

interface Refusal {
  readonly headers?: IncomingHttpHeaders;
  readonly body?: string;
  /** Time that the answer takes, in milliseconds. */
  readonly takes?: number;
}

const TOO_OFTEN = '{"errors":["rate limit quota exceeded"]}';
const DONE = '{"data":null}';
const afterwards = cleanUpAfterAll();

/**
 * Time that only pauses and answers take.
 * @returns also the pauses
 */
function timeOfItsOwn() {
  const waits: number[] = [];
  let passed = 0;
  const pause = async (milliseconds: number) => {
    waits.push(milliseconds);
    passed += milliseconds;
  };
  const answerAfter = (milliseconds: number) => {
    passed += milliseconds;
  };
  return { waits, answerAfter, time: { now: () => passed, pause } };
}

/** Sends a request to a server that first refuses it, and returns the last answer and the waits. */
async function sendTo(refusals: readonly Refusal[], target = '/v1/transit/encrypt/k') {
  const rest = [...refusals];
  const { waits, answerAfter, time } = timeOfItsOwn();
  const http = createServer((request, response) => {
    request.resume();
    const refusal = rest.shift();
    answerAfter(refusal?.takes ?? 0);
    if (refusal === undefined) response.end(DONE);
    else response.writeHead(429, { ...refusal.headers }).end(refusal.body ?? TOO_OFTEN);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  const transport = new HttpTransport({
    address: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    time,
  });
  onTestFinished(() => {
    transport.close();
    http.closeAllConnections();
    http.close();
  });
  const answer = await transport.send({ method: 'POST', target, headers: {}, body: '{}', changes: true });
  return { ...answer, waits, left: rest.length };
}

const asking = (seconds: string, takes = 0): Refusal => ({ headers: { 'retry-after': seconds }, takes });

describe('a request that exceeds a rate limit', () => {
  it.each<readonly [string, readonly Refusal[], readonly number[]]>([
    ['for as long as the server asks', [asking('5'), asking('0'), asking('55')], [5000, 0, 55_000]],
    ['for a second if it does not say how long', [{}, asking('soon')], [1000, 1000]],
    ['also for a proxy, which has other words', [{ ...asking('2'), body: '<h1>Slow down</h1>' }], [2000]],
    ['of a minute, also if it is not answered at once', [asking('60', 500)], [60_000]],
    ['behind slow answers', Array<Refusal>(3).fill(asking('1', 19_000)), [1000, 1000, 1000]],
    ['nine times', Array<Refusal>(9).fill(asking('1')), Array<number>(9).fill(1000)],
  ])('is sent again after a wait: %s', async (_, refusals, waits) => {
    expect(await sendTo(refusals)).toMatchObject({ status: 200, body: DONE, waits, left: 0 });
  });

  it.each<readonly [string, readonly Refusal[], readonly number[], number]>([
    ['the tenth time', Array<Refusal>(11).fill(asking('1')), Array<number>(9).fill(1000), 1],
    [
      'once it would wait for more than a minute in all',
      [asking('30'), asking('30'), asking('1')],
      [30_000, 30_000],
      0,
    ],
    [
      'once answers and waits have taken more than a minute in all',
      Array<Refusal>(5).fill(asking('1', 20_000)),
      [1000, 1000],
      2,
    ],
    ['at once if the server asks for more than a minute', [asking('61'), asking('0')], [], 1],
  ])('is refused %s, with the time to wait in the hint', async (_, refusals, waits, left) => {
    const refused = await sendTo(refusals);
    expect(refused).toMatchObject({ status: 429, waits, left });
    expect(refused.waitMs).toBe(
      Number(refusals.at(refusals.length - 1 - left)?.headers?.['retry-after']) * 1000,
    );
  });

  it.each([
    [
      'a batch with failed items, whose sender chose that status',
      '/v1/transit/encrypt/k',
      '{"data":{"batch_results":[]}}',
    ],
    ['the health of a standby of Vault', '/v1/sys/health', '{"standby":true}'],
    ['what is not the API', '/token', TOO_OFTEN],
  ])('is not what the same status says of %s', async (_, target, body) => {
    expect(await sendTo([{ body, ...asking('1') }], target)).toMatchObject({ status: 429, body, waits: [] });
  });

  it('is answered by a server of ours as soon as the time is over that it asked for', async () => {
    const { address, token } = await startServer({}, afterwards);
    const limit = { path: 'transit', rate: 1, interval: 1 };
    const { status } = await send(address, 'POST', '/v1/sys/quotas/rate-limit/one', { body: limit, token });
    expect(status).toBe(204);
    const client = connect({ address, token });
    onTestFinished(() => client.close());
    const { declaration } = await catalogue.transit.random.load();
    for (let time = 0; time < 3; time += 1) {
      expect(await client.run(declaration, { bytes: 8 })).toMatchObject({
        data: { random_bytes: expect.any(String) },
      });
    }
  });
});
