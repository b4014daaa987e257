import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const BINARIES = '/usr/lib/postgresql/15/bin';
const READY_WITHIN_MS = 30_000;
/** Kept small: the database is killed and started again many times. */
const SETTINGS = [
  'shared_buffers=16MB',
  'max_connections=60',
  'max_wal_senders=4',
  'wal_level=replica',
  'listen_addresses=127.0.0.1',
  'log_min_messages=fatal',
];

const isRoot = process.getuid?.() === 0;

/** Why there can be no database here; undefined when there can. Installs PostgreSQL where that is possible and needed. */
export function whyNoDatabase(): string | undefined {
  if (existsSync(join(BINARIES, 'postgres'))) return undefined;
  if (!isRoot) return 'PostgreSQL 15 is not installed, and only root can install it';
  try {
    const options = { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
    execFileSync('apt-get', ['update', '-qq'], options);
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'postgresql-15'], options);
    return undefined;
  } catch {
    return 'PostgreSQL 15 could not be installed';
  }
}

/** PostgreSQL refuses to run as root. */
const owner = isRoot ? ownerIds() : undefined;

function ownerIds(): { readonly uid: number; readonly gid: number } {
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

const asOwner = { ...owner, cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', HOME: '/tmp' } };

function runProgram(program: string, ...parameters: string[]): string {
  return execFileSync(join(BINARIES, program), parameters, { ...asOwner, encoding: 'utf8', stdio: 'pipe' });
}

/** A PostgreSQL server on loopback, with its files in a directory of its own. */
export class Cluster {
  readonly port: number;
  readonly #directory: string;
  #server: ChildProcess | undefined;

  private constructor(directory: string, port: number) {
    this.#directory = directory;
    this.port = port;
  }

  /** A new one, with the superuser `admin` whose password is `secret`. */
  static async create(): Promise<Cluster> {
    const cluster = new Cluster(newDirectory(), await freePort());
    const passwordFile = join(cluster.#directory, 'password');
    writeFileSync(passwordFile, 'secret\n', { mode: 0o644 });
    const how = [
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
      `--pwfile=${passwordFile}`,
    ];
    runProgram('initdb', '-D', cluster.#data, '-U', 'admin', ...how);
    await cluster.start();
    return cluster;
  }

  /** A standby that follows this one, each commit waiting for it. */
  async standby(): Promise<Cluster> {
    const standby = new Cluster(newDirectory(), await freePort());
    const from = `host=127.0.0.1 port=${this.port} user=admin password=secret application_name=standby`;
    runProgram(
      'pg_basebackup',
      '-D',
      standby.#data,
      '-d',
      from,
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
      '--no-sync',
    );
    await standby.start();
    await this.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    await this.query('SELECT pg_reload_conf()');
    return standby;
  }

  get #data(): string {
    return join(this.#directory, 'data');
  }

  async start(): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS;
    do {
      if (performance.now() > deadline) throw new Error('PostgreSQL does not start');
      // Processes that outlived a killed one for a moment keep it from starting.
      if (this.#server === undefined || this.#server.exitCode !== null) this.#spawn();
      await sleep(50);
    } while (!(await this.#answers()));
  }

  #spawn(): void {
    const settings = [...SETTINGS, `port=${this.port}`, `unix_socket_directories=${this.#directory}`];
    const parameters = ['-D', this.#data, ...settings.flatMap((setting) => ['-c', setting])];
    this.#server = spawn(join(BINARIES, 'postgres'), parameters, { ...asOwner, stdio: 'ignore' });
  }

  async #answers(): Promise<boolean> {
    try {
      await this.query('SELECT 1');
      return true;
    } catch {
      return false;
    }
  }

  /** Starts it again with these files in its own directory (readable for itself alone), and these settings beside the usual ones. */
  async restart(
    files: Readonly<Record<string, string>>,
    settings: Readonly<Record<string, string>>,
  ): Promise<void> {
    await this.#end('SIGINT');
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.#data, name);
      writeFileSync(path, content, { mode: 0o600 });
      if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
    }
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    appendFileSync(join(this.#data, 'postgresql.conf'), lines.join(''));
    await this.start();
  }

  /** With no chance to write anything; its children notice, and end. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  }

  /** Stops every process of it in its tracks, as on a machine that is frozen; or its first one alone, which takes new connections. */
  freeze(which: 'all' | 'postmaster' = 'all'): void {
    this.#signal(which === 'all' ? this.#processes() : this.#processes().slice(0, 1), 'SIGSTOP');
  }

  thaw(): void {
    this.#signal(this.#processes(), 'SIGCONT');
  }

  #processes(): readonly number[] {
    const pid = this.#server?.pid;
    if (pid === undefined) return [];
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number);
    return [pid, ...children.filter((child) => child > 0)];
  }

  #signal(pids: readonly number[], signal: NodeJS.Signals): void {
    for (const pid of pids) process.kill(pid, signal);
  }

  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()');
  }

  async remove(): Promise<void> {
    await this.#end('SIGQUIT');
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** The location of a store, as `admin` or somebody else. */
  location(
    schema: string,
    { user = 'admin', password = 'secret', database = 'postgres', more = '' } = {},
  ): string {
    return `postgres://${user}:${password}@127.0.0.1:${this.port}/${database}?schema=${schema}${more}`;
  }

  /** Runs SQL as `admin`. */
  async query(sql: string): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client(this.location('').replace('?schema=', ''));
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Everything in the database, as text. */
  dump(): string {
    const url = `postgresql://admin:secret@127.0.0.1:${this.port}/postgres`;
    return runProgram('pg_dump', '--inserts', url);
  }
}

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-postgres-'));
  chmodSync(directory, 0o755);
  if (owner !== undefined) chownSync(directory, owner.uid, owner.gid);
  return directory;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

let schemas = 0;
/** A name that no other test of this file has. */
export const newSchema = (): string => `store_${++schemas}`;
