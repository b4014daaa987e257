import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MASTER_KEY, type Reply, send } from '../../http/serving.ts';

const program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const READY_WITHIN_MS = 30_000;
/** While a server or the database comes back, callers go on asking for so long. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 30;

/** One `coffer serve`, which may be killed and started again. */
export class Member {
  readonly #location: string;
  readonly #agent = new Agent({ keepAlive: true });
  #process: ChildProcess | undefined;
  #address = '';

  constructor(location: string) {
    this.#location = location;
  }

  async start(): Promise<void> {
    const parameters = [program, 'serve', '--listen', '127.0.0.1:0', '--store', this.#location];
    const started = spawn(process.execPath, parameters, {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, COFFER_MASTER_KEY: MASTER_KEY },
    });
    this.#process = started;
    const late = AbortSignal.timeout(READY_WITHIN_MS);
    const [line] = (await Promise.race([
      once(started.stdout, 'data', { signal: late }),
      once(started, 'exit', { signal: late }),
    ])) as [unknown];
    if (!Buffer.isBuffer(line)) throw new Error('the server ended at once');
    this.#address = line.toString().trim();
  }

  /** Without a chance to finish anything. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    this.#agent.destroy();
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const ending = this.#process;
    this.#process = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const ended = once(ending, 'exit');
    ending.kill(signal);
    await ended;
  }

  /** Undefined when the connection broke: then nobody knows whether it was done. */
  async send(
    method: string,
    path: string,
    body: object | undefined,
    token: string,
  ): Promise<Reply | undefined> {
    try {
      return await send(this.#address, method, `/v1/${path}`, { token, body, agent: this.#agent });
    } catch {
      return undefined;
    }
  }

  /** Asks again until there is an answer other than 503: for requests that may be sent twice. */
  async ask(method: string, path: string, body: object | undefined, token: string): Promise<Reply> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const reply = await this.send(method, path, body, token);
      if (reply !== undefined && reply.status !== 503) return reply;
      if (performance.now() > deadline)
        throw new Error(`no answer to ${path}: ${reply?.text ?? 'no connection'}`);
      await sleep(PAUSE_MS);
    }
  }
}
