import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, it, onTestFinished } from 'vitest';
import type { Chance } from '../../chance.ts';
import { isLong, isSlow, rounds } from '../../long.ts';
import { seeded } from '../../seeded.ts';
import { type ServerProcess, startServerProcess } from '../../servers/server-process.ts';
import { ailments, leftovers } from '../picture.ts';
import type { Sandbox } from '../sandbox.ts';
import { Tally } from '../tally.ts';
import { usualTemplate } from '../template.ts';
import { Ledger, type Work } from './ledger.ts';
import { Part } from './part.ts';
import { ProgramWatcher, ServerWatcher } from './watchers.ts';

/** For so long it is killed instead, in seconds: COFFER_TEST_KILL_SECONDS=600. */
const SECONDS = Number(process.env['COFFER_TEST_KILL_SECONDS'] ?? 0);
const KILLS = SECONDS > 0 ? Number.POSITIVE_INFINITY : isSlow ? 2000 : rounds(40);
/** So many kills, by several processes at once, and then all is looked at. */
const ROUND = 20;
const AT_ONCE = 4;
/** How long a command takes is learnt from those that were not killed; this is the first guess. */
const FIRST_GUESS_MS = 150;
const SERVER_LIVES_MS = 150;
const LIBRARY_LIVES_MS = 300;
const CLIENTS = 3;
const TIMEOUT_MS = 1_800_000;

const template = usualTemplate();

/** The command under test, or the words of COFFER_TEST_COMMAND, e.g. the path of the single executable. */
const [program = '', ...leading] = process.env['COFFER_TEST_COMMAND']?.split(' ') ?? [
  process.execPath,
  inject('command'),
];

/** Parts of the store that a process has for itself, one for each that is killed at the same time. */
const PARTS = Array.from({ length: AT_ONCE }, (_, part) => String(part));
/** Whether others read all the time, in the long proof: a program, and a server. */
const isWatched = isLong;

/** Many processes that work on one store and are killed at any moment. */
class Massacre {
  readonly #box: Sandbox;
  readonly #ledger: Ledger;
  readonly #token: string;
  readonly #parts = new Map(PARTS.map((part) => [part, new Part()]));
  #typicalMs = FIRST_GUESS_MS;
  kills = 0;

  constructor(box: Sandbox, ledger: Ledger, token: string) {
    this.#box = box;
    this.#ledger = ledger;
    this.#token = token;
  }

  get #environment(): NodeJS.ProcessEnv {
    return { ...this.#box.environment, NODE_COMPILE_CACHE: `${inject('command')}.cache` };
  }

  /** Changes that the processes with a part for themselves were told are made. */
  get acknowledged(): number {
    return [...this.#parts.values()].reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  }

  /** One process after the other, until there were enough kills in all. */
  async killUntil(kills: number, name: string, chance: Chance): Promise<void> {
    while (this.kills < kills) {
      if (chance.oneIn(8)) await this.#killServer(chance);
      else if (chance.oneIn(4)) await this.#killLibrary(name, chance);
      else await this.#killCommand(this.#ledger.next(chance), chance);
    }
  }

  /** A program that uses the library, and changes its part. */
  async #killLibrary(name: string, chance: Chance): Promise<void> {
    const part = this.#parts.get(name);
    const words = [inject('conditions'), 'changes', this.#box.root, name, String(chance.below(2 ** 31))];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const problems: unknown[] = [];
    let timer: NodeJS.Timeout | undefined;
    createInterface({ input: child.stdout }).on('line', (line) => {
      timer ??= setTimeout(() => child.kill('SIGKILL'), chance.below(LIBRARY_LIVES_MS));
      try {
        part?.hear(line);
      } catch (error) {
        problems.push(error);
      }
    });
    const [, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    clearTimeout(timer);
    expect({ signal, stderr, problems }).toEqual({ signal: 'SIGKILL', stderr: '', problems: [] });
    this.kills++;
  }

  async #killCommand(work: Work, chance: Chance): Promise<void> {
    const start = performance.now();
    const child = spawn(program, [...leading, ...work.words], {
      cwd: this.#box.root,
      env: this.#environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const timer = setTimeout(
      () => child.kill('SIGKILL'),
      chance.below(1 + Math.round(1.2 * this.#typicalMs)),
    );
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    clearTimeout(timer);
    if (signal === 'SIGKILL') {
      this.kills++;
      return;
    }
    expect({ words: work.words, code, stderr: code === 0 ? '' : stderr }).toEqual({
      words: work.words,
      code: 0,
      stderr: '',
    });
    this.#typicalMs = (3 * this.#typicalMs + performance.now() - start) / 4;
    work.acknowledge();
  }

  #startServer(): Promise<ServerProcess> {
    return startServerProcess([...leading, 'serve', '--listen', '127.0.0.1:0'], {
      program,
      environment: this.#environment,
      directory: this.#box.root,
    });
  }

  async watchingServer(): Promise<ServerWatcher> {
    return new ServerWatcher(await this.#startServer(), this.#token);
  }

  async #killServer(chance: Chance): Promise<void> {
    const server = await this.#startServer();
    let isAlive = true;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (isAlive) {
        const { path, acknowledge } = this.#ledger.nextRequest(chance);
        const answer = await fetch(`${server.address}${path}`, {
          method: 'POST',
          headers: { 'x-service-token': this.#token, 'content-type': 'application/json' },
          body: '{}',
        }).catch(() => undefined);
        if (answer === undefined) return;
        expect(answer.status).toBeLessThan(300);
        acknowledge();
      }
    });
    await sleep(chance.below(SERVER_LIVES_MS));
    await server.stop('SIGKILL');
    isAlive = false;
    this.kills++;
    await Promise.all(clients);
  }
}

const often = SECONDS > 0 ? `for ${SECONDS} s` : `${KILLS} times`;

it(`commands, servers and programs that are killed ${often} on one store, ${AT_ONCE} at a time, lose nothing that was acknowledged`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const box = template().copy();
  const ledger = await Ledger.open(box);
  const massacre = new Massacre(box, ledger, await box.ok(['token', 'create']));
  const watchers = isWatched ? [new ProgramWatcher(box, PARTS), await massacre.watchingServer()] : [];
  onTestFinished(async () => {
    for (const watcher of watchers) await watcher.stop();
  });
  const tally = new Tally('kills');
  const parts = PARTS.map((part) => [part, seeded(`process ${part}`)] as const);
  const endMs = performance.now() + 1000 * SECONDS;
  const isOver = (): boolean => (SECONDS > 0 ? performance.now() > endMs : massacre.kills >= KILLS);
  let reads = 0;
  while (!isOver()) {
    const before = massacre.kills;
    const end = Math.min(KILLS, before + ROUND);
    let problem: unknown;
    try {
      await Promise.all(parts.map(([part, chance]) => massacre.killUntil(end, part, chance)));
      reads = watchers.reduce((sum, watcher) => sum + watcher.reads, 0);
      await ledger.check();
      expect(await ailments(box.store)).toEqual([]);
      await box.ok(['orgs', 'create', `after-${massacre.kills}`]);
      expect(leftovers(box.store)).toEqual([]);
    } catch (error) {
      problem = error;
    }
    for (let kill = before + 1; kill <= massacre.kills; kill++) {
      await tally.after(`kill ${kill}`, () => {
        if (kill === massacre.kills && problem !== undefined) throw problem;
      });
    }
    if (problem !== undefined && massacre.kills === before) throw problem;
  }
  const changes = ledger.acknowledged + massacre.acknowledged;
  process.stdout.write(
    `${massacre.kills} kills, ${changes} acknowledged changes, ${reads} reads meanwhile\n`,
  );
  box.remove();
  tally.settle();
});
