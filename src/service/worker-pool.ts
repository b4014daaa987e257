import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Control, Member } from './control.ts';
import type { Log } from './log.ts';
import type { Snapshot } from './metrics.ts';
import { portOf, Rpc } from './rpc.ts';
import type { ServiceSettings } from './service.ts';
import { letMakePrivately } from './socket-file.ts';
import { printKeys, type UnsealKey } from './unseal-keys.ts';
import type { WorkerStart } from './worker.ts';

const RESTART_PAUSE_MS = 200;
/** Longer than any request may take. */
const CLOSE_LIMIT_MS = 100_000;

/** Several processes behind one door. One that ends unasked is replaced. */
export class WorkerPool<S> {
  readonly #settings: ServiceSettings;
  readonly #control: Control;
  readonly #log: Log;
  readonly #members = new Set<WorkerMember<S>>();
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

  /** One after the other: the first one finds out whether the addresses can be had. */
  async start(count: number): Promise<void> {
    for (let started = 0; started < count; started += 1) await this.#fork();
  }

  async #fork(): Promise<void> {
    // One after the other, as all that the control does: no process is forked while another one's sockets are made.
    const member = await this.#control.add(() => this.#startMember(cluster.fork()));
    this.#members.add(member);
    member.onceEnded((code, signal) => {
      this.#members.delete(member);
      this.#control.remove(member);
      if (!this.#closing) void this.#replace(code, signal);
    });
  }

  /** Listening on behalf of a worker, this process makes the sockets. */
  async #startMember(worker: Worker): Promise<WorkerMember<S>> {
    const member = new WorkerMember<S>(worker, this.#control);
    const { keys } = this.#control;
    this.addresses = await letMakePrivately(() =>
      member.start({
        role: 'answering',
        settings: this.#settings,
        door: this.#door,
        ...(keys === undefined ? {} : { keys: printKeys(keys) }),
      }),
    );
    return member;
  }

  async #replace(code: number | null, signal: string | null): Promise<void> {
    this.#log.warn('a worker ended and is replaced', { code, signal });
    while (!this.#closing) {
      await sleep(RESTART_PAUSE_MS);
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
    await Promise.all([...this.#members].map((member) => member.close()));
  }
}

/** A worker as the control sees it. */
class WorkerMember<S> implements Member {
  readonly #worker: Worker;
  readonly #rpc: Rpc;

  constructor(worker: Worker, control: Control) {
    this.#worker = worker;
    this.#rpc = new Rpc(portOf(worker.process), {
      sealStatus: () => control.sealStatus(),
      unseal: (key) => control.unseal(String(key)),
      resetUnseal: () => control.resetUnseal(),
      seal: () => control.seal(),
      reload: () => control.reload(),
      metrics: () => control.metrics(),
    });
    worker.once('exit', () => this.#rpc.close());
  }

  onceEnded(listener: (code: number | null, signal: string | null) => void): void {
    this.#worker.once('exit', listener);
  }

  /** @returns the addresses that it listens on. */
  async start(start: WorkerStart<S>): Promise<readonly string[]> {
    try {
      return (await this.#rpc.call('start', start)) as readonly string[];
    } catch (error) {
      this.#worker.process.kill('SIGKILL');
      throw error;
    }
  }

  async unseal(keys: readonly UnsealKey[]): Promise<void> {
    await this.#rpc.call('unseal', printKeys(keys));
  }

  async seal(): Promise<void> {
    await this.#rpc.call('seal');
  }

  async reload(): Promise<void> {
    await this.#rpc.call('reload');
  }

  async renew(door: S): Promise<void> {
    await this.#rpc.call('renew', door);
  }

  async snapshot(): Promise<Snapshot> {
    return (await this.#rpc.call('snapshot')) as Snapshot;
  }

  /** Lets it finish what is in flight, then ends it. */
  async close(): Promise<void> {
    const exited = new Promise((resolve) => this.#worker.once('exit', resolve));
    const limit = setTimeout(() => this.#worker.process.kill('SIGKILL'), CLOSE_LIMIT_MS);
    await this.#rpc.call('close').catch(() => undefined);
    if (this.#worker.isConnected()) this.#worker.disconnect();
    await exited;
    clearTimeout(limit);
  }
}
