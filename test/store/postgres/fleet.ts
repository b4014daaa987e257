import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ServerProcess, startServerProcess } from '../../servers/server-process.ts';
import { MASTER_KEY, type Reply, send } from '../../servers/serving.ts';

const program = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
/** While a server or the database comes back, callers go on asking for so long. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 30;

/** One `coffer serve`, which may be killed and started again. */
export class Member {
  readonly #location: string;
  readonly #agent = new Agent({ keepAlive: true });
  #running: ServerProcess | undefined;

  constructor(location: string) {
    this.#location = location;
  }

  async start(): Promise<void> {
    this.#running = await startServerProcess(
      [program, 'serve', '--listen', '127.0.0.1:0', '--store', this.#location],
      { environment: { ...process.env, COFFER_MASTER_KEY: MASTER_KEY } },
    );
  }

  /** Without a chance to finish anything. */
  async kill(): Promise<void> {
    await this.#running?.stop('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#agent.destroy();
  }

  /** Undefined when the connection broke: then nobody knows whether it was done. */
  async send(
    method: string,
    path: string,
    body: object | undefined,
    token: string,
  ): Promise<Reply | undefined> {
    try {
      return await send(this.#running?.address ?? '', method, `/v1/${path}`, {
        token,
        body,
        agent: this.#agent,
      });
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
