/**
 * Files and pipes through `coffer transit envelope`, as whole processes, against the `age` program (Debian's package,
 * installed if possible) and against a bare loop over node:crypto with the same cipher, reads and writes.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { comparePrograms, installedCommand, type Measured, type Program, type Row } from './measure.ts';
import { hasPeer } from './peers.ts';

const MEBI = 2 ** 20;
const FILE_MEBI = 1024;
const PAIRS = 7;
const RECIPIENTS = 20;
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

/** Shell commands that run the program: `$0` is the input, `$@` the program. */
const scripts: Readonly<Record<Way, string>> = {
  'to nowhere': 'exec "$@" < "$0" > /dev/null',
  // Overwrites an existing file: allocating memory for a new file takes longer than either program if a virtual
  // machine, which returns free memory to its host, has to request it again.
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
    const hasAge = hasPeer('age');
    const age = hasAge ? this.#against(this.#age()) : undefined;
    const own = bare.map(([operation, measured], index) => {
      const other = age?.[index]?.[1];
      return {
        operation,
        floorName: 'bare node:crypto loop',
        limit: BARE_LIMIT,
        ...measured,
        peer:
          other === undefined
            ? undefined
            : { name: 'age', time: other.floor, ratio: other.ratio, limit: AGE_LIMIT },
      };
    });
    return hasAge ? [...own, ...this.#ageFormat()] : own;
  }

  /**
   * Returns rows for files that both programs read and write, for one and for twenty recipients; each opens the other's
   * files.
   */
  #ageFormat(): readonly Row[] {
    const identity = this.#path('identity');
    const others = Array.from({ length: RECIPIENTS - 1 }, (_, index) => {
      execFileSync('age-keygen', ['-o', this.#path(`other-${index}`)], { stdio: 'ignore' });
      return this.#path(`other-${index}`);
    });
    return [[identity], [...others, identity]].flatMap((identities) => {
      const list = this.#path(`recipients-${identities.length}`);
      writeFileSync(list, Buffer.concat(identities.map((path) => execFileSync('age-keygen', ['-y', path]))));
      const envelope = [...installedCommand(), 'transit', 'envelope'];
      const ours = {
        encrypt: [...envelope, 'encrypt', '--recipient', `@${list}`],
        decrypt: [...envelope, 'decrypt', '--identity', identity],
      };
      const theirs = { encrypt: ['age', '-R', list], decrypt: ['age', '-d', '-i', identity] };
      this.#encryptOnce(ours.encrypt, 'ours');
      this.#encryptOnce(theirs.encrypt, 'floor');
      return (['encrypt', 'decrypt'] as const).flatMap((verb) => {
        const [our, their] = verb === 'encrypt' ? ['plain', 'plain'] : ['floor', 'ours'];
        return (['to nowhere', 'over a file'] as const).map((way) => ({
          operation: `age file ${verb}, to ${identities.length}, ${FILE_MEBI} MiB ${way}`,
          floorName: 'age',
          limit: AGE_LIMIT,
          ...comparePrograms(
            this.#program(way, our, ours[verb]),
            this.#program(way, their, theirs[verb]),
            PAIRS,
          ),
        }));
      });
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
      // A turn starts with an idle disk: pending writes of the previous one would be counted otherwise.
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
