import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import type { Environment } from '../../src/cli/given.ts';
import type { Prompts } from '../../src/cli/terminal/prompt.ts';
import { promptsDouble, type StreamsSetup, streamsDouble } from './streams.double.ts';

/** What a command did. */
export interface Result {
  readonly exitCode: number;
  readonly out: string;
  readonly outBytes: Buffer;
  readonly err: string;
}

export interface RunOptions extends StreamsSetup {
  /** Added to the environment. */
  readonly environment?: Environment;
  readonly prompts?: Prompts;
}

/** A directory of its own in which commands run, in this process. */
export class DirectoryHere {
  readonly path: string;
  readonly #environment: Environment;

  private constructor(path: string, environment: Environment) {
    this.path = path;
    this.#environment = environment;
  }

  /** Without a store; removed after the test. */
  static make(environment: Environment = {}): DirectoryHere {
    const path = mkdtempSync(join(tmpdir(), 'coffer-here-'));
    onTestFinished(() => rmSync(path, { recursive: true, force: true }));
    return new DirectoryHere(path, {
      PATH: process.env['PATH'],
      HOME: join(path, 'home'),
      COFFER_STORE: join(path, '.store'),
      COFFER_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      COFFER_AGENT: '0',
      ...environment,
    });
  }

  /** The same with a store that has a named key `app`. */
  static async withStore(environment: Environment = {}): Promise<DirectoryHere> {
    const here = DirectoryHere.make(environment);
    await here.ok('init');
    await here.ok('transit keys create app');
    return here;
  }

  file(name: string): string {
    return join(this.path, name);
  }

  write(name: string, content: string | Uint8Array): void {
    mkdirSync(dirname(this.file(name)), { recursive: true });
    writeFileSync(this.file(name), content);
  }

  read(name: string): string {
    return readFileSync(this.file(name), 'utf8');
  }

  /** Runs a command in the directory; words of a text are separated by single spaces. */
  async run(line: string | readonly string[], options: RunOptions = {}): Promise<Result> {
    const { environment = {}, prompts = promptsDouble([], false), ...setup } = options;
    const words = typeof line === 'string' ? line.split(' ') : line;
    const streams = streamsDouble(setup);
    const before = process.cwd();
    process.chdir(this.path);
    try {
      const exitCode = await runCommandLine(
        words,
        streams,
        { ...this.#environment, ...environment },
        prompts,
      );
      return { exitCode, ...streams.written };
    } finally {
      process.chdir(before);
    }
  }

  /** The output of a command that must succeed, without the newline at its end. */
  async ok(line: string | readonly string[], options: RunOptions = {}): Promise<string> {
    const { exitCode, out, err } = await this.run(line, options);
    expect({ line, exitCode, err }).toMatchObject({ line, exitCode: 0 });
    return out.replace(/\n$/, '');
  }

  /** What a command says that must be refused with an exit code. */
  async refused(
    line: string | readonly string[],
    exitCode: number,
    options: RunOptions = {},
  ): Promise<string> {
    const result = await this.run(line, options);
    expect({ line, exitCode: result.exitCode, out: result.out, err: result.err }).toMatchObject({
      line,
      exitCode,
      out: '',
    });
    return result.err.trimEnd();
  }
}
