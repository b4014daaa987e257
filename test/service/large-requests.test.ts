import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { childrenOf } from '../hygiene/processes.ts';
import { isLong } from '../long.ts';
import { chat } from '../servers/raw-http.ts';
import type { ServerProcess } from '../servers/server-process.ts';
import {
  cleanUpAfterAll,
  issueToken,
  send,
  spawnServer,
  startServer,
  temporaryDirectory,
} from '../servers/serving.ts';
import { workerCommand } from '../servers/worker-command.ts';

const MIB = 1024 * 1024;
/** How long an answer is waited for that never comes when a test fails. */
const PATIENCE_MS = 20_000;
const WITHIN = { timeout: PATIENCE_MS };
const LIMIT = 32 * MIB;

interface Health {
  /** How often it was told while `work` was going on. */
  readonly answers: number;
  /** The part that the thread which answers had in all that the server and its processes computed meanwhile. */
  readonly share: number;
}

/** The processor time of each thread of a process, in nanoseconds; the first one is the main thread. */
const threadTimes = (pid: number): readonly number[] =>
  readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );

async function healthDuring(
  { address, child: { pid = 0 } }: ServerProcess,
  work: () => Promise<void>,
): Promise<Health> {
  const program = fileURLToPath(new URL('health-prober.ts', import.meta.url));
  const prober = spawn(process.execPath, [program, address], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  prober.stdout.on('data', (chunk: Buffer) => {
    printed += chunk;
  });
  const ended = once(prober.stdout, 'end');
  await once(prober.stdout, 'data');
  const spent = (): { main: number; all: number } => {
    const all = [pid, ...childrenOf(pid)].flatMap(threadTimes).reduce((sum, time) => sum + time, 0);
    return { main: threadTimes(pid)[0] ?? 0, all };
  };
  const before = spent();
  await work();
  const after = spent();
  prober.kill('SIGTERM');
  await ended;
  return {
    answers: Number(printed.replace('ready\n', '')),
    share: (after.main - before.main) / (after.all - before.all),
  };
}

/** Were it the thread that answers which does the work, it would have nearly all of it, and answers would come when the work is done. */
function expectNotHeldUp({ answers, share }: Health): void {
  expect(answers).toBeGreaterThan(10);
  expect(share).toBeLessThan(1 / 2);
}

describe('a large request', () => {
  it('of 32 MiB and not one byte more is taken', async () => {
    const { address, token } = await startServer();
    await send(address, 'POST', '/v1/transit/keys/big', { token });
    const frame = JSON.stringify({ plaintext: '' }).length;
    const plaintext = 'A'.repeat(LIMIT - frame - ((LIMIT - frame) % 4));
    const body = JSON.stringify({ plaintext }).padEnd(LIMIT);
    const encrypted = await send(address, 'POST', '/v1/transit/encrypt/big', { token, body });
    expect(encrypted.status).toBe(200);
    const over = await send(address, 'POST', '/v1/transit/encrypt/big', { token, body: `${body} ` });
    expect(over).toMatchObject({ status: 413, json: { errors: ['http: request body too large'] } });
    expect(encrypted.json.data.ciphertext.length).toBeGreaterThan(LIMIT);
  });

  it('gets every answer that a small one gets, in the same bytes', async () => {
    const auditFile = join(temporaryDirectory(), 'audit.log');
    const { address, token } = await startServer({ auditFile });
    await send(address, 'POST', '/v1/transit/keys/k', { token });
    const items = Array.from({ length: 3_000 }, (_, index) => ({
      plaintext: 'aGVsbG8=',
      reference: `${index}`,
    }));
    const post = (path: string, body: unknown, headers = {}) =>
      send(address, 'POST', path, { token, body, headers });
    const encrypted = await post('/v1/transit/encrypt/k', { batch_input: items });
    expect(encrypted.status).toBe(200);
    expect(encrypted.json.data.batch_results).toHaveLength(items.length);
    const failing = await post('/v1/transit/encrypt/k', { batch_input: [...items, { plaintext: '!' }] });
    expect([failing.status, failing.text.endsWith('}')]).toEqual([400, true]);
    const padding = 'x'.repeat(100_000);
    expect(await post('/v1/transit/encrypt/none/x', { padding })).toMatchObject({ status: 404 });
    expect(await post('/v1/transit/encrypt/k', `{"padding":"${padding}"`)).toMatchObject({ status: 400 });
    const missing = await post('/v1/transit/encrypt/k', { padding });
    expect(missing.json).toEqual({ errors: ['missing plaintext to encrypt'] });
    const documents = { 'content-type': 'application/vnd.api+json' };
    const organization = { type: 'organizations', attributes: { name: 'acme', padding } };
    expect(await post('/api/v2/organizations', { data: organization }, documents)).toMatchObject({
      status: 201,
    });
    const tags = Array.from({ length: 1_000 }, (_, index) => ({
      type: 'tags',
      attributes: { name: `t${'0'.repeat(60)}${index}` },
    }));
    const made = await post('/api/v2/organizations/acme/tags', { data: tags }, documents);
    expect([made.status, made.json.data.length]).toEqual([201, 1_000]);
    const records = readFileSync(auditFile, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const answered = records.filter(
      ({ type, request }) => type === 'response' && request.path === 'transit/encrypt/k',
    );
    expect(answered.map(({ response }) => response.status)).toEqual([200, 400, 400, 400]);
  });

  it('without a good token is refused unread', async () => {
    const { address } = await startServer();
    const body = `{"plaintext":"${'A'.repeat(200_000)}`;
    const reply = await send(address, 'POST', '/v1/transit/encrypt/k', { body, token: 'cfr.bad' });
    expect(reply).toMatchObject({ status: 403, json: { errors: ['permission denied'] } });
    const documents = { 'content-type': 'application/vnd.api+json' };
    expect(await send(address, 'POST', '/api/v2/organizations', { body, headers: documents })).toMatchObject({
      status: 401,
    });
  });

  it('without a good token is refused before any of it has come, with its length or in pieces', async () => {
    const auditFile = join(temporaryDirectory(), 'audit.log');
    const { address } = await startServer({ auditFile });
    const port = Number(new URL(address).port);
    const framings = ['Content-Length: 30000000', 'Transfer-Encoding: chunked'];
    const refusals = [
      ['POST', '/v1/transit/encrypt/k', 403, '{"errors":["permission denied"]}\n'],
      ['PUT', '/v1/nothing', 403, '{"errors":["permission denied"]}\n'],
      ['POST', '/api/v2/organizations', 401, '{"errors":[{"status":"401","title":"unauthorized"}]}'],
      ['POST', '/nothing', 404, '{"errors":[]}\n'],
    ] as const;
    for (const framing of framings) {
      for (const [method, path, status, body] of refusals) {
        const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nX-Service-Token: cfr.bad\r\n${framing}\r\n\r\n`;
        const { answers } = await chat([head], { port, answers: 1, patienceMs: PATIENCE_MS });
        expect([framing, path, answers[0]?.status, answers[0]?.body]).toEqual([framing, path, status, body]);
      }
    }
    const records = readFileSync(auditFile, 'utf8').trim().split('\n');
    const recorded = ['transit/encrypt/k', 'nothing', 'api/v2/organizations'];
    expect(records.map((line) => JSON.parse(line).request.path)).toEqual([...recorded, ...recorded]);
  });

  it('to the server itself or for a token is refused before any of it has come, from 1 MiB on', async () => {
    const { address } = await startServer();
    const port = Number(new URL(address).port);
    const paths = ['sys/unseal', '%73ys/unseal', 'auth/token/create', '%61uth/token/create'];
    for (const path of paths) {
      const head = `POST /v1/${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${MIB + 1}\r\n\r\n`;
      const { answers } = await chat([head], { port, answers: 1, patienceMs: PATIENCE_MS });
      expect([path, answers[0]?.status, answers[0]?.body]).toEqual([
        path,
        413,
        '{"errors":["http: request body too large"]}\n',
      ]);
    }
  });

  it('about the server itself is answered by the server, however its path is encoded', async () => {
    const { address, token } = await startServer();
    const body = { padding: 'x'.repeat(100_000) };
    expect(await send(address, 'POST', '/v1/%73ys/seal', { token, body })).toMatchObject({ status: 204 });
  });

  it('has no business under sys/', async () => {
    const { address, token } = await startServer();
    const body = { key: 'A'.repeat(2 * MIB) };
    expect(await send(address, 'POST', '/v1/sys/unseal', { token, body })).toMatchObject({ status: 413 });
  });

  it('is answered again after the process that worked on it was killed', async () => {
    const { address, token, child } = await spawnServer();
    await send(address, 'POST', '/v1/transit/keys/k', { token });
    const body = { plaintext: 'A'.repeat(200_000) };
    const encrypt = () => send(address, 'POST', '/v1/transit/encrypt/k', { token, body });
    expect((await encrypt()).status).toBe(200);
    for (const pid of childrenOf(child.pid ?? 0)) process.kill(pid, 'SIGKILL');
    const statuses = [await encrypt(), await encrypt()].map(({ status }) => status);
    expect(statuses.at(-1)).toBe(200);
  });
});

const itemsOf = (count: number, plaintext: string) => ({
  batch_input: Array.from({ length: count }, () => ({ plaintext })),
});

describe('the large requests of several callers', () => {
  it('share the processes that work on them, so that nobody waits for all that another one sent before', async () => {
    const { address, token, directory } = await startServer();
    const other = await issueToken(directory, {});
    await send(address, 'POST', '/v1/transit/keys/k', { token });
    const order: string[] = [];
    const encrypt = async (name: string, by: string, body: object): Promise<void> => {
      expect(await send(address, 'POST', '/v1/transit/encrypt/k', { token: by, body })).toMatchObject({
        status: 200,
      });
      order.push(name);
    };
    /** Long enough for a process of its own, and next to no work. */
    const short = { plaintext: Buffer.alloc(75_000).toString('base64') };
    // Both lanes are open from then on.
    await Promise.all([encrypt('first', token, short), encrypt('first', other, short)]);
    // A hundred times as much work, so that who waits for none of it comes first however the system divides its time.
    const much = itemsOf(isLong ? 40_000 : 10_000, Buffer.alloc(60).toString('base64'));
    const long = ['long', 'long', 'long'].map((name) => encrypt(name, token, much));
    await Promise.all([...long, encrypt('short', other, short)]);
    expect(order).toEqual(['first', 'first', 'short', 'long', 'long', 'long']);
  });

  it('that are too many at a time are refused unread, and only those', async () => {
    const { address, token } = await startServer();
    await send(address, 'POST', '/v1/transit/keys/k', { token });
    // Who does not say how much will come is given room for the most.
    const begun = Array.from({ length: 8 }, () => beginRequest(`${address}/v1/transit/encrypt/k`, token));
    const statuses = () => begun.map(({ answer }) => answer?.statusCode).sort();
    await vi.waitUntil(() => statuses().filter((status) => status === 503).length === 4, WITHIN);
    const refused = begun.find(({ answer }) => answer !== undefined)?.answer;
    expect(await text(refused ?? Readable.from([]))).toContain('too many large requests are waiting');
    for (const { sent, answer } of begun) if (answer === undefined) sent.end('{"plaintext":""}');
    await vi.waitUntil(() => !statuses().includes(undefined), WITHIN);
    expect(statuses()).toEqual([200, 200, 200, 200, 503, 503, 503, 503]);
    const body = JSON.stringify({ plaintext: '' }).padEnd(MIB);
    expect((await send(address, 'POST', '/v1/transit/encrypt/k', { token, body })).status).toBe(200);
  });

  it.runIf(isLong)('are refused if they are too many at a time, where each has 32 MiB', async () => {
    const { address, token } = await startServer();
    await send(address, 'POST', '/v1/transit/keys/k', { token });
    const body = JSON.stringify({ plaintext: '' }).padEnd(LIMIT);
    const encrypt = () => send(address, 'POST', '/v1/transit/encrypt/k', { token, body });
    const replies = await Promise.all(Array.from({ length: 8 }, encrypt));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 503]));
    const refused = replies.find(({ status }) => status === 503);
    expect(refused?.json.errors[0]).toContain('too many large requests are waiting');
    expect((await encrypt()).status).toBe(200);
  });
});

/** A request whose body has begun, and its answer as soon as that is there. */
function beginRequest(address: string, token: string) {
  const sent = request(address, { method: 'POST', headers: { 'x-service-token': token } });
  const begun: { readonly sent: ClientRequest; answer?: IncomingMessage } = { sent };
  sent.once('response', (answer) => {
    begun.answer = answer;
  });
  // The server hangs up on whom it refuses.
  sent.on('error', () => undefined);
  sent.write(' ');
  return begun;
}

describe('a process that works on large requests', () => {
  const PRLIMIT = '/usr/bin/prlimit';

  it.runIf(existsSync(PRLIMIT))('fails its request alone when it can not even be started', async () => {
    const { address, token, child } = await spawnServer();
    const pid = `${child.pid}`;
    await send(address, 'POST', '/v1/transit/keys/k', { token });
    const encrypt = (count: number) =>
      send(address, 'POST', '/v1/transit/encrypt/k', { token, body: itemsOf(count, 'aGVsbG8=') });
    expect((await encrypt(1)).status).toBe(200);
    // Room for the connection, and not for the pipes to another process.
    const files = readdirSync(`/proc/${pid}/fd`).length;
    const allow = (count: number) => execFileSync(PRLIMIT, ['--pid', pid, `--nofile=${count}:4096`]);
    allow(files + 3);
    expect(await encrypt(3_000)).toMatchObject({
      status: 503,
      json: { errors: ['cannot start a worker for large requests'] },
    });
    allow(4096);
    expect((await encrypt(3_000)).status).toBe(200);
  });

  it('ends alone when it runs out of memory', async () => {
    const { address, token } = await startServer({
      workerCommand: ['--max-old-space-size=48', ...workerCommand()],
    });
    await send(address, 'POST', '/v1/transit/keys/k', { token });
    const encrypt = (body: unknown) => send(address, 'POST', '/v1/transit/encrypt/k', { token, body });
    // Of millions of lists nothing can be freed while they are read, and nobody can stop V8 from ending its process.
    const zeros = `{"batch_input":[${'[],'.repeat(isLong ? LIMIT / 10 : LIMIT / 20)}0]}`;
    expect(await encrypt(zeros)).toMatchObject({
      status: 503,
      json: { errors: ['the worker for large requests exited'] },
    });
    expect((await encrypt(itemsOf(3_000, 'aGVsbG8='))).status).toBe(200);
  });

  it.runIf(process.platform === 'linux')(
    'is ended before the server when the machine runs out of memory',
    async () => {
      const { address, token, child } = await spawnServer();
      await send(address, 'POST', '/v1/transit/keys/k', { token });
      await send(address, 'POST', '/v1/transit/encrypt/k', { token, body: itemsOf(3_000, 'aGVsbG8=') });
      const server = child.pid ?? 0;
      const readiness = (pid: number): number => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'));
      expect(childrenOf(server).map(readiness)).toEqual([1000]);
      expect(readiness(server)).toBeLessThan(1000);
    },
  );
});

describe('the health of a server', () => {
  const finished = cleanUpAfterAll();
  let server: Awaited<ReturnType<typeof spawnServer>>;
  beforeAll(async () => {
    server = await spawnServer({}, finished);
  });

  it('is told while it takes in large batches', async () => {
    const { address, token } = server;
    await send(address, 'POST', '/v1/transit/keys/k', { token });
    const item = { plaintext: Buffer.alloc(300, 7).toString('base64') };
    const size = isLong ? LIMIT : LIMIT / 8;
    const count = Math.floor((size - 100) / (JSON.stringify(item).length + 1));
    const body = JSON.stringify({ batch_input: Array.from({ length: count }, () => item) });
    const encrypt = () => send(address, 'POST', '/v1/transit/encrypt/k', { token, body });
    const health = await healthDuring(server, async () => {
      const replies = await Promise.all([encrypt(), encrypt()]);
      for (const { status } of replies) expect(status).toBe(200);
    });
    expectNotHeldUp(health);
  });

  it('is told while it takes in a short backup that unfolds to a long document', async () => {
    const { address, token, child } = server;
    const keys = Array.from({ length: isLong ? 150_000 : 75_000 }, () => ({}));
    const document = gzipSync(JSON.stringify({ policy: {}, archived_keys: { keys } }));
    const backup = Buffer.concat([Buffer.from('G'), document]).toString('base64');
    expect(backup.length).toBeLessThan(10_000);
    const health = await healthDuring(server, async () => {
      for (const path of ['/v1/transit/restore', '/v1/transit/%72estore/x']) {
        const reply = await send(address, 'POST', path, { token, body: { backup } });
        expect(reply).toMatchObject({ status: 400 });
      }
    });
    expect(childrenOf(child.pid ?? 0)).toHaveLength(1);
    expectNotHeldUp(health);
  });

  it('is told while it makes RSA keys', async () => {
    const { address, token } = server;
    const make = (name: string, type: string) =>
      send(address, 'POST', `/v1/transit/keys/${name}`, { token, body: { type } });
    // What making the first one loads is not of interest.
    await make('first', 'rsa-2048');
    const health = await healthDuring(server, async () => {
      const making = ['a', 'b', 'c'].map((name) => make(name, isLong ? 'rsa-4096' : 'rsa-3072'));
      for (const { status } of await Promise.all(making)) expect(status).toBe(200);
    });
    expectNotHeldUp(health);
  });
});
