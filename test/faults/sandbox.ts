import { accessSync, constants, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { systemRandom } from '../../src/ground/random.ts';
import { promptsDouble, streamsDouble } from '../cli/streams.double.ts';
import { enter, firstBytes, usualWorld, type World } from './layer/fixed-world.ts';

/** 32 bytes of 7, as text: what unlocks every store of these tests. */
export const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

export interface Answer {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** In memory where there is such a place: thousands of stores are made, and a disk would have to write each. */
const PLACE = process.env['COFFER_TEST_FAULTS_DIR'] ?? memoryOr(tmpdir());

function memoryOr(otherwise: string): string {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    return otherwise;
  }
}

/** A directory with a store and files beside it, for one command or a few. */
export class Sandbox {
  /** No two commands of a process draw the same. */
  static #worlds = usualWorld.seed;
  readonly root: string;

  /** @param worlds what its worlds are counted from, for one of several processes. */
  constructor(root: string, worlds?: number) {
    this.root = root;
    if (worlds !== undefined) Sandbox.drawFrom(worlds);
  }

  /** @param worlds what the worlds of this process are counted from. */
  static drawFrom(worlds: number): void {
    Sandbox.#worlds = worlds;
  }

  /** A new, empty one. */
  static make(): Sandbox {
    return new Sandbox(mkdtempSync(join(PLACE, 'coffer-fault-')));
  }

  at(name: string): string {
    return join(this.root, name);
  }

  get store(): string {
    return this.at('store');
  }

  get environment(): Readonly<Record<string, string>> {
    return { COFFER_STORE: this.store, COFFER_MASTER_KEY: MASTER_KEY, COFFER_ORG: 'acme', HOME: this.root };
  }

  copy(): Sandbox {
    const copy = Sandbox.make();
    cpSync(this.root, copy.root, { recursive: true });
    return copy;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Runs a command line in this process, in a world where chance and time are fixed: a world of its own by default. */
  async run(
    words: readonly string[],
    options: { readonly input?: string | undefined; readonly world?: World } = {},
  ): Promise<Answer> {
    const leave = enterEvenly(options.world ?? { ...usualWorld, seed: ++Sandbox.#worlds });
    try {
      const streams = streamsDouble({ input: options.input ?? '' });
      const exitCode = await runCommandLine(words, streams, this.environment, promptsDouble([], false));
      return { exitCode, stdout: streams.written.out, stderr: streams.written.err };
    } finally {
      leave();
    }
  }

  /** As `run`, for a command that must succeed. @returns its standard output. */
  async ok(words: readonly string[], input?: string): Promise<string> {
    const answer = await this.run(words, input === undefined ? {} : { input });
    if (answer.exitCode !== 0)
      throw new Error(`coffer ${words.join(' ')} ended with ${answer.exitCode}: ${answer.stderr}`);
    return answer.stdout.trim();
  }
}

const DRAW_BYTES = 64;

/** Enters a world at the beginning of the program's pool of random bytes, so that the same command draws the same. */
function enterEvenly(world: World): () => void {
  const leave = enter(world);
  const first = firstBytes(world, DRAW_BYTES);
  while (!systemRandom.bytes(DRAW_BYTES).equals(first));
  return leave;
}
