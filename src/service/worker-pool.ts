import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerState } from '../operations/declaration/operation.ts';
import type { Control } from './control.ts';
import type { Log } from './log.ts';
import { offer, portOf, Rpc, remote } from './rpc.ts';
import type { ServiceSettings } from './service.ts';
import { letMakePrivately } from './socket-file.ts';
import { printKeys, type UnsealKey } from './unseal-keys.ts';
import { SERVER_CALLS, WORKER_CALLS, type WorkerProcess, type WorkerStart } from './worker.ts';

const RESTART_PAUSE_MS = 200;
/** Close timeout, in milliseconds: longer than any request may take. */
const CLOSE_LIMIT_MS = 100_000;

/** Pool of processes with one protocol. A process that exits unexpectedly is replaced. */
export class WorkerPool<S> {
  readonly #settings: ServiceSettings;
  readonly #control: Control;
  readonly #log: Log;
  readonly #members = new Set<WorkerMember<S>>();
  /** Replacements of workers in progress. */
  readonly #replacing = new Set<Promise<void>>();
  #door: S;
  #closing = false;
  addresses: readonly string[] = [];

  constructor(settings: ServiceSettings, door: S, control: Control, log: Log) {
    this.#settings = settings;
    this.#door = door;
    this.#control = control;
    this.#log = log;
    const [exec = '', ...args] = settings.workerCommand;
    cluster.setupPrimary({ exec, args, execArgv: [] });
  }

  /** Starts workers one at a time, so that the first one reports address conflicts. */
  async start(count: number): Promise<void> {
    for (let started = 0; started < count; started += 1) await this.#fork();
  }

  async #fork(): Promise<void> {
    // One at a time, like everything that the control does: no process may be forked while the sockets of another one
    // are created.
    const member = await this.#control.add(() => this.#startMember(cluster.fork()));
    this.#members.add(member);
    member.onceEnded((code, signal) => {
      this.#members.delete(member);
      this.#control.remove(member);
      if (this.#closing) return;
      const replacing = this.#replace(code, signal).finally(() => this.#replacing.delete(replacing));
      this.#replacing.add(replacing);
    });
    // It started before the pool was closed, which did not include this process.
    if (this.#closing) await member.close();
  }

  /** Starts a worker. This process creates the sockets that a worker listens on. */
  async #startMember(worker: Worker): Promise<WorkerMember<S>> {
    const member = memberOf<S>(worker, this.#control);
    const { keys } = this.#control;
    const seen = await this.#control.seen();
    this.addresses = await letMakePrivately(() =>
      member.start({
        settings: this.#settings,
        door: this.#door,
        seen,
        keys: keys === undefined ? undefined : printKeys(keys),
      }),
    );
    return member;
  }

  async #replace(code: number | null, signal: string | null): Promise<void> {
    this.#control.replaced();
    this.#log.warn('a worker exited and was restarted', { code, signal });
    while (!this.#closing) {
      await sleep(RESTART_PAUSE_MS);
      if (this.#closing) return;
      try {
        await this.#fork();
        return;
      } catch (error) {
        this.#log.defect('a worker could not be started', error);
      }
    }
  }

  async renew(door: S): Promise<void> {
    this.#door = door;
    await Promise.all([...this.#members].map((member) => member.renew(door)));
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all([...[...this.#members].map((member) => member.close()), ...this.#replacing]);
  }
}

type WorkerMember<S> = ReturnType<typeof memberOf<S>>;

/** Wraps a worker for the control. */
function memberOf<S>(worker: Worker, control: Control) {
  const rpc = new Rpc(portOf(worker.process), offer<ServerState>(control, SERVER_CALLS));
  worker.once('exit', () => rpc.close());
  const calls = remote<WorkerProcess<S>>(rpc, WORKER_CALLS);
  return {
    ...calls,
    onceEnded(listener: (code: number | null, signal: string | null) => void): void {
      worker.once('exit', listener);
    },
    async start(start: WorkerStart<S>): Promise<readonly string[]> {
      try {
        return await calls.start(start);
      } catch (error) {
        worker.process.kill('SIGKILL');
        throw error;
      }
    },
    unseal: (keys: readonly UnsealKey[]): Promise<void> => calls.unseal(printKeys(keys)),
    /** Lets it finish requests in progress, then ends it. */
    async close(): Promise<void> {
      const exited = new Promise((resolve) => worker.once('exit', resolve));
      const limit = setTimeout(() => worker.process.kill('SIGKILL'), CLOSE_LIMIT_MS);
      await calls.close().catch(() => undefined);
      if (worker.isConnected()) worker.disconnect();
      await exited;
      clearTimeout(limit);
    },
  };
}
