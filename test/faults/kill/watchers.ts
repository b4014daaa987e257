/** Those who only read a store all the time, while others are killed at its changes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject } from 'vitest';
import type { ServerProcess } from '../../servers/server-process.ts';
import type { Sandbox } from '../sandbox.ts';

const PAUSE_MS = 5;

/** A program that uses the library: it reads all parts. */
export class ProgramWatcher {
  readonly #child: ChildProcess;
  #stderr = '';
  #lastLine = '0';

  constructor(box: Sandbox, parts: readonly string[]) {
    const words = [inject('conditions'), 'watcher', box.root, ...parts];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.#lastLine = line;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#child = child;
  }

  /** How often it has read so far. @throws if it has found something that never was */
  get reads(): number {
    expect(this.#stderr).toBe('');
    return Number(this.#lastLine);
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'close');
    if (this.#child.kill('SIGKILL')) await ended;
  }
}

/** A server that is asked for a key, which others rotate. */
export class ServerWatcher {
  readonly #server: ServerProcess;
  readonly #watching: Promise<void>;
  #isOver = false;
  #problem: unknown;
  #reads = 0;

  constructor(server: ServerProcess, token: string) {
    this.#server = server;
    this.#watching = this.#watch(token).catch((error: unknown) => {
      this.#problem = error;
    });
  }

  async #watch(token: string): Promise<void> {
    for (let last = 1; !this.#isOver; this.#reads++) {
      const answer = await fetch(`${this.#server.address}/v1/transit/keys/letters`, {
        headers: { 'x-service-token': token },
      });
      const { data } = (await answer.json()) as { data: { latest_version: number; keys: object } };
      expect(data.latest_version).toBeGreaterThanOrEqual(last);
      last = data.latest_version;
      expect(Object.keys(data.keys).map(Number)).toEqual(Array.from({ length: last }, (_, i) => i + 1));
      await sleep(PAUSE_MS);
    }
  }

  /** As that of `ProgramWatcher`. */
  get reads(): number {
    if (this.#problem !== undefined) throw this.#problem;
    return this.#reads;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#watching;
    await this.#server.stop();
  }
}
