/**
 * Every served operation against OpenBao's server, in time and in processor time per request. Both use plain HTTP on
 * loopback, check a token and its policy, write an audit file, and use all cores.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processorMs } from './http.ts';
import { type Load, type Request, underLoad } from './load.ts';
import { fromPairs, median, type Row } from './measure.ts';
import { peerProgram, without } from './peer-programs.ts';
import { must, type PeerServer, startBao, startOurs } from './peer-server.ts';

const isQuick = process.env['COFFER_BENCH_QUICK'] !== undefined;
const PAIRS = isQuick ? 1 : 5;
const MEASURE_MS = 1_000;
const WARM_UP_MS = isQuick ? 1_000 : 2_000;
const CONNECTIONS = 8;
/** Callers who change at the same time. */
const CALLERS = [1, CONNECTIONS, 32];
/** Keys that are there before changes are measured, and keys that are rotated in turn. */
const FILLED = isQuick ? 100 : 10_000;
const TURNED = isQuick ? 64 : 1_000;
const MEMORY_MS = isQuick ? 1_000 : 15_000;
const NO_SLOWER = 1;
const PEER = 'OpenBao';

const PLAINTEXT = Buffer.alloc(64, 7).toString('base64');
const BATCH = 100;
const SIGNING = ['ed25519', 'ecdsa-p256', 'rsa-2048', 'rsa-4096'];

/** Repeated request; `prepare` creates what it needs. */
interface Case {
  readonly operation: string;
  readonly path: string;
  readonly body: (server: PeerServer) => Promise<object>;
}

interface Answer {
  readonly data: {
    readonly ciphertext: string;
    readonly signature: string;
    readonly batch_results: object[];
  };
}

const made = async (server: PeerServer, path: string, body: object): Promise<Answer['data']> =>
  ((await must(server.port, 'POST', `transit/${path}`, body, server.token)) as Answer).data;

const items = Array.from({ length: BATCH }, () => ({ plaintext: PLAINTEXT }));
const SIGNED = { input: PLAINTEXT, marshaling_algorithm: 'jws' };

const CASES: readonly Case[] = [
  { operation: 'encrypt, 64 bytes', path: 'encrypt/data', body: async () => ({ plaintext: PLAINTEXT }) },
  {
    operation: 'decrypt, 64 bytes',
    path: 'decrypt/data',
    body: async (server) => ({
      ciphertext: (await made(server, 'encrypt/data', { plaintext: PLAINTEXT })).ciphertext,
    }),
  },
  { operation: 'hmac, 64 bytes', path: 'hmac/data', body: async () => ({ input: PLAINTEXT }) },
  {
    operation: `encrypt, batch of ${BATCH}`,
    path: 'encrypt/data',
    body: async () => ({ batch_input: items }),
  },
  {
    operation: `decrypt, batch of ${BATCH}`,
    path: 'decrypt/data',
    body: async (server) => ({
      batch_input: (await made(server, 'encrypt/data', { batch_input: items })).batch_results,
    }),
  },
  ...SIGNING.flatMap((type): Case[] => [
    { operation: `sign, ${type}`, path: `sign/${type}`, body: async () => SIGNED },
    {
      operation: `verify, ${type}`,
      path: `verify/${type}`,
      body: async (server) => ({
        ...SIGNED,
        signature: (await made(server, `sign/${type}`, SIGNED)).signature,
      }),
    },
  ]),
];

export async function servedRows(): Promise<readonly Row[]> {
  if (!existsSync(fileURLToPath(new URL('../dist/coffer.cjs', import.meta.url)))) {
    throw new Error('dist/coffer.cjs is missing: run "npm run build" first');
  }
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  const program = peerProgram('bao');
  const ours = await startOurs(directory, availableParallelism());
  try {
    const bao = program === undefined ? undefined : await startBao(program, directory);
    try {
      for (const server of bao === undefined ? [ours] : [ours, bao]) await makeKeys(server);
      const rows: Row[] = [];
      for (const each of CASES) rows.push(...(await compared(each, ours, bao)));
      rows.push(...(await changes(ours, bao)), ...(await memory(directory, ours, bao)));
      return rows;
    } finally {
      await bao?.stop();
    }
  } finally {
    await ours.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function makeKeys(server: PeerServer): Promise<void> {
  await must(server.port, 'POST', 'transit/keys/data', {}, server.token);
  for (const type of SIGNING) await must(server.port, 'POST', `transit/keys/${type}`, { type }, server.token);
}

/** One turn: time and processor time per request. */
interface Turn {
  readonly ms: number;
  readonly processorMs: number;
}

async function compared(
  { operation, path, body }: Case,
  ours: PeerServer,
  bao: PeerServer | undefined,
): Promise<readonly Row[]> {
  const load = async (server: PeerServer): Promise<Omit<Load, 'measureMs'>> => ({
    port: server.port,
    request: requestOf(server, path, await body(server)),
    connections: CONNECTIONS,
    depth: 1,
  });
  const ourLoad = await load(ours);
  const theirLoad = bao && (await load(bao));
  await underLoad({ ...ourLoad, measureMs: WARM_UP_MS });
  if (theirLoad !== undefined) await underLoad({ ...theirLoad, measureMs: WARM_UP_MS });
  const pairs: [Turn, Turn | undefined][] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    pairs.push([await turn(ours, ourLoad), bao && theirLoad && (await turn(bao, theirLoad))]);
  }
  return rowsOf(operation, pairs);
}

async function turn(server: PeerServer, load: Omit<Load, 'measureMs'>): Promise<Turn> {
  const before = processorOf(server);
  const { requests, seconds } = await underLoad({ ...load, measureMs: MEASURE_MS });
  return { ms: (seconds * 1000) / requests, processorMs: (processorOf(server) - before) / requests };
}

function rowsOf(operation: string, pairs: readonly (readonly [Turn, Turn | undefined])[]): readonly Row[] {
  const of = (name: string, member: (turn: Turn) => number): Row => {
    const whole = pairs.flatMap(([ours, theirs]) =>
      theirs === undefined ? [] : [[member(ours), member(theirs)] as const],
    );
    if (whole.length === 0) return without(name, median(pairs.map(([ours]) => member(ours))), 'bao');
    return { operation: name, floorName: PEER, limit: NO_SLOWER, ...fromPairs(whole) };
  };
  return [
    of(`served ${operation}`, ({ ms }) => ms),
    of('  processor time of it', ({ processorMs: ms }) => ms),
  ];
}

/** Durable changes, in stores of many keys: of a new key with a name at random, or of one of some keys once more. */
async function changes(ours: PeerServer, bao: PeerServer | undefined): Promise<readonly Row[]> {
  const servers = bao === undefined ? [ours] : [ours, bao];
  const create = (type: string) => (server: PeerServer) => ({
    ...requestOf(server, 'keys/*', { type }),
    names: 'new' as const,
  });
  const rotate = (server: PeerServer) => ({
    ...requestOf(server, 'keys/turning-*/rotate', {}),
    names: TURNED,
  });
  for (const server of servers) {
    await fill(server, { ...requestOf(server, 'keys/turning-*', {}), names: TURNED }, TURNED);
    await fill(server, create('aes256-gcm96')(server), FILLED);
  }
  const cases: readonly (readonly [operation: string, (server: PeerServer) => Request, callers: number])[] = [
    ...CALLERS.map((callers) => ['key create', create('aes256-gcm96'), callers] as const),
    ['key create, ed25519', create('ed25519'), CONNECTIONS],
    ...CALLERS.map((callers) => ['key rotate', rotate, callers] as const),
  ];
  const rows: Row[] = [];
  for (const [operation, request, connections] of cases) {
    const load = (server: PeerServer) => ({
      port: server.port,
      request: request(server),
      connections,
      depth: 1,
    });
    for (const server of servers) await underLoad({ ...load(server), measureMs: WARM_UP_MS });
    const pairs: [Turn, Turn | undefined][] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      pairs.push([await turn(ours, load(ours)), bao && (await turn(bao, load(bao)))]);
    }
    rows.push(
      ...rowsOf(`${operation}, ${connections === 1 ? 'one caller' : `${connections} callers`}`, pairs),
    );
  }
  return rows;
}

/** Sends a request at least so many times. */
async function fill({ port }: PeerServer, request: Request, times: number): Promise<void> {
  const load = { port, request, connections: Math.max(...CALLERS), depth: 1, measureMs: 1_000 };
  for (let sent = 0; sent < times; ) sent += (await underLoad(load)).requests;
}

/** Measures memory after encryption at full speed, in MiB. */
async function memory(
  directory: string,
  ours: PeerServer,
  bao: PeerServer | undefined,
): Promise<readonly Row[]> {
  const after = async (server: PeerServer): Promise<number> => {
    const request = requestOf(server, 'encrypt/data', { plaintext: PLAINTEXT });
    await underLoad({
      port: server.port,
      request,
      connections: 32,
      depth: 1,
      measureMs: MEMORY_MS,
    });
    return takenMiB(server);
  };
  const theirs = bao && (await after(bao));
  const row = (operation: string, mib: number): Row =>
    theirs === undefined
      ? without(operation, mib, 'bao')
      : { operation, floorName: PEER, limit: NO_SLOWER, ...fromPairs([[mib, theirs]]) };
  const all = row(`MiB after load, ${availableParallelism()} workers`, await after(ours));
  const alone = mkdtempSync(join(directory, 'alone-'));
  const one = await startOurs(alone, 1);
  try {
    await must(one.port, 'POST', 'transit/keys/data', {}, one.token);
    return [all, row('MiB after load, one process', await after(one))];
  } finally {
    await one.stop();
  }
}

const processorOf = (server: PeerServer): number =>
  server.pids().reduce((sum, pid) => sum + processorMs(pid), 0);

/** Returns the private memory of all processes, plus once the files mapped by all of them. */
function takenMiB(server: PeerServer): number {
  const parts = server.pids().map((pid) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const mib = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024;
    return { own: mib('RssAnon') + mib('RssShmem'), files: mib('RssFile') };
  });
  return parts.reduce((sum, { own }) => sum + own, 0) + Math.max(...parts.map(({ files }) => files));
}

function requestOf(server: PeerServer, path: string, body: object): Request {
  return {
    path: `/v1/transit/${path}`,
    headers: { 'X-Vault-Token': server.token, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
}
