import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { HttpServer } from '../../src/http/http-server.ts';
import { chat } from './raw-http.ts';
import { send, startServer } from './serving.ts';

/** A server whose every answer takes a while. */
async function slowServer(delayMs: number): Promise<HttpServer> {
  const http = await HttpServer.create({
    maxRequestBytes: 1000,
    takesLargeBody: async () => true,
    answer: async () => {
      await sleep(delayMs);
      return { status: 200, contentType: 'text/plain', body: 'done' };
    },
  });
  await new Promise<void>((resolve) => http.server.listen(0, '127.0.0.1', resolve));
  return http;
}

const addressOf = ({ server }: HttpServer): string => {
  const address = server.address();
  return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
};

describe('closing a server', () => {
  it('finishes what is in flight, takes nothing new, and ends kept connections', async () => {
    const http = await slowServer(150);
    const address = addressOf(http);
    const agent = new Agent({ keepAlive: true });
    await send(address, 'GET', '/', { agent });
    const inFlight = send(address, 'GET', '/', { agent });
    await sleep(30);
    const start = performance.now();
    const closing = http.close();
    const answer = await inFlight;
    expect([answer.status, answer.text, answer.headers['connection']]).toEqual([200, 'done', 'close']);
    await closing;
    expect(performance.now() - start).toBeLessThan(2_000);
    await expect(send(address, 'GET', '/')).rejects.toThrow('ECONNREFUSED');
    agent.destroy();
  });

  it('does not wait for connections that ask for nothing', async () => {
    const http = await slowServer(0);
    const port = Number(new URL(addressOf(http)).port);
    const idle = chat([{ pauseMs: 60 }], { port });
    await sleep(20);
    await http.close();
    expect((await idle).closed).toBe(true);
  });

  it('of the whole program loses no acknowledged request', async () => {
    const server = await startServer();
    const { address, token } = server;
    await send(address, 'POST', '/v1/transit/keys/k', { token });
    const results = Promise.allSettled(
      Array.from({ length: 100 }, () =>
        send(address, 'POST', '/v1/transit/encrypt/k', { token, body: { plaintext: '' } }),
      ),
    );
    await sleep(10);
    await server.close();
    for (const result of await results) {
      if (result.status === 'fulfilled') expect(result.value.status).toBe(200);
    }
  });
});

describe('a slow caller', () => {
  it('who does not finish the head of a request is answered 408 and cut off', async () => {
    const http = await slowServer(0);
    http.server.headersTimeout = 100;
    http.server.requestTimeout = 200;
    const port = Number(new URL(addressOf(http)).port);
    const { answers, closed } = await chat(['GET / HTTP/1.1\r\nHost: x\r\n'], { port, patienceMs: 8_000 });
    expect(answers).toMatchObject([{ status: 408, body: '{"errors":["request timeout"]}\n' }]);
    expect(closed).toBe(true);
    await http.close();
  });

  it('who does not finish the body of a request is cut off', async () => {
    const http = await slowServer(0);
    http.server.headersTimeout = 100;
    http.server.requestTimeout = 200;
    const port = Number(new URL(addressOf(http)).port);
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf';
    const { answers, closed } = await chat([head], { port, patienceMs: 8_000 });
    expect(answers.map(({ status }) => status)).toEqual([408]);
    expect(closed).toBe(true);
    await http.close();
  });
});
