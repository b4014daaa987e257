import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { binary } from '../../e2e/harness.ts';
import { type ServerProcess, startServerProcess } from '../../servers/server-process.ts';
import { MASTER_KEY, type Reply, send, startServer } from '../../servers/serving.ts';

/** While a server or the database comes back, callers go on asking for so long. */
const PATIENCE_MS = 20_000;
const PAUSE_MS = 30;

/** One of the servers on a store, and how it is asked. */
abstract class Server {
  readonly location: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(location: string) {
    this.location = location;
  }

  protected abstract get address(): string;

  protected hangUp(): void {
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
      return await send(this.address, method, `/v1/${path}`, {
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

/** One `coffer serve`, which may be killed and started again. */
export class Member extends Server {
  #running: ServerProcess | undefined;

  async start(): Promise<void> {
    this.#running = await startServerProcess(
      [binary, 'serve', '--listen', '127.0.0.1:0', '--store', this.location],
      { environment: { ...process.env, COFFER_MASTER_KEY: MASTER_KEY } },
    );
  }

  protected get address(): string {
    return this.#running?.address ?? '';
  }

  /** Without a chance to finish anything. */
  async kill(): Promise<void> {
    await this.#running?.stop('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.hangUp();
  }
}

/** A server in this process, whose patience can be set. */
export class LocalMember extends Server {
  #close: (() => Promise<void> | void) | undefined;
  #address = '';

  async start(): Promise<void> {
    const server = await startServer({ location: this.location }, (close) => {
      this.#close = close;
    });
    this.#address = server.address;
  }

  protected get address(): string {
    return this.#address;
  }

  async stop(): Promise<void> {
    await this.#close?.();
    this.hangUp();
  }
}

/** Servers, and who asks them. */
export type Asked = Pick<Server, 'send' | 'ask'>;
