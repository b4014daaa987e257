import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isLong } from '../../long.ts';
import { freePort } from '../../servers/ports.ts';
import { Database } from './database.ts';
import { asOwner, owner, programPath, runProgram } from './installed.ts';
import { isRunOfTests, templateOfRun } from './run.ts';

const READY_WITHIN_MS = 30_000;
/** Of `postmaster.pid`, counted from 0: the key and the id of the segment. */
const SEGMENT_LINE = 6;
/** A process that is killed loses nothing that it has handed to the platform: only the long proof, and what measures, wait for disks. */
const waitsForDisks = (): boolean => isLong || !isRunOfTests();
/** Kept small: the database is killed and started again many times. */
const settings = (): readonly string[] => [
  'shared_buffers=16MB',
  // More than all files that share it use at the same time: commands by the dozen, of two files at least.
  'max_connections=400',
  'max_wal_senders=4',
  'wal_level=replica',
  'listen_addresses=127.0.0.1',
  'log_min_messages=fatal',
  // In its own directory, and gone with that.
  'dynamic_shared_memory_type=mmap',
  ...(waitsForDisks() ? [] : ['fsync=off', 'full_page_writes=off']),
];

/**
 * A PostgreSQL server on loopback, with its files in a directory of its own: for tests that kill, stop, promote or configure it.
 * Others take a database of the one that all share (`sharedDatabase`).
 */
export class Cluster extends Database {
  readonly directory: string;
  #server: ChildProcess | undefined;

  private constructor(directory: string, port: number) {
    super(port, directory, 'postgres');
    this.directory = directory;
  }

  /** A new one, with the superuser `admin` whose password is `secret`, who needs none on its socket. */
  static async create(): Promise<Cluster> {
    const cluster = new Cluster(newDirectory(), await freePort());
    const template = await templateOfRun();
    if (template === undefined) await initialize(cluster.directory);
    else await promisify(execFile)('cp', ['-a', join(template, 'data'), cluster.directory]);
    await cluster.start();
    return cluster;
  }

  /** A standby that follows this one, each commit waiting for it. */
  async standby(): Promise<Cluster> {
    const standby = new Cluster(newDirectory(), await freePort());
    const from = `host=127.0.0.1 port=${this.port} user=admin password=secret application_name=standby`;
    const how = ['-R', '-X', 'stream', '-c', 'fast', '--no-sync'];
    await runProgram('pg_basebackup', '-D', standby.#data, '-d', from, ...how);
    await standby.start();
    await this.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    await this.#reload('synchronous_standby_names', 'standby');
    return standby;
  }

  /** Has all processes of it take up a setting: the first one, which new ones learn it from, and the checkpointer, by whose word commits wait. */
  async #reload(name: string, value: string): Promise<void> {
    await this.query('SELECT pg_reload_conf()');
    const isKnown = async () => (await this.query(`SHOW ${name}`))[0]?.[name] === value;
    while (!(await isKnown())) await sleep(5);
    // It looks at its settings between the two.
    for (const _ of [1, 2]) await this.query('CHECKPOINT');
  }

  get #data(): string {
    return join(this.directory, 'data');
  }

  async start(): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS;
    do {
      if (performance.now() > deadline) throw new Error('PostgreSQL does not start');
      // Processes that outlived a killed one for a moment keep it from starting.
      if (this.#server === undefined || this.#server.exitCode !== null) this.#spawn();
      await sleep(20);
    } while (!(await this.#answers()));
  }

  /** However this process ends, the server ends with it. */
  #spawn(): void {
    const all = [...settings(), `port=${this.port}`, `unix_socket_directories=${this.directory}`];
    const parameters = ['-D', this.#data, ...all.flatMap((setting) => ['-c', setting])];
    const words = ['--pdeathsig', 'QUIT', programPath('postgres'), ...parameters];
    this.#server = spawn('setpriv', words, { ...asOwner, stdio: 'ignore' });
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

  /** A child may end between the look and the signal. */
  #signal(pids: readonly number[], signal: NodeJS.Signals): void {
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  /** One that was killed leaves a segment of shared memory behind, of which a machine has a limited number. */
  #freeSegment(): void {
    const file = join(this.#data, 'postmaster.pid');
    if (!existsSync(file)) return;
    const [, segment] =
      /^ *\d+ +(\d+) *$/.exec(readFileSync(file, 'utf8').split('\n')[SEGMENT_LINE] ?? '') ?? [];
    if (segment !== undefined) spawnSync('ipcrm', ['-m', segment], { ...asOwner, stdio: 'ignore' });
  }

  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()');
  }

  async remove(): Promise<void> {
    this.thaw();
    await this.#end('SIGQUIT');
    this.#freeSegment();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Makes the files of a server in `data` of a directory. @param more parameters of `initdb`. */
export async function initialize(directory: string, ...more: string[]): Promise<void> {
  const passwordFile = join(directory, 'password');
  writeFileSync(passwordFile, 'secret\n', { mode: 0o644 });
  const access = ['--auth-local=trust', '--auth-host=scram-sha-256', `--pwfile=${passwordFile}`];
  const how = ['--encoding=UTF8', '--locale=C', '--no-sync', ...more];
  await runProgram('initdb', '-D', join(directory, 'data'), '-U', 'admin', ...access, ...how);
}

const MEMORY = '/dev/shm';
const ROOM_BYTES = 2 ** 30;

/** In memory where there is room and nobody asks whether a disk has it. */
function placeOfDirectories(): string {
  if (waitsForDisks() || !existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > ROOM_BYTES ? MEMORY : tmpdir();
}

/** A directory that the server's user may enter. */
export function newDirectory(): string {
  const directory = mkdtempSync(join(placeOfDirectories(), 'coffer-postgres-'));
  chmodSync(directory, 0o755);
  if (owner !== undefined) chownSync(directory, owner.uid, owner.gid);
  return directory;
}
