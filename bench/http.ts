/** Served encryption, with token, policy and audit log, against a route that only encrypts. */
import { createCipheriv } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { systemRandom } from '../src/ground/random.ts';
import { openStore } from '../src/library.ts';
import { initStore } from '../src/store/administration/init.ts';
import { generateMasterKey, parseMasterKey } from '../src/store/master-key.ts';
import { startServerProcess } from '../test/servers/server-process.ts';
import { type Load, type Measured, type Request, underLoad } from './load.ts';
import { median, type Row } from './measure.ts';

const KEY = 'bench';
const PLAINTEXT = Buffer.alloc(64, 7).toString('base64');
const BATCH_ITEMS = 10_000;
const PAIRS = 7;

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const bundle = here('../dist/coffer.cjs');

export interface Server {
  readonly port: number;
  readonly pid: number;
  /** Request that loads it. */
  readonly request: Request;
  close(): Promise<void>;
}

export async function run(): Promise<readonly Row[]> {
  if (!existsSync(bundle)) throw new Error('dist/coffer.cjs is missing: run "npm run build" first');
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  try {
    const store = await newStore(directory);
    return [
      ...(await oneWorker(store)),
      ...(await memory(store)),
      await refused(store),
      await twoWorkers(store),
      await batch(store),
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export interface TestStore {
  readonly location: string;
  readonly auditFile: string;
  readonly masterKey: string;
  readonly token: string;
}

/** Creates a store with a key, and a token whose policy allows encryption. */
export async function newStore(parent: string, location = join(parent, 'store')): Promise<TestStore> {
  const masterKey = generateMasterKey();
  await initStore({ location, slots: [{ kind: 'raw', key: parseMasterKey(masterKey) }] });
  const coffer = await openStore({ location, masterKey });
  await coffer.transit.keys.create({ name: KEY });
  await coffer.policy.write({
    name: 'app',
    policy: 'path "transit/encrypt/*" { capabilities = ["update"] }',
  });
  const issued = await coffer.token.create({ policies: ['app'] });
  coffer.close();
  const { client_token: token } = issued as unknown as { client_token: string };
  return { location, masterKey, token, auditFile: join(parent, 'audit.log') };
}

async function oneWorker(store: TestStore): Promise<readonly Row[]> {
  const [ours, floor] = [await startCoffer(store, 1), await startFloor()];
  try {
    const pairs = await takeTurns(ours, floor, { connections: 16, depth: 1 });
    const floorName = 'a bare node:http route';
    return [
      row('served encrypt, 64 bytes', pairs, perRequestMs, floorName, 1 / 0.8),
      row('  processor time of it', pairs, ({ processorMs: ms }) => ms, floorName, 1.3),
      row('served encrypt, 99th percentile', pairs, ({ p99Ms }) => p99Ms, floorName, 3),
    ];
  } finally {
    await Promise.all([ours.close(), floor.close()]);
  }
}

/**
 * Measures the memory of a server while it encrypts at full speed. The columns are in MiB, and the first floor is the
 * promised maximum.
 */
export async function memory(store: TestStore): Promise<readonly Row[]> {
  const server = await startCoffer(store, 1);
  const shape = { connections: 32, depth: 1 };
  try {
    await loaded(server, shape, 60_000);
    const first = residentMiB(server.pid);
    await loaded(server, shape, 60_000);
    const second = residentMiB(server.pid);
    return [
      row('served encrypt, MiB resident after 60 s', [[first, 120]], (mib) => mib, 'what is promised', 1),
      row('served encrypt, MiB after 120 s', [[second, first]], (mib) => mib, 'after 60 s', 1.05),
    ];
  } finally {
    await server.close();
  }
}

const REFUSALS = 200;
const MIB = 1024 * 1024;

/** Measures the server's processor time for requests with an invalid token, each on a connection of its own. */
export async function refused(store: TestStore): Promise<Row> {
  const server = await startCoffer(store, 1);
  const cpuMs = async (bytes: number): Promise<number> => {
    const before = processorMs(server.pid);
    for (let count = 0; count < REFUSALS; count += 1) await sendRefused(server.port, bytes);
    return (processorMs(server.pid) - before) / REFUSALS;
  };
  try {
    await cpuMs(100);
    await cpuMs(MIB);
    const pairs: [number, number][] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) pairs.push([await cpuMs(MIB), await cpuMs(100)]);
    return row('refused request of 1 MiB, processor time', pairs, (ms) => ms, 'one of 100 bytes', 2);
  } finally {
    await server.close();
  }
}

/** Continues sending until the response arrives, as most clients do. */
async function sendRefused(port: number, bytes: number): Promise<void> {
  const body = Buffer.alloc(bytes, 'A');
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const answered = once(socket, 'data');
  socket.on('error', () => undefined);
  socket.write(
    `POST /v1/transit/encrypt/${KEY} HTTP/1.1\r\nHost: bench\r\nX-Service-Token: cfr.bad\r\n` +
      `Content-Length: ${bytes}\r\n\r\n`,
  );
  socket.write(body);
  const [answer] = (await answered) as [Buffer];
  if (!answer.toString().startsWith('HTTP/1.1 403')) throw new Error(`answered ${answer.toString()}`);
  socket.destroy();
}

/**
 * Returns the processor time of a process in milliseconds. The kernel counts user and system time in hundredths of a
 * second.
 */
export function processorMs(pid: number): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ');
  const [user = '', system = ''] = fields.split(' ').slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}

export const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** Requests are pipelined, because the load generator would otherwise take most of the second core. */
async function twoWorkers(store: TestStore): Promise<Row> {
  const [two, one] = [await startCoffer(store, 2), await startCoffer(store, 1)];
  try {
    const pairs = await takeTurns(two, one, { connections: 32, depth: 16 });
    return row('served encrypt, two workers', pairs, perRequestMs, 'one worker', 1 / 1.8);
  } finally {
    await Promise.all([two.close(), one.close()]);
  }
}

async function batch(store: TestStore): Promise<Row> {
  const server = await startCoffer(store, 1);
  const agent = new Agent({ keepAlive: true });
  try {
    const items = Array.from({ length: BATCH_ITEMS }, () => ({ plaintext: PLAINTEXT }));
    const body = JSON.stringify({ batch_input: items });
    for (let warmUp = 0; warmUp < 3; warmUp += 1) {
      await post(server, agent, store.token, body);
      encryptBare(items);
    }
    const pairs: [number, number][] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      pairs.push([
        (await timed(() => post(server, agent, store.token, body))) / BATCH_ITEMS,
        (await timed(async () => encryptBare(items))) / BATCH_ITEMS,
      ]);
    }
    return row(
      `served batch of ${BATCH_ITEMS.toLocaleString('en')}, per item`,
      pairs,
      (ms) => ms,
      'a loop of node:crypto',
      2.5,
    );
  } finally {
    agent.destroy();
    await server.close();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const bareKey = systemRandom.bytes(32);

function encryptBare(items: readonly { readonly plaintext: string }[]): readonly string[] {
  return items.map(({ plaintext }) => {
    const iv = systemRandom.bytes(12);
    const cipher = createCipheriv('aes-256-gcm', bareKey, iv);
    const sealed = [iv, cipher.update(plaintext, 'base64'), cipher.final(), cipher.getAuthTag()];
    return `service:v1:${Buffer.concat(sealed).toString('base64')}`;
  });
}

export function row<T>(
  operation: string,
  pairs: readonly (readonly [T, T])[],
  of: (measured: T) => number,
  floorName: string,
  limit: number,
): Row {
  return {
    operation,
    floorName,
    limit: Number(limit.toFixed(3)),
    ours: median(pairs.map(([ours]) => of(ours))),
    floor: median(pairs.map(([, floor]) => of(floor))),
    ratio: median(pairs.map(([ours, floor]) => of(ours) / of(floor))),
  };
}

export const perRequestMs = ({ requests, seconds }: Measured): number => (seconds * 1000) / requests;

/**
 * Result under load, with the server's processor time per request, in milliseconds, which is independent of the load
 * generator.
 */
export interface Loaded extends Measured {
  readonly processorMs: number;
}

/** Loads both servers alternately, so that noise affects both alike. */
export async function takeTurns(
  ours: Server,
  floor: Server,
  shape: Pick<Load, 'connections' | 'depth'>,
): Promise<readonly (readonly [Loaded, Loaded])[]> {
  for (const server of [ours, floor]) await loaded(server, shape, 2_000);
  const pairs: (readonly [Loaded, Loaded])[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    pairs.push([await loaded(ours, shape, 1_000), await loaded(floor, shape, 1_000)]);
  }
  return pairs;
}

export async function loaded(
  { port, pid, request }: Server,
  shape: Pick<Load, 'connections' | 'depth'>,
  measureMs: number,
): Promise<Loaded> {
  const before = processorMs(pid);
  const measured = await underLoad({ port, request, ...shape, measureMs });
  return { ...measured, processorMs: (processorMs(pid) - before) / measured.requests };
}

function requestWith(headers: Readonly<Record<string, string>>): Request {
  return {
    path: `/v1/transit/encrypt/${KEY}`,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ plaintext: PLAINTEXT }),
  };
}

export async function startCoffer(store: TestStore, workers: number): Promise<Server> {
  const options = ['--listen', '127.0.0.1:0', '--workers', String(workers), '--audit-log', store.auditFile];
  const { address, child, stop } = await startServerProcess(
    [bundle, 'serve', '--store', store.location, ...options],
    { environment: { ...process.env, COFFER_MASTER_KEY: store.masterKey } },
  );
  const port = Number(new URL(address).port);
  const request = requestWith({ 'X-Service-Token': store.token });
  return { port, pid: child.pid ?? 0, request, close: () => stop() };
}

async function startFloor(): Promise<Server> {
  const { address, child, stop } = await startServerProcess([here('http-floor.ts')]);
  return { port: Number(address), pid: child.pid ?? 0, request: requestWith({}), close: () => stop() };
}

async function post({ port }: Server, agent: Agent, token: string, body: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const sent = request(
    {
      ...{ port, agent, host: '127.0.0.1', method: 'POST', path: `/v1/transit/encrypt/${KEY}` },
      headers: { 'x-service-token': token, 'content-length': Buffer.byteLength(body) },
    },
    (answer) => {
      text(answer).then((all) => {
        if (answer.statusCode === 200) resolve();
        else reject(new Error(`the server answered ${answer.statusCode}: ${all.slice(0, 200)}`));
      }, reject);
    },
  );
  sent.once('error', reject);
  sent.end(body);
  await promise;
}
