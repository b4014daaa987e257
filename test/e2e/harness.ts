import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { builtCommand } from '../built.ts';
import { lightWork } from '../light-work.ts';
import { runHere } from './run-here.ts';

/** The command as it is shipped. */
export const binary = builtCommand();

/** What Node is given to run the command, which stretches passphrases with the least work except in the long proof. */
export const commandWords = (): readonly string[] => [...lightWork.ofProcesses(), binary];

/**
 * What is run: that, or the words of COFFER_TEST_COMMAND, such as `qemu-aarch64-static -L /usr/aarch64-linux-gnu /path/of/coffer`
 * for an executable of another processor.
 */
const given = process.env['COFFER_TEST_COMMAND']?.split(' ') ?? [];
const commandLine = (): readonly [string, ...string[]] => {
  const [program, ...leading] = given;
  return program === undefined ? [process.execPath, ...commandWords()] : [program, ...leading];
};

/** Whether what is run is given: then every command is spawned. */
const isGiven = given.length > 0;

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

/** Close to the time of a test, as a script of many commands takes minutes on a busy machine. */
const TIMEOUT_MS = 250_000;

/** How commands are run: within the process of the tests, which takes a thirtieth of the time, or each in a process of its own. */
export type Way = 'here' | 'spawned';

/**
 * A directory of its own, a store or a server to work on, and the command. Commands run within the process of the tests, except for those
 * of `spawned`, of scripts, and where COFFER_TEST_COMMAND says what to run.
 */
export class Place {
  readonly directory: string;
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #way: Way;

  constructor(
    directory: string,
    environment: Readonly<Record<string, string | undefined>>,
    way: Way = 'here',
  ) {
    this.directory = directory;
    this.#environment = environment;
    this.#way = isGiven ? 'spawned' : way;
  }

  /** A path in the directory. */
  file(name: string): string {
    return join(this.directory, name);
  }

  /** Runs the command; words of a text are separated by single spaces. */
  async run(line: string | readonly string[], options: RunOptions = {}): Promise<Result> {
    const words = typeof line === 'string' ? line.split(' ') : line;
    const environment = this.environment(options.environment);
    const input = options.input ?? '';
    if (this.#way === 'here') return runHere(words, { directory: this.directory, environment, input });
    const [program, ...leading] = commandLine();
    return this.#spawn(program, [...leading, ...words], options);
  }

  /** The standard output of a command that must succeed, without the newline at its end. */
  async ok(line: string | readonly string[], options: RunOptions = {}): Promise<string> {
    const result = await this.run(line, options);
    expect({ line, exitCode: result.exitCode, stderr: result.stderr }).toMatchObject({ line, exitCode: 0 });
    return result.stdout.replace(/\n$/, '');
  }

  /** As `ok`, for `-o json`. */
  async json(line: string | readonly string[], options: RunOptions = {}): Promise<unknown> {
    const words = typeof line === 'string' ? line.split(' ') : line;
    return JSON.parse(await this.ok([...words, '-o', 'json'], options));
  }

  /** The one line of a command that must be refused with an exit code, after checking that nothing went to standard output. */
  async refused(
    line: string | readonly string[],
    exitCode: number,
    options: RunOptions = {},
  ): Promise<string> {
    const result = await this.run(line, options);
    expect({ line, exitCode: result.exitCode, stdout: result.stdout }).toEqual({
      line,
      exitCode,
      stdout: '',
    });
    expect(result.stderr).toMatch(/^coffer: [^\n]+\n$/);
    return result.stderr.trimEnd();
  }

  /** Runs a shell script in which `coffer` is the command, each time in a process of its own. */
  shell(script: string, options: RunOptions = {}): Promise<Result> {
    const command = commandLine()
      .map((word) => JSON.stringify(word))
      .join(' ');
    const define = `coffer() { ${command} "$@"; }`;
    return this.#spawn('bash', ['-c', `set -o pipefail\n${define}\n${script}`], options);
  }

  /** Runs a program to its end. @throws when it does not end in time. */
  #spawn(file: string, words: readonly string[], { input, environment }: RunOptions): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const child = spawn(file, words, {
      cwd: this.directory,
      env: this.environment(environment),
      timeout: TIMEOUT_MS,
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (piece: Buffer) => out.push(piece));
    child.stderr.on('data', (piece: Buffer) => err.push(piece));
    // It may end without having read.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input ?? '');
    child.once('error', reject);
    child.once('close', (exitCode) => {
      const bytes = Buffer.concat(out);
      const stderr = Buffer.concat(err).toString();
      if (child.killed) reject(new Error(`${words.join(' ')} has not ended in time: ${stderr}`));
      else resolve({ exitCode, stdout: bytes.toString(), bytes, stderr });
    });
    return promise;
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
    return new Place(this.directory, { ...this.#environment, ...more }, this.#way);
  }

  /** The same place, where each command is a process: for what is the process's own, such as its streams and signals. */
  get spawned(): Place {
    return new Place(this.directory, this.#environment, 'spawned');
  }
}

/** Where the shared suites run: each makes a place with an empty store behind it, and takes it down. */
export interface Target {
  readonly name: string;
  /** True when commands go to a server, so that what needs the files of the store does not apply. */
  readonly remote: boolean;
  start(way?: Way): Promise<{ readonly place: Place; stop(): Promise<void> }>;
}

/** The same, where each command is a process of its own: for the long proof. */
export const spawned = (target: Target): Target => ({
  ...target,
  name: `${target.name}, by processes`,
  start: () => target.start('spawned'),
});

/** A place with an empty directory and no store yet. */
export function emptyPlace(
  environment: Readonly<Record<string, string | undefined>> = {},
  way: Way = 'here',
): Place {
  const directory = mkdtempSync(join(tmpdir(), 'e2e-'));
  return new Place(directory, { COFFER_STORE: join(directory, 'store'), ...environment }, way);
}

export const removePlace = (place: Place): void => rmSync(place.directory, { recursive: true, force: true });

/** A fixed master key: 32 bytes of 0x07. */
export const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

/** Commands on a local store, unlocked by a raw key in the environment. */
export const local: Target = {
  name: 'a local store',
  remote: false,
  async start(way = 'here') {
    const place = emptyPlace({ COFFER_MASTER_KEY: MASTER_KEY }, way);
    await place.ok('init');
    return { place, stop: async () => removePlace(place) };
  },
};

export const base64 = (text: string): string => Buffer.from(text).toString('base64');
