/**
 * Files and pipes through `coffer transit envelope`, whole processes, against the `age` program (Debian's package, installed
 * when that is possible) and against a bare loop over node:crypto with the same cipher and the same reads and writes.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { comparePrograms, type Measured, type Program, type Row } from './measure.ts';
import { hasPeer } from './peers.ts';

const MEBI = 2 ** 20;
const FILE_MEBI = 1024;
const PAIRS = 7;
/** Faster than age. */
const AGE_LIMIT = 1;
/** At least 0.7 of the speed of the bare loop. */
const BARE_LIMIT = 1.43;

const command = fileURLToPath(new URL('../bin/coffer', import.meta.url));
const bareLoop = fileURLToPath(new URL('envelope-bare-loop.ts', import.meta.url));

type Way = 'to nowhere' | 'over a file' | 'from pipe to pipe';
const ways: readonly Way[] = ['to nowhere', 'over a file', 'from pipe to pipe'];
type Verb = 'encrypt' | 'decrypt';
type CommandFor = (verb: Verb) => readonly string[];

/** What a shell does with the program: `$0` is the input, `$@` the program. */
const scripts: Readonly<Record<Way, string>> = {
  'to nowhere': 'exec "$@" < "$0" > /dev/null',
  // Over what is there: to find memory for a new file takes longer than either program when a virtual machine, which gives
  // what is free back to its host, has to ask for it again.
  'over a file': 'exec "$@" < "$0" 1<> "$0.out"',
  'from pipe to pipe': 'cat "$0" | "$@" | cat > /dev/null',
};

export async function run(): Promise<readonly Row[]> {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-bench-'));
  try {
    return new Bench(directory).rows();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

class Bench {
  readonly #directory: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(directory: string) {
    this.#directory = directory;
    const masterKey = this.#coffer(['keygen']).toString().trim();
    this.#env = {
      PATH: process.env['PATH'],
      COFFER_STORE: join(directory, 'store'),
      COFFER_MASTER_KEY: masterKey,
    };
    this.#coffer(['init', '--quiet']);
    this.#coffer(['transit', 'keys', 'create', 'backups', '--quiet']);
    writeRandomFile(this.#path('plain'), FILE_MEBI);
  }

  rows(): readonly Row[] {
    const bare = this.#against((verb) => [process.execPath, bareLoop, verb]);
    const age = hasPeer('age') ? this.#against(this.#age()) : undefined;
    return bare.map(([operation, measured], index) => {
      const other = age?.[index]?.[1];
      return {
        operation,
        floorName: 'bare node:crypto loop',
        limit: BARE_LIMIT,
        ...measured,
        ...(other === undefined
          ? {}
          : { peer: { name: 'age', time: other.floor, ratio: other.ratio, limit: AGE_LIMIT } }),
      };
    });
  }

  #age(): CommandFor {
    execFileSync('age-keygen', ['-o', this.#path('identity')], { stdio: 'ignore' });
    const recipient = execFileSync('age-keygen', ['-y', this.#path('identity')])
      .toString()
      .trim();
    const age = { encrypt: ['age', '-r', recipient], decrypt: ['age', '-d', '-i', this.#path('identity')] };
    return (verb) => age[verb];
  }

  #against(floorOf: CommandFor): readonly (readonly [operation: string, measured: Measured])[] {
    const ours = (verb: Verb) => [
      process.execPath,
      command,
      'transit',
      'envelope',
      verb,
      ...(verb === 'encrypt' ? ['backups'] : []),
    ];
    this.#encryptOnce(ours('encrypt'), 'ours');
    this.#encryptOnce(floorOf('encrypt'), 'floor');
    const inputs = { encrypt: ['plain', 'plain'], decrypt: ['ours', 'floor'] } as const;
    return (['encrypt', 'decrypt'] as const).flatMap((verb) =>
      ways.map((way) => {
        const [our, their] = inputs[verb];
        const measured = comparePrograms(
          this.#program(way, our, ours(verb)),
          this.#program(way, their, floorOf(verb)),
          PAIRS,
        );
        return [`envelope ${verb}, ${FILE_MEBI} MiB ${way}`, measured] as const;
      }),
    );
  }

  #program(way: Way, input: string, words: readonly string[]): Program {
    return {
      command: ['sh', '-c', scripts[way], this.#path(input), ...words],
      env: this.#env,
      // A turn starts with an idle disk: what the one before has left to be written would be on its bill.
      prepare: () => execFileSync('sync'),
    };
  }

  #encryptOnce(words: readonly string[], output: string): void {
    const { status } = spawnSync('sh', ['-c', 'exec "$@" < plain > "$0"', output, ...words], {
      cwd: this.#directory,
      env: this.#env,
      stdio: 'inherit',
    });
    if (status !== 0) throw new Error(`${words.join(' ')} failed`);
  }

  #coffer(words: readonly string[]): Buffer {
    return execFileSync(process.execPath, [command, ...words], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

function writeRandomFile(path: string, mebibytes: number): void {
  const piece = Buffer.alloc(MEBI);
  const descriptor = openSync(path, 'w');
  for (let i = 0; i < mebibytes; i++) writeSync(descriptor, randomFillSync(piece));
  closeSync(descriptor);
}
