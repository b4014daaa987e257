import { EventEmitter, once } from 'node:events';
import { Agent } from 'node:http';
import { describe, expect, it } from 'vitest';
import { HttpServer } from '../../../src/doors/http/http-server.ts';
import { requireKey } from '../../../src/transit/named-key.ts';
import { chat } from '../../servers/raw-http.ts';
import { locally, send, startServer } from '../../servers/serving.ts';

/** A server whose every answer takes as long as `answering` does. */
async function listening(answering: () => Promise<void> = async () => undefined): Promise<HttpServer> {
  const http = new HttpServer({
    maxRequestBytes: 1000,
    answer: async ({ body }) => {
      await answering();
      await Promise.resolve(body.read()).catch(() => undefined);
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
  // A kept connection that was not closed would outlive the time that a test has.
  it('finishes what is in flight, takes nothing new, and ends kept connections', async () => {
    const asked = new EventEmitter();
    const http = await listening(() => new Promise((resolve) => asked.emit('asked', resolve)));
    const address = addressOf(http);
    const agent = new Agent({ keepAlive: true });
    asked.once('asked', (answer: () => void) => answer());
    await send(address, 'GET', '/', { agent });
    const begun = once(asked, 'asked');
    const inFlight = send(address, 'GET', '/', { agent });
    const [answer] = (await begun) as [() => void];
    const closing = http.close();
    await expect(send(address, 'GET', '/')).rejects.toThrow('ECONNREFUSED');
    answer();
    const { status, text, headers } = await inFlight;
    expect([status, text, headers['connection']]).toEqual([200, 'done', 'close']);
    await closing;
    agent.destroy();
  });

  it('does not wait for connections that ask for nothing', async () => {
    const http = await listening();
    const port = Number(new URL(addressOf(http)).port);
    const connected = once(http.server, 'connection');
    const idle = chat([], { port });
    await connected;
    await http.close();
    expect((await idle).closed).toBe(true);
  });

  it('of the whole program loses no acknowledged request', async () => {
    const { address, token, directory, close } = await startServer();
    await send(address, 'POST', '/v1/transit/keys/k', { token });
    const rotations = Array.from({ length: 100 }, () =>
      send(address, 'POST', '/v1/transit/keys/k/rotate', { token }),
    );
    const results = Promise.allSettled(rotations);
    await Promise.any(rotations);
    await close();
    const answered = (await results).filter((result) => result.status === 'fulfilled');
    for (const { value } of answered) expect(value.status).toBe(200);
    const { document } = await locally(directory, async ({ core }) => {
      const engine = await core.engine('transit');
      return requireKey(engine, 'k', 'key not found');
    });
    expect(document.latestVersion).toBeGreaterThan(answered.length);
  });
});

describe('a slow caller', () => {
  it('who does not finish the head of a request is answered 408 and cut off', async () => {
    const http = await listening();
    http.server.headersTimeout = 100;
    http.server.requestTimeout = 200;
    const port = Number(new URL(addressOf(http)).port);
    const { answers, closed } = await chat(['GET / HTTP/1.1\r\nHost: x\r\n'], { port });
    expect(answers).toMatchObject([{ status: 408, body: '{"errors":["request timeout"]}\n' }]);
    expect(closed).toBe(true);
    await http.close();
  });

  it('who does not finish the body of a request is cut off', async () => {
    const http = await listening();
    http.server.headersTimeout = 100;
    http.server.requestTimeout = 200;
    const port = Number(new URL(addressOf(http)).port);
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf';
    const { answers, closed } = await chat([head], { port });
    expect(answers.map(({ status }) => status)).toEqual([408]);
    expect(closed).toBe(true);
    await http.close();
  });
});
