/**
 * Whole process of a command, from spawn to exit, against a bare start of the same Node, and against other programs for
 * the same purpose.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeExecutable } from '../scripts/single-executable.ts';
import { openStore } from '../src/library.ts';
import { comparePrograms, type Program, type Row } from './measure.ts';
import { hasPeer, type Peer } from './peers.ts';

const MANY = 10_000;
/** Limit of rows without a promise: opening the store and the first cipher have fixed costs. */
const STATED = Number.POSITIVE_INFINITY;
const PLAINTEXT = 'attack at dawn';
const binary = fileURLToPath(new URL('../dist/coffer', import.meta.url));

export async function run(): Promise<readonly Row[]> {
  if (!existsSync(binary)) throw new Error('dist/coffer is missing: run "npm run package" first');
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  try {
    return [
      ...(await againstNode(directory)),
      await againstOneCipher(directory),
      ...(await throughAgent(directory)),
      ...(await againstFewKeys(directory)),
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const coffer =
  (words: string, input?: string) =>
  (env: NodeJS.ProcessEnv): Program => ({
    command: [binary, ...words.split(' ')],
    env,
    input,
  });

const encrypt = coffer('transit encrypt key-0', PLAINTEXT);
const sign = coffer('transit sign signing', PLAINTEXT);
const envelope = coffer('transit envelope encrypt key-0', PLAINTEXT);
const rotate = coffer('transit keys rotate key-0');
const list = coffer('transit keys list');
/** Moved back before each turn; before the first one there is nothing to move. */
const move = (env: NodeJS.ProcessEnv): Program => ({
  ...coffer('mounts move transit moved')(env),
  prepare: () => spawnSync(binary, ['mounts', 'move', 'moved', 'transit'], { env, stdio: 'ignore' }),
});

/** Returns the verification of a small file, with neither a store nor a server. */
function verify(env: NodeJS.ProcessEnv, directory: string): Program {
  const [file, key] = [join(directory, 'plain'), join(directory, 'signing.pub')];
  execFileSync(binary, ['-q', 'sign', file, '--key', 'signing'], { env });
  execFileSync(binary, ['-q', 'transit', 'keys', 'public', 'signing', '--format', 'ssh', '--out', key], {
    env,
  });
  return { command: [binary, 'verify', file, '--public-key', key] };
}

/** A bare start loads no cryptography, which alone takes a tenth to a fifth longer. */
async function againstNode(directory: string): Promise<Row[]> {
  const env = await storeWith(1, join(directory, 'one'));
  execFileSync(binary, ['-q', 'transit', 'keys', 'create', 'signing', '--type', 'ed25519'], { env });
  writeFileSync(join(directory, 'plain'), PLAINTEXT);
  const bare: Program = { command: [process.execPath, '-e', '0'] };
  const row = (operation: string, ours: Program, limit: number, peer: Peer | undefined): Row => ({
    operation,
    floorName: 'node -e 0',
    limit,
    ...comparePrograms(ours, bare),
    peer,
  });
  return [
    row('--version', coffer('--version')(env), 1.25, undefined),
    row('--help', coffer('--help')(env), 1.25, undefined),
    row('status', coffer('status')(env), STATED, undefined),
    row('transit encrypt', encrypt(env), STATED, gpg(directory, encrypt(env))),
    row('transit sign, ed25519', sign(env), 1.5, openssl(directory, sign(env))),
    row('transit envelope encrypt', envelope(env), 2, age(directory, envelope(env))),
    row('transit keys list', list(env), 1.6, undefined),
    row('verify, with a public key', verify(env, directory), 1.3, undefined),
  ];
}

/** The floor is a single executable as well, so that the difference is the work of the command. */
async function againstOneCipher(directory: string): Promise<Row> {
  const env = await storeWith(1, join(directory, 'cipher'));
  const floor = join(directory, 'one-cipher');
  await makeExecutable(fileURLToPath(new URL('start-floor.cjs', import.meta.url)), floor);
  return {
    operation: 'transit encrypt, as an executable',
    floorName: 'one AES-256-GCM',
    limit: STATED,
    ...comparePrograms(encrypt(env), { command: [floor], input: PLAINTEXT }),
  };
}

/**
 * With an agent, a command must not take longer than a script with the key, since users run programs and look at
 * changes all day.
 */
async function throughAgent(directory: string): Promise<Row[]> {
  const home = join(directory, 'unlocked');
  const owner = await storeWith(1, home);
  const { COFFER_MASTER_KEY: _, ...bare } = owner;
  const env = { ...bare, HOME: home, XDG_RUNTIME_DIR: directory, PATH: `${dirname(binary)}:${bare['PATH']}` };
  const ciphertext = execFileSync(binary, ['transit', 'encrypt', 'key-0'], { env: owner, input: PLAINTEXT });
  execFileSync(binary, ['-q', 'unlock'], { env: { ...env, ...owner } });
  const decrypt = coffer('transit decrypt key-0', ciphertext.toString().trim());
  const secrets = new Secrets(join(directory, 'repository'), env);
  try {
    return [
      {
        operation: 'transit decrypt, through the agent',
        floorName: 'the same with COFFER_MASTER_KEY',
        limit: 1.15,
        ...comparePrograms(decrypt(env), decrypt(owner)),
      },
      {
        operation: 'exec with 50 values, through the agent',
        floorName: 'node -e 0',
        limit: 1.6,
        ...comparePrograms(secrets.exec(50), { command: [process.execPath, '-e', '0'] }),
      },
      {
        operation: 'git diff of 20 files with 20 values each',
        floorName: '40 times node -e 0',
        limit: 1.6,
        ...comparePrograms(
          secrets.diff(20, 20),
          { command: ['sh', '-c', FORTY_STARTS, process.execPath] },
          5,
          1,
        ),
      },
    ];
  } finally {
    execFileSync(binary, ['-q', 'lock'], { env });
  }
}

/** Git shows both sides of each file. */
const FORTY_STARTS = 'for start in $(seq 40); do "$0" -e 0; done';

/** Files of encrypted values in a git repository. */
class Secrets {
  readonly #directory: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(directory: string, env: NodeJS.ProcessEnv) {
    this.#directory = directory;
    this.#env = env;
    mkdirSync(directory);
    this.#run('git', 'init', '-q');
    writeFileSync(join(directory, '.coffer.yaml'), 'rules: [{ files: "*.env", key: key-0 }]\n');
  }

  exec(values: number): Program {
    const file = this.#encrypted('exec.env', values);
    return { command: [binary, 'exec', '--file', file, '--', 'true'], env: this.#env };
  }

  diff(files: number, values: number): Program {
    this.#run(binary, '-q', 'secrets', 'git-setup');
    const write = (): void => {
      for (let file = 0; file < files; file++) this.#encrypted(`${file}.env`, values);
    };
    write();
    this.#run('git', 'add', '.');
    this.#run('git', '-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-qm', 'values');
    write();
    return { command: ['git', '-C', this.#directory, 'diff'], env: this.#env };
  }

  #encrypted(name: string, values: number): string {
    const file = join(this.#directory, name);
    const lines = Array.from(
      { length: values },
      (_, line) => `NAME_${line}=value ${line} of ${randomUUID()}\n`,
    );
    writeFileSync(file, lines.join(''));
    this.#run(binary, '-q', 'secrets', 'encrypt', file);
    return file;
  }

  #run(program: string, ...words: readonly string[]): void {
    execFileSync(program, words, { cwd: this.#directory, env: this.#env });
  }
}

async function againstFewKeys(directory: string): Promise<Row[]> {
  const small = await storeWith(1, join(directory, 'small'));
  const large = await storeWith(MANY, join(directory, 'large'));
  const row = (name: string, program: (env: NodeJS.ProcessEnv) => Program, limit: number): Row => ({
    operation: `${name}, ${MANY} keys`,
    floorName: 'the same with 1 key',
    limit,
    ...comparePrograms(program(large), program(small)),
  });
  return [
    row('transit encrypt', encrypt, 1.1),
    row('transit keys rotate', rotate, 1.5),
    row('transit keys list', list, 3),
    row('mounts move', move, 1.5),
  ];
}

const peer = (name: string, ours: Program, command: readonly string[]): Peer => {
  const { floor: time, ratio } = comparePrograms(ours, { command, input: PLAINTEXT });
  return { name, time, ratio };
};

/** Returns encryption to a public key in a keyring, the closest equivalent of a named key. */
function gpg(directory: string, ours: Program): Peer | undefined {
  if (!hasPeer('gpg', 'gnupg')) return undefined;
  const options = ['--homedir', join(directory, 'keyring'), '--batch', '--quiet'];
  execFileSync('mkdir', ['-m', '700', join(directory, 'keyring')]);
  try {
    execFileSync('gpg', [...options, '--passphrase', '', '--quick-gen-key', 'bench', 'future-default'], {
      stdio: 'ignore',
    });
    return peer('gpg', ours, ['gpg', ...options, '--trust-model', 'always', '-e', '-r', 'bench']);
  } finally {
    execFileSync('gpgconf', ['--homedir', join(directory, 'keyring'), '--kill', 'all']);
  }
}

function openssl(directory: string, ours: Program): Peer | undefined {
  if (!hasPeer('openssl')) return undefined;
  const key = join(directory, 'signing.pem');
  execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', key]);
  const input = join(directory, 'plain');
  return peer('openssl', ours, ['openssl', 'pkeyutl', '-sign', '-rawin', '-inkey', key, '-in', input]);
}

function age(directory: string, ours: Program): Peer | undefined {
  if (!hasPeer('age')) return undefined;
  const identity = join(directory, 'identity');
  execFileSync('age-keygen', ['-o', identity], { stdio: 'ignore' });
  const recipient = execFileSync('age-keygen', ['-y', identity]).toString().trim();
  return peer('age', ours, ['age', '-r', recipient]);
}

async function storeWith(keys: number, directory: string): Promise<NodeJS.ProcessEnv> {
  const masterKey = execFileSync(binary, ['keygen'], { encoding: 'utf8' }).trim();
  const env = { PATH: process.env['PATH'], COFFER_STORE: directory, COFFER_MASTER_KEY: masterKey };
  execFileSync(binary, ['-q', 'init'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const store = await openStore({ location: directory, masterKey });
  for (let i = 0; i < keys; i++) await store.transit.keys.create({ name: `key-${i}` });
  store.close();
  return env;
}
