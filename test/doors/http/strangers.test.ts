import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { childrenOf } from '../../hygiene/processes.ts';
import { isLong } from '../../long.ts';
import { sampled } from '../../sampled.ts';
import { seeded } from '../../seeded.ts';
import { chat } from '../../servers/raw-http.ts';
import { routePaths, spellings } from '../../servers/route-paths.ts';
import type { ServerProcess } from '../../servers/server-process.ts';
import {
  cleanUpAfterAll,
  issueToken,
  send,
  setPolicy,
  spawnServer,
  startServer,
  type TestServer,
} from '../../servers/serving.ts';

const MIB = 1024 * 1024;
const BODY_BYTES = 32 * MIB;
/** So much of it is sent by each of many at once: in all far more than a server may take in. */
const SENT_BYTES = isLong ? BODY_BYTES : 2 * MIB;
const STRANGER_BYTES = 64 * 1024;

/** Those of every operation that takes a body. */
const paths = routePaths.filter(
  ({ method }) => method === 'POST' || method === 'PATCH' || method === 'DELETE',
);

const head = (method: string, path: string, framing: string, token?: string): string =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: x',
    'Content-Type: application/vnd.api+json',
    ...(token === undefined ? [] : [`X-Service-Token: ${token}`]),
    framing,
    '',
    '',
  ].join('\r\n');

const LARGE = `Content-Length: ${BODY_BYTES}`;
const CHUNKED = 'Transfer-Encoding: chunked';

/** The path as it is in both framings, and the other ways to write it in both; of these, two outside of the long proof. */
function requestsTo(path: string): readonly { readonly written: string; readonly framing: string }[] {
  const [usual, ...others] = spellings(path).map((written) =>
    [LARGE, CHUNKED].map((framing) => ({ written, framing })),
  );
  return [...(usual ?? []), ...sampled(others.flat(), seeded(path), 6)];
}

describe('a large body of somebody without a token', () => {
  const afterwards = cleanUpAfterAll();
  let server: TestServer;
  let port: number;
  beforeAll(async () => {
    server = await startServer({}, afterwards);
    port = Number(new URL(server.address).port);
  });

  // Written out, because a long path in a template is cut.
  it.each(paths.map(({ method, path }) => [`${method} ${path}`, method, path] as const))(
    'is answered before any of it has come, however the path is written: %s',
    async (_, method, path) => {
      const requests = requestsTo(path);
      const statuses = await Promise.all(
        requests.map(async ({ written, framing }) => {
          // A body that comes in pieces is looked at where one without a token may send something.
          const body =
            framing === CHUNKED
              ? `${(STRANGER_BYTES + 1).toString(16)}\r\n${'x'.repeat(STRANGER_BYTES + 1)}\r\n`
              : '';
          const { answers } = await chat([head(method, written, framing) + body], { port, answers: 1 });
          return [written, framing, (answers[0]?.status ?? 0) >= 400];
        }),
      );
      expect(statuses).toEqual(requests.map(({ written, framing }) => [written, framing, true]));
    },
  );

  it('of a size that none without a token may send is refused where some may: sys/unseal', async () => {
    const over = head('POST', '/v1/sys/unseal', `Content-Length: ${STRANGER_BYTES + 1}`);
    const { answers } = await chat([over], { port, answers: 1 });
    expect([answers[0]?.status, answers[0]?.body]).toEqual([
      413,
      '{"errors":["http: request body too large"]}\n',
    ]);
  });

  const root = (path: string, body: object) =>
    send(server.address, 'POST', `/v1/auth/token/${path}`, { token: server.token, body });

  it.each([
    ['has none', async () => undefined],
    [
      'has one that is good elsewhere',
      async () => {
        await root('roles/bound', { token_bound_cidrs: '10.0.0.0/8' });
        return (await root('create/bound', {})).json.auth.client_token;
      },
    ],
  ])('is not asked for when the client waits to be told to send it, and %s', async (_, makeToken) => {
    const token: string | undefined = await makeToken();
    const waiting = head('POST', '/v1/transit/encrypt/x', `${LARGE}\r\nExpect: 100-continue`, token);
    const socket = connect(port, '127.0.0.1');
    socket.write(waiting);
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(first.toString()).toMatch(/^HTTP\/1\.1 403 /);
  });
});

const residentMiB = ({ child }: Pick<ServerProcess, 'child'>): number => {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
};

/** Sends of a body until the answer comes, as most clients do, or all that is to be sent whatever comes. @returns the answer. */
async function sendLarge(
  server: Pick<ServerProcess, 'address'>,
  path: string,
  { token, insists = false }: { readonly token?: string; readonly insists?: boolean } = {},
): Promise<string> {
  const socket = connect(Number(new URL(server.address).port), '127.0.0.1');
  socket.on('error', () => undefined);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
    if (!insists) socket.end();
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(head('POST', path, LARGE, token));
  const piece = Buffer.alloc(MIB, '[0,12345678901234567890,');
  for (let sent = 0; sent < SENT_BYTES && socket.writable; sent += MIB) {
    if (!socket.write(piece)) {
      await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
    }
  }
  socket.end();
  await closed;
  return answer;
}

describe('a server that is offered 32 MiB by each of 60 connections', () => {
  it('takes in nothing for those without a token, and answers each', async () => {
    const server = await spawnServer();
    await sendLarge(server, '/v1/transit/encrypt/x');
    const before = residentMiB(server);
    let peak = 0;
    const watching = setInterval(() => {
      peak = Math.max(peak, residentMiB(server));
    }, 50);
    const written = [
      '/v1/sys%2Funseal',
      '/v1/auth%2Fx',
      '/v1/transit/encrypt/x',
      '/api/v2/organizations',
      '/x',
    ];
    for (const path of written) expect(await sendLarge(server, path)).toMatch(/^HTTP\/1\.1 4\d\d /);
    // Who does not listen while sending may lose the answer, and costs no more.
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        sendLarge(server, written[index % written.length] ?? '', { insists: true }),
      ),
    );
    clearInterval(watching);
    expect(peak - before).toBeLessThan(50);
  });

  it('starts no process for those whose policies allow them nothing', async () => {
    const server = await spawnServer();
    await setPolicy(server.directory, 'nothing', 'path "transit/keys/x" { capabilities = ["read"] }');
    const token = await issueToken(server.directory, { policies: ['nothing'] });
    expect(await sendLarge(server, '/v1/transit/encrypt/x', { token })).toMatch(/^HTTP\/1\.1 403 /);
    await Promise.all(
      Array.from({ length: 20 }, () => sendLarge(server, '/v1/transit/encrypt/x', { token, insists: true })),
    );
    expect(childrenOf(server.child.pid ?? 0)).toEqual([]);
  });
});
