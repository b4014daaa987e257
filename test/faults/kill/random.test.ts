import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import type { Chance } from '../../chance.ts';
import { isSlow, rounds } from '../../long.ts';
import { seeded } from '../../seeded.ts';
import { startServerProcess } from '../../servers/server-process.ts';
import { ailments, leftovers } from '../picture.ts';
import type { Sandbox } from '../sandbox.ts';
import { Tally } from '../tally.ts';
import { usualTemplate } from '../template.ts';
import { Ledger, type Work } from './ledger.ts';

const KILLS = isSlow ? 2000 : rounds(40);
/** So many kills, by several processes at once, and then all is looked at. */
const ROUND = 20;
const AT_ONCE = 4;
/** How long a command takes is learnt from those that were not killed; this is the first guess. */
const FIRST_GUESS_MS = 150;
const SERVER_LIVES_MS = 150;
const CLIENTS = 3;
const TIMEOUT_MS = 1_800_000;

const template = usualTemplate();

/** The command under test, or the words of COFFER_TEST_COMMAND, e.g. the path of the single executable. */
const [program = '', ...leading] = process.env['COFFER_TEST_COMMAND']?.split(' ') ?? [
  process.execPath,
  inject('command'),
];

/** Many processes that work on one store and are killed at any moment. */
class Massacre {
  readonly #box: Sandbox;
  readonly #ledger: Ledger;
  readonly #token: string;
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

  /** One process after the other, until there were enough kills in all. */
  async killUntil(kills: number, chance: Chance): Promise<void> {
    while (this.kills < kills) {
      if (chance.oneIn(8)) await this.#killServer(chance);
      else await this.#killCommand(this.#ledger.next(chance), chance);
    }
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

  async #killServer(chance: Chance): Promise<void> {
    const server = await startServerProcess([...leading, 'serve', '--listen', '127.0.0.1:0'], {
      program,
      environment: this.#environment,
      directory: this.#box.root,
    });
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

it(`commands and servers that are killed ${KILLS} times on one store, ${AT_ONCE} at a time, lose nothing that was acknowledged`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const box = template().copy();
  const ledger = await Ledger.open(box);
  const massacre = new Massacre(box, ledger, await box.ok(['token', 'create']));
  const tally = new Tally('kills');
  const parts = Array.from({ length: AT_ONCE }, (_, part) => seeded(`process ${part}`));
  while (massacre.kills < KILLS) {
    const before = massacre.kills;
    const end = Math.min(KILLS, before + ROUND);
    await Promise.all(parts.map((chance) => massacre.killUntil(end, chance)));
    let problem: unknown;
    try {
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
  }
  process.stdout.write(`${massacre.kills} kills, ${ledger.acknowledged} acknowledged changes\n`);
  box.remove();
  tally.settle();
});
