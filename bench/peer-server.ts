/**
 * Separate OpenBao and Coffer servers for the benchmark: both durable, with a token of one policy and an audit file.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openStore } from '../src/library.ts';
import { initStore } from '../src/store/administration/init.ts';
import { generateMasterKey, parseMasterKey } from '../src/store/master-key.ts';
import { startServerProcess } from '../test/servers/server-process.ts';

const READY_WITHIN_MS = 30_000;
const POLICY = 'path "transit/*" { capabilities = ["create", "read", "update", "delete", "list"] }';

/** Server with a transit mount at `transit/`. */
export interface PeerServer {
  readonly port: number;
  readonly token: string;
  /** Returns the IDs of all its processes. */
  pids(): readonly number[];
  stop(): Promise<void>;
}

const bundle = fileURLToPath(new URL('../dist/coffer.cjs', import.meta.url));

/**
 * Starts Coffer.
 * @param workers number of server processes; a Go server by itself uses all cores
 */
export async function startOurs(directory: string, workers: number): Promise<PeerServer> {
  const location = join(directory, 'coffer');
  const masterKey = generateMasterKey();
  await initStore({ location, slots: [{ kind: 'raw', key: parseMasterKey(masterKey) }] });
  const coffer = await openStore({ location, masterKey });
  await coffer.policy.write({ name: 'app', policy: POLICY });
  const issued = await coffer.token.create({ policies: ['app'] });
  coffer.close();
  const { client_token: token } = issued as unknown as { client_token: string };
  const { address, child, stop } = await startServerProcess(
    [
      ...[bundle, 'serve', '--store', location, '--listen', '127.0.0.1:0'],
      ...['--workers', String(workers), '--audit-log', join(directory, 'coffer-audit.log')],
    ],
    { environment: { ...process.env, COFFER_MASTER_KEY: masterKey } },
  );
  const pid = child.pid ?? 0;
  return { port: Number(new URL(address).port), token, pids: () => withChildren(pid), stop: () => stop() };
}

/**
 * Starts OpenBao with storage that survives a power failure: among its backends, raft is the one for a single machine.
 */
export async function startBao(program: string, directory: string): Promise<PeerServer> {
  const data = join(directory, 'bao');
  mkdirSync(data);
  const [port, cluster] = [await freePort(), await freePort()];
  const config = join(directory, 'bao.hcl');
  writeFileSync(
    config,
    `storage "raft" {
      path = "${data}"
      node_id = "one"
    }
    listener "tcp" {
      address = "127.0.0.1:${port}"
      tls_disable = true
    }
    audit "file" "file" {
      options {
        file_path = "${join(directory, 'bao-audit.log')}"
      }
    }
    api_addr = "http://127.0.0.1:${port}"
    cluster_addr = "https://127.0.0.1:${cluster}"
    log_level = "error"`,
  );
  const child = spawn(program, ['server', `-config=${config}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: directory },
  });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    await ended(child);
  };
  try {
    const token = await prepare(port);
    return { port, token, pids: () => [child.pid ?? 0], stop };
  } catch (error) {
    await stop();
    throw new Error(`OpenBao does not start: ${log}`, { cause: error });
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

/**
 * Initializes, unseals and mounts.
 * @returns token with the policy
 */
async function prepare(port: number): Promise<string> {
  await until(() => ask(port, 'GET', 'sys/seal-status').then(({ status }) => status === 200));
  const init = await must(port, 'PUT', 'sys/init', { secret_shares: 1, secret_threshold: 1 });
  const { keys_base64: keys, root_token: root } = init as { keys_base64: string[]; root_token: string };
  await must(port, 'PUT', 'sys/unseal', { key: keys[0] });
  await until(() => ask(port, 'GET', 'sys/health').then(({ status }) => status === 200));
  await must(port, 'POST', 'sys/mounts/transit', { type: 'transit' }, root);
  await must(port, 'POST', 'sys/policies/acl/app', { policy: POLICY }, root);
  const made = await must(port, 'POST', 'auth/token/create', { policies: ['app'] }, root);
  return (made as { auth: { client_token: string } }).auth.client_token;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const late = performance.now() + READY_WITHIN_MS;
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > late) throw new Error('OpenBao is not ready');
    await pause(100);
  }
}

interface Reply {
  readonly status: number;
  readonly json: unknown;
}

/**
 * Sends a request.
 * @param body sent as JSON
 */
export async function ask(
  port: number,
  method: string,
  path: string,
  body?: object,
  token?: string,
): Promise<Reply> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/${path}`, {
    method,
    body: body === undefined ? null : JSON.stringify(body),
    headers: token === undefined ? {} : { 'x-vault-token': token },
  });
  const text = await answer.text();
  return { status: answer.status, json: text === '' ? undefined : JSON.parse(text) };
}

/**
 * Sends a request.
 * @throws if it is refused
 * @returns response
 */
export async function must(...asked: Parameters<typeof ask>): Promise<unknown> {
  const { status, json } = await ask(...asked);
  if (status >= 300) throw new Error(`${asked[1]} ${asked[2]}: ${status} ${JSON.stringify(json)}`);
  return json;
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  listener.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function withChildren(pid: number): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(withChildren)];
}
