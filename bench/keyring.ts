/**
 * A program started with 50 values that the keyring of a repository has encrypted, against a bare start of Node, and
 * beside sops and fnox with the same age identity.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemRandom } from '../src/ground/random.ts';
import { freshIdentity, recipientOfIdentity } from '../src/transit/envelope/age/recipients.ts';
import { comparePrograms, installedCommand, type Program, type Row, timeAlone } from './measure.ts';
import { type PeerName, peerProgram, without } from './peer-programs.ts';

const VALUES = 50;
const PAIRS = 41;
const OPERATION = `exec with ${VALUES} values of a keyring`;

export async function run(): Promise<readonly Row[]> {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  const repository = new Repository(directory);
  try {
    return [
      repository.againstNode(OPERATION, 2.2),
      repository.against('sops', repository.sops()),
      repository.against('fnox', repository.fnox()),
      repository.throughAgent(),
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A git repository with a keyring, opened with an X25519 identity, and the same values for other programs. */
class Repository {
  readonly #directory: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #recipient: string;
  readonly #names = Array.from({ length: VALUES }, (_, index) => `NAME_${index}`);

  constructor(directory: string) {
    this.#directory = join(directory, 'repository');
    mkdirSync(this.#directory);
    const key = join(directory, 'key.txt');
    const identity = freshIdentity(systemRandom);
    writeFileSync(key, `${identity}\n`, { mode: 0o600 });
    this.#recipient = recipientOfIdentity(identity);
    this.#env = {
      PATH: process.env['PATH'],
      HOME: directory,
      USER: 'bench',
      XDG_RUNTIME_DIR: directory,
      COFFER_IDENTITY_FILE: key,
      SOPS_AGE_KEY_FILE: key,
      SOPS_DISABLE_VERSION_CHECK: 'true',
      FNOX_AGE_KEY_FILE: key,
    };
    this.#run(['git', 'init', '-q']);
    this.#coffer('team', 'init', '-q');
    writeFileSync(join(this.#directory, '.coffer.yaml'), 'rules: [{ files: "app.env", key: app }]\n');
    this.#write('app.env');
    this.#coffer('secrets', 'encrypt', '-q', 'app.env');
  }

  againstNode(operation: string, limit: number): Row {
    const bare: Program = { command: [process.execPath, '-e', '0'] };
    return { operation, floorName: 'node -e 0', limit, ...comparePrograms(this.#ours(), bare, PAIRS) };
  }

  /** With an agent, which keeps the keyring open and judges it. */
  throughAgent(): Row {
    this.#coffer('team', 'unlock', '-q');
    try {
      return this.againstNode(`${OPERATION}, through its agent`, 1.6);
    } finally {
      this.#coffer('lock', '-q');
    }
  }

  against(name: PeerName, theirs: Program | undefined): Row {
    if (theirs === undefined) return without(OPERATION, timeAlone(this.#ours(), PAIRS), name);
    const limit = Number.POSITIVE_INFINITY;
    return { operation: OPERATION, floorName: name, limit, ...comparePrograms(this.#ours(), theirs, PAIRS) };
  }

  sops(): Program | undefined {
    const sops = peerProgram('sops');
    if (sops === undefined) return undefined;
    this.#write('sops.env');
    this.#run([sops, 'encrypt', '--in-place', '--age', this.#recipient, 'sops.env']);
    return this.#program([sops, 'exec-env', join(this.#directory, 'sops.env'), 'true']);
  }

  fnox(): Program | undefined {
    const fnox = peerProgram('fnox');
    if (fnox === undefined) return undefined;
    const folder = join(dirname(this.#directory), 'fnox');
    mkdirSync(folder);
    const file = join(folder, 'fnox.toml');
    writeFileSync(file, `[providers.age]\ntype = "age"\nrecipients = ["${this.#recipient}"]\n`);
    for (const name of this.#names)
      this.#run([fnox, 'set', '--provider', 'age', name, `value of ${name}`], folder);
    return this.#program([fnox, '--config', file, 'exec', '--', 'true']);
  }

  #ours = (): Program =>
    this.#program([
      ...installedCommand(),
      'exec',
      '-q',
      '--file',
      join(this.#directory, 'app.env'),
      '--',
      'true',
    ]);

  #program = (command: readonly string[]): Program => ({ command, env: this.#env });

  #write(name: string): void {
    writeFileSync(
      join(this.#directory, name),
      this.#names.map((variable) => `${variable}=value of ${variable}\n`).join(''),
    );
  }

  #coffer = (...words: readonly string[]): void => this.#run([...installedCommand(), ...words]);

  #run([file = '', ...words]: readonly string[], cwd = this.#directory): void {
    execFileSync(file, words, { cwd, env: this.#env, stdio: ['ignore', 'ignore', 'pipe'] });
  }
}
