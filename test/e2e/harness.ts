import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

/** The command as it is shipped: `bin/coffer` with the bundle that the test run has built. */
export const binary = fileURLToPath(new URL('../../bin/coffer', import.meta.url));

/**
 * What is run: that, or the words of COFFER_TEST_COMMAND, such as `qemu-aarch64-static -L /usr/aarch64-linux-gnu /path/of/coffer`
 * for an executable of another processor.
 */
const given = process.env['COFFER_TEST_COMMAND']?.split(' ') ?? [];
const [program = process.execPath, ...leading] = given.length > 0 ? given : [process.execPath, binary];

/** What one command did. */
export interface Result {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly bytes: Buffer;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  /** Added to the environment; undefined removes. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const MAX_OUTPUT_BYTES = 64 * 2 ** 20;
const TIMEOUT_MS = 50_000;

/** A directory of its own, a store or a server to work on, and the command. */
export class Place {
  readonly directory: string;
  readonly #environment: Readonly<Record<string, string | undefined>>;

  constructor(directory: string, environment: Readonly<Record<string, string | undefined>>) {
    this.directory = directory;
    this.#environment = environment;
  }

  /** A path in the directory. */
  file(name: string): string {
    return join(this.directory, name);
  }

  /** Runs the command; words of a text are separated by single spaces. */
  run(line: string | readonly string[], options: RunOptions = {}): Result {
    const words = typeof line === 'string' ? line.split(' ') : line;
    return resultOf(
      spawnSync(program, [...leading, ...words], {
        cwd: this.directory,
        env: this.environment(options.environment),
        input: options.input ?? '',
        maxBuffer: MAX_OUTPUT_BYTES,
        timeout: TIMEOUT_MS,
      }),
    );
  }

  /** The standard output of a command that must succeed, without the newline at its end. */
  ok(line: string | readonly string[], options: RunOptions = {}): string {
    const result = this.run(line, options);
    expect({ line, exitCode: result.exitCode, stderr: result.stderr }).toMatchObject({ line, exitCode: 0 });
    return result.stdout.replace(/\n$/, '');
  }

  /** As `ok`, for `-o json`. */
  json(line: string | readonly string[], options: RunOptions = {}): unknown {
    const words = typeof line === 'string' ? line.split(' ') : line;
    return JSON.parse(this.ok([...words, '-o', 'json'], options));
  }

  /** The one line of a command that must be refused with an exit code, after checking that nothing went to standard output. */
  refused(line: string | readonly string[], exitCode: number, options: RunOptions = {}): string {
    const result = this.run(line, options);
    expect({ line, exitCode: result.exitCode, stdout: result.stdout }).toEqual({
      line,
      exitCode,
      stdout: '',
    });
    expect(result.stderr).toMatch(/^coffer: [^\n]+\n$/);
    return result.stderr.trimEnd();
  }

  /** Runs a shell script in which `coffer` is the command. */
  shell(script: string, options: RunOptions = {}): Result {
    const command = [program, ...leading].map((word) => JSON.stringify(word)).join(' ');
    const define = `coffer() { ${command} "$@"; }`;
    return resultOf(
      spawnSync('bash', ['-c', `set -o pipefail\n${define}\n${script}`], {
        cwd: this.directory,
        env: this.environment(options.environment),
        input: options.input ?? '',
        maxBuffer: MAX_OUTPUT_BYTES,
        timeout: TIMEOUT_MS,
      }),
    );
  }

  /** What the command runs with: nothing of the environment of whoever runs the tests. */
  environment(more: RunOptions['environment'] = {}): NodeJS.ProcessEnv {
    const base: Record<string, string | undefined> = {
      PATH: [dirname(process.execPath), process.env['PATH']].join(':'),
      HOME: this.directory,
      LANG: 'C.UTF-8',
      // What V8 made of the bundle in one test's command is there for all others: nearly half of the time of most.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    };
    const all: Record<string, string | undefined> = { ...base, ...this.#environment, ...more };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  }

  /** The same place with other variables. */
  with(more: Readonly<Record<string, string | undefined>>): Place {
    return new Place(this.directory, { ...this.#environment, ...more });
  }
}

function resultOf({ status, stdout, stderr, error }: SpawnSyncReturns<Buffer>): Result {
  if (error !== undefined) throw error;
  return { exitCode: status, stdout: stdout.toString(), bytes: stdout, stderr: stderr.toString() };
}

/** Where the shared suites run: each makes a place with an empty store behind it, and takes it down. */
export interface Target {
  readonly name: string;
  /** True when commands go to a server, so that what needs the files of the store does not apply. */
  readonly remote: boolean;
  start(): Promise<{ readonly place: Place; stop(): Promise<void> }>;
}

/** A place with an empty directory and no store yet. */
export function emptyPlace(environment: Readonly<Record<string, string | undefined>> = {}): Place {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-e2e-'));
  return new Place(directory, { COFFER_STORE: join(directory, 'store'), ...environment });
}

export const removePlace = (place: Place): void => rmSync(place.directory, { recursive: true, force: true });

/** A fixed master key: 32 bytes of 0x07. */
export const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

/** Commands on a local store, unlocked by a raw key in the environment. */
export const local: Target = {
  name: 'a local store',
  remote: false,
  async start() {
    const place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY });
    place.ok('init');
    return { place, stop: async () => removePlace(place) };
  },
};

export const base64 = (text: string): string => Buffer.from(text).toString('base64');
