/** The thread of an issuer of tokens (`issuer.ts`): its web server, which goes on while the tests' own thread waits for a command. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { Behaviour, IssuerOrder, IssuerStart } from './issuer.ts';

const { certificate, key, issuerPath, ports } = workerData as IssuerStart;
let { state } = workerData as IssuerStart;
let asked: string[] = [];

const ENDLESS = Buffer.alloc(64 * 1024, ' ');
/** More than anybody who bounds what he reads can have taken. */
const ENDLESS_BYTES = 10 * 2 ** 30;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'https://issuer.test');
  asked.push(pathname);
  if (pathname === '/job-token') return jobToken(request, response, searchParams.get('audience'));
  const isDiscovery = pathname === `${issuerPath}/.well-known/openid-configuration`;
  if (!isDiscovery && pathname !== '/keys') return end(response, 404, '{}');
  const behaviour = isDiscovery ? state.discovery : state.keys;
  if (behaviour !== 'ordinary') return misbehave(behaviour, response);
  const document = isDiscovery
    ? { issuer: state.issuer, jwks_uri: state.jwksUrl, id_token_signing_alg_values_supported: ['RS256'] }
    : { keys: state.published };
  end(response, 200, JSON.stringify(document));
}

async function misbehave(behaviour: Exclude<Behaviour, 'ordinary'>, response: ServerResponse): Promise<void> {
  if (behaviour === 'hangs') return;
  if (behaviour === 'hangs up') return void response.destroy();
  if ('redirect' in behaviour) {
    response.writeHead(302, { location: behaviour.redirect });
    return void response.end();
  }
  if ('body' in behaviour) return end(response, behaviour.status, behaviour.body);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{');
  if (behaviour.endless === 'slowly') {
    while (!response.destroyed) {
      response.write(' ');
      await sleep(100);
    }
    return;
  }
  for (let sent = 0; sent < ENDLESS_BYTES && !response.destroyed; sent += ENDLESS.length) {
    if (!response.write(ENDLESS)) await room(response);
  }
}

/** Until more can be sent, or nobody listens any more. */
const room = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });

/** As the runner of GitHub Actions hands a job the token of its own. */
function jobToken(request: IncomingMessage, response: ServerResponse, audience: string | null): void {
  const { jobToken: known } = state;
  if (known === undefined || request.headers.authorization !== `bearer ${known.bearer}`) {
    end(response, 401, '{}');
    return;
  }
  const value = known.tokens[audience ?? ''];
  end(response, value === undefined ? 400 : 200, JSON.stringify({ value }));
}

function end(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body);
}

const serve = (request: IncomingMessage, response: ServerResponse): void => {
  response.on('error', () => undefined);
  answer(request, response).catch(() => response.destroy());
};

const secure = createSecureServer({ cert: certificate, key }, serve);
const plain = createServer(serve);

async function listen(up: boolean): Promise<void> {
  const done = [secure, plain].map((server, index) => {
    const event = once(server, up ? 'listening' : 'close');
    if (up) server.listen(ports[index], '127.0.0.1');
    else server.close().closeAllConnections();
    return event;
  });
  await Promise.all(done);
}

parentPort?.on('message', async (order: IssuerOrder) => {
  if (order.order === 'behave') state = order.state;
  else if (order.order === 'forget') asked = [];
  else if (order.order === 'listen') await listen(order.up);
  parentPort?.postMessage(asked);
});
await listen(true);
parentPort?.postMessage(asked);
