/**
 * Signatures through the agent's protocols, as client programs request them, against one millisecond, and against the
 * usual programs for this: OpenSSH's own agent and SoftHSM.
 *
 * The PKCS #11 row needs a C compiler, the headers of p11-kit and its module (Debian: gcc, libp11-kit-dev,
 * p11-kit-modules), and for the peers softhsm2 and p11-kit.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { login, SshAgentClient } from '../test/e2e/ssh-agent-client.ts';
import { fromPairs, median, type Row } from './measure.ts';
import { hasPeer } from './peers.ts';

const PAIRS = 9;
const SSH_SIGNATURES = 1000;
const PKCS11_SIGNATURES = 2000;
/** Half of SoftHSM's speed. */
const SOFTHSM_LIMIT = 2;
const PIN = '1234';
/** Promised time of a signature, in milliseconds: the floor of these rows. */
const FLOOR = 1;

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const LIBRARIES = '/usr/lib/x86_64-linux-gnu/pkcs11';
const P11_KIT_CLIENT = join(LIBRARIES, 'p11-kit-client.so');
const P11_KIT_SERVER = '/usr/libexec/p11-kit/p11-kit-server';
const SOFTHSM = '/usr/lib/softhsm/libsofthsm2.so';

export async function run(): Promise<readonly Row[]> {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  const bench = new Bench(directory);
  try {
    bench.start();
    return [await bench.ssh(), ...(await bench.pkcs11())];
  } finally {
    bench.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Milliseconds of one signature by Coffer, and by the peer if there is one. */
type Turn = readonly [ours: number, peer: number | undefined];

const rowOf = (operation: string, turns: readonly Turn[], peer: string, limit?: number): Row => {
  const pairs = turns.flatMap(([ours, theirs]) => (theirs === undefined ? [] : [[ours, theirs] as const]));
  const { floor: time, ratio } = fromPairs(pairs);
  return {
    operation,
    floorName: 'a millisecond',
    limit: 1,
    ...fromPairs(turns.map(([ours]) => [ours, FLOOR])),
    peer: pairs.length === 0 ? undefined : { name: peer, time, ratio, limit },
  };
};

class Bench {
  readonly #directory: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(directory: string) {
    this.#directory = directory;
    const runtime = this.#path('run');
    mkdirSync(runtime, { mode: 0o700 });
    this.#env = {
      PATH: process.env['PATH'],
      HOME: directory,
      COFFER_STORE: this.#path('store'),
      COFFER_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      XDG_RUNTIME_DIR: runtime,
    };
  }

  start(): void {
    this.#coffer('init', '--quiet');
    this.#coffer('transit', 'keys', 'create', 'login', '--type', 'ed25519', '--quiet');
    this.#coffer('transit', 'keys', 'create', 'web', '--type', 'ecdsa-p256', '--quiet');
    this.#coffer('unlock', '--quiet');
    this.#coffer('agent', 'offer', 'login', '--ssh', '--quiet');
    this.#coffer('agent', 'offer', 'web', '--pkcs11', '--quiet');
  }

  stop(): void {
    spawnSync(process.execPath, [here('../bin/coffer'), 'lock'], { env: this.#env });
  }

  async ssh(): Promise<Row> {
    const peer = await this.#opensshAgent();
    const ours = await SshAgentClient.connect(this.#socket('ssh'));
    try {
      const turns: Turn[] = [];
      await signatureTime(ours);
      for (let pair = 0; pair < PAIRS; pair++) {
        turns.push([await signatureTime(ours), peer && (await signatureTime(peer.client))]);
      }
      return rowOf('ssh-agent, ed25519 signature', turns, "OpenSSH's ssh-agent");
    } finally {
      ours.close();
      peer?.stop();
    }
  }

  /** Starts OpenSSH's agent; undefined if its programs are missing. */
  async #opensshAgent() {
    if (!hasPeer('ssh-agent', 'openssh-client')) return undefined;
    const [key, socket] = [this.#path('id'), this.#path('openssh.sock')];
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const agent = spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' });
    while (!existsSync(socket)) await pause(10);
    execFileSync('ssh-add', ['-q', key], { env: { ...this.#env, SSH_AUTH_SOCK: socket } });
    const client = await SshAgentClient.connect(socket);
    return {
      client,
      stop() {
        client.close();
        agent.kill();
      },
    };
  }

  /**
   * Returns the PKCS #11 rows; none without the module. SoftHSM is measured as a library inside the program, and behind
   * p11-kit's own server, which is reached in the same way as Coffer.
   */
  async pkcs11(): Promise<readonly Row[]> {
    if (!existsSync(P11_KIT_CLIENT) || !hasPeer('cc', 'gcc')) return [];
    const program = this.#path('pkcs11-sign');
    execFileSync('cc', ['-O2', '-I/usr/include/p11-kit-1', here('./pkcs11-sign.c'), '-o', program]);
    const softhsm = this.#softhsm();
    const time = (env: NodeJS.ProcessEnv, ...words: readonly string[]): number =>
      Number(execFileSync(program, [...words, String(PKCS11_SIGNATURES)], { env }));
    const served = softhsm && (await this.#softhsmServer(softhsm));
    const at = (socket: string) => ({ ...this.#env, P11_KIT_SERVER_ADDRESS: `unix:path=${socket}` });
    const ours = at(this.#socket('pkcs11'));
    const turn = () => [
      time(ours, P11_KIT_CLIENT, 'coffer', ''),
      softhsm && time(softhsm, SOFTHSM, 'bench', PIN),
      served && time(at(served.socket), P11_KIT_CLIENT, 'bench', PIN),
    ];
    try {
      turn();
      const turns = Array.from({ length: PAIRS }, turn);
      const against = (peer: number): readonly Turn[] =>
        turns.map((times) => [times[0] as number, times[peer]]);
      const operation = 'PKCS #11, P-256 signature';
      return [
        rowOf(operation, against(1), 'SoftHSM', SOFTHSM_LIMIT),
        rowOf(operation, against(2), "SoftHSM behind p11-kit's server", SOFTHSM_LIMIT),
      ];
    } finally {
      served?.stop();
    }
  }

  /** Starts p11-kit's server; undefined if it is not installed. */
  async #softhsmServer(env: NodeJS.ProcessEnv) {
    if (!existsSync(P11_KIT_SERVER)) return undefined;
    const socket = this.#path('softhsm.sock');
    const words = ['--foreground', '--name', socket, '--provider', SOFTHSM, 'pkcs11:token=bench'];
    const server = spawn(P11_KIT_SERVER, words, { env, stdio: 'ignore' });
    while (!existsSync(socket)) await pause(10);
    return { socket, stop: () => server.kill() };
  }

  /** Returns the environment of a token with one key; undefined if SoftHSM is not installed. */
  #softhsm(): NodeJS.ProcessEnv | undefined {
    if (!hasPeer('softhsm2-util', 'softhsm2') || !existsSync(SOFTHSM) || !hasPeer('openssl'))
      return undefined;
    const [tokens, configuration, key] = ['tokens', 'softhsm2.conf', 'softhsm.key'].map((name) =>
      this.#path(name),
    );
    mkdirSync(tokens as string);
    writeFileSync(configuration as string, `directories.tokendir = ${tokens}\n`);
    const env = { ...this.#env, SOFTHSM2_CONF: configuration };
    const quiet = { env, stdio: 'ignore' } as const;
    execFileSync(
      'openssl',
      ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', key as string],
      quiet,
    );
    const util = (...words: readonly string[]): unknown => execFileSync('softhsm2-util', words, quiet);
    util('--init-token', '--free', '--label', 'bench', '--pin', PIN, '--so-pin', PIN);
    util('--import', key as string, '--token', 'bench', '--label', 'web', '--id', '01', '--pin', PIN);
    return env;
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }

  #socket(door: string): string {
    return (JSON.parse(this.#coffer('agent', 'status', '-o', 'json')) as Record<string, string>)[door] ?? '';
  }

  #coffer(...words: readonly string[]): string {
    return execFileSync(process.execPath, [here('../bin/coffer'), ...words], {
      env: this.#env,
      encoding: 'utf8',
    });
  }
}

/** Returns the median of sequential signatures, which is the wait of a user's `ssh`. */
async function signatureTime(client: SshAgentClient): Promise<number> {
  const [key] = await client.list();
  if (key === undefined) throw new Error('the agent offers nothing');
  const times: number[] = [];
  for (let count = 0; count < SSH_SIGNATURES; count++) {
    const started = performance.now();
    if ((await client.sign(key.blob, login(key.blob, `session ${count}`))) === undefined)
      throw new Error('refused');
    times.push(performance.now() - started);
  }
  return median(times);
}
