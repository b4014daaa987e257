import type { KeyObject } from 'node:crypto';
import { wipe } from '../../ground/bytes.ts';
import { asCofferError, type CofferError, denied, invalid, unsupported } from '../../ground/errors.ts';
import type { SealStatus, ServerState } from '../../operations/declaration/operation.ts';
import type { StoreLook } from '../../operations/pipeline/store-look.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { type HandedOver, lockedBecause, sharedKey, takeOver } from '../../store/handed-over.ts';
import { lockedStore } from '../../store/refusals.ts';
import type { SealedStore } from '../../store/sealed/sealed-store.ts';
import { sealStatusOf } from '../control.ts';
import { boundHeap } from '../heap.ts';
import type { Log } from '../log.ts';
import { printMetrics } from '../metrics.ts';
import type { ServedCore } from '../served-core.ts';
import { Service } from '../service.ts';
import {
  type AgentProof,
  type AgentStatus,
  type AgentUnlocking,
  areTimes,
  type ProvenTimes,
  type UnlockTimes,
} from './calls.ts';
import { Lifetime } from './lifetime.ts';
import { agentProof, freshNonce, isProof, ownerProof } from './proof.ts';
import { Watchdog } from './watchdog.ts';

/** Interval between checks of an unused store, in milliseconds. */
const LOOK_EVERY_MS = 30_000;
/**
 * Size of the young generation, in bytes. The agent serves one user: 8 MiB less after many concurrent requests are
 * worth a few more collections.
 */
const MOST_YOUNG_BYTES = 8 * 1024 * 1024;
/** Time after which an agent that is not unlocked exits, in milliseconds. */
const LOCKED_MS = 10 * 60 * 1000;

/** Maximum number of pending nonces, more than commands reset the timeouts at the same time. */
const MOST_NONCES = 16;
const MOST_NONCE = 100;

interface AgentOptions {
  readonly location: Location;
  readonly auditFile?: string | undefined;
  readonly log: Log;
  /** API description (OpenAPI document). */
  readonly describe: () => object;
  /** Whether its sockets still exist. */
  readonly isReachable: () => boolean;
}

/** Open store of an agent, and a look at it. */
interface AgentLook {
  readonly served: ServedCore;
  readonly look: StoreLook;
}

/** Open store. */
interface Open {
  readonly store: SealedStore;
  readonly handed: Pick<HandedOver, 'slotId' | 'generation'>;
  uses: number;
  /** Time of the last check that the agent may stay unlocked, in ms since the epoch. */
  lookedAt: number;
}

/**
 * Agent process: holds a store that one user has unlocked for a while, as a service for that user's programs. It locks
 * once, permanently, and the process exits: when a timeout expires, the unlocking slot becomes invalid, it is not
 * reachable any more, or on request.
 * @see docs/decisions/0140
 */
export class Agent implements ServerState {
  readonly #options: AgentOptions;
  readonly #locked = Promise.withResolvers<string>();
  #made: Service | undefined;
  #open: Open | undefined;
  #lifetime = new Lifetime({ idleMs: LOCKED_MS, forMs: LOCKED_MS });
  #tick: NodeJS.Timeout | undefined;
  readonly #watchdog = new Watchdog();
  /** Nonces that were issued and not used yet. */
  readonly #nonces = new Set<string>();
  #looking: Promise<void> | undefined;
  /** Number of operations in progress. */
  #busy = 0;
  #isOver = false;

  private constructor(options: AgentOptions) {
    this.#options = options;
  }

  /**
   * Creates a locked agent.
   * @throws `unavailable` if the audit file cannot be opened
   */
  static async create(options: AgentOptions): Promise<Agent> {
    const { location, auditFile, log } = options;
    const agent = new Agent(options);
    const settings = { location, workerCommand: [], auditFile };
    agent.#made = await Service.create({ settings, server: agent, log });
    boundHeap(MOST_YOUNG_BYTES);
    agent.#wait();
    return agent;
  }

  /** Resolves with the reason once it has locked permanently. */
  get locked(): Promise<string> {
    return this.#locked.promise;
  }

  /** Whether it has no store yet, and would accept one. */
  get isWaiting(): boolean {
    return this.#open === undefined && !this.#isOver;
  }

  get service(): Service {
    if (this.#made === undefined) throw new Error('the agent is starting');
    return this.#made;
  }

  /**
   * Opens a transferred store, replacing one that was open, and resets the timeouts.
   * @throws as `takeOver`; `unsupported` if it has locked, possibly in the meantime
   */
  async unlockWith({ handed, ...times }: AgentUnlocking): Promise<AgentStatus> {
    const store = await this.#takeOver(handed, times);
    try {
      this.#refuseOver();
      await this.service.adopt(store);
      this.#refuseOver();
    } catch (error) {
      // A service that was closed in the meantime may have adopted the store afterwards.
      if (this.#isOver) await this.service.close();
      store.close();
      throw error;
    }
    const { slotId, generation } = handed;
    this.#open = { store, handed: { slotId, generation }, uses: 0, lookedAt: Date.now() };
    this.#lifetime = new Lifetime(times);
    this.#wait();
    this.#guard();
    this.#options.log.info('unlocked', { slot: slotId });
    return this.status();
  }

  async #takeOver(handed: HandedOver, times: UnlockTimes): Promise<SealedStore> {
    try {
      this.#refuseOver();
      if (!areTimes(times)) throw invalid('invalid timeouts');
      return await takeOver(this.#options.location, handed);
    } finally {
      wipe(handed.rootKey);
    }
  }

  /**
   * Proves that it has the store open.
   * @returns null if it has not
   */
  async prove(asked: unknown): Promise<AgentProof | null> {
    if (typeof asked !== 'string' || asked.length > MOST_NONCE) throw invalid('invalid nonce');
    const key = await this.#sharedKey();
    this.#refuseOver();
    if (key === undefined) return null;
    const nonce = freshNonce();
    this.#nonces.add(nonce);
    const [oldest] = this.#nonces;
    if (this.#nonces.size > MOST_NONCES && oldest !== undefined) this.#nonces.delete(oldest);
    return { nonce, proof: agentProof(key, asked, nonce) };
  }

  /**
   * Resets the timeouts for a caller that can open the store.
   * @throws `denied` without a valid proof
   */
  async extend({ nonce, proof, ...times }: ProvenTimes): Promise<AgentStatus> {
    if (!areTimes(times)) throw invalid('invalid timeouts');
    const key = await this.#sharedKey();
    this.#refuseOver();
    if (key === undefined || !this.#nonces.delete(nonce) || !isProof(proof, ownerProof(key, nonce, times))) {
      throw denied('only a command that can unlock the store may restart the timers of the agent');
    }
    this.#lifetime = new Lifetime(times);
    this.#wait();
    this.#guard();
    return this.status();
  }

  /** Returns the shared key, after checking whether the store may stay open. */
  async #sharedKey(): Promise<KeyObject | undefined> {
    await this.#look();
    const open = this.#open;
    return open && sharedKey(open.store, open.handed.generation);
  }

  status(): AgentStatus {
    const times = this.#open === undefined ? {} : this.#lifetime.status;
    return { locked: this.#open === undefined, ...times, uses: this.#open?.uses ?? 0, pid: process.pid };
  }

  /**
   * Runs an operation on the store after checking timeouts and the validity of the credential. If the agent has locked,
   * the operation fails with `sealed`.
   * @param isUse whether the result resets the idle timer (denied requests do not); undefined to never reset it
   */
  async with<T>(isUse: ((done: T) => boolean) | undefined, work: () => Promise<T>): Promise<T> {
    await this.#look();
    return isUse === undefined ? work() : this.busyWith(isUse, work);
  }

  /** Second half of `with`, for callers that have looked: the idle timer does not expire while `work` runs. */
  async busyWith<T>(isUse: (done: T) => boolean, work: () => Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      const done = await work();
      if (isUse(done)) this.#use();
      return done;
    } finally {
      this.#busy -= 1;
    }
  }

  /**
   * Returns the open store and a look at it, after checking that it may still be open. All requests of one turn of the
   * event loop share a look, as in a server.
   * @throws `sealed` if it is locked; `unavailable`
   * @see docs/decisions/0267
   */
  async look(): Promise<AgentLook> {
    const { service } = this;
    const { served } = service;
    if (served === undefined || this.#isOver) throw storeIsLocked();
    let look: StoreLook;
    try {
      look = await served.look();
    } finally {
      // Even if the look failed: a store that cannot be read may have been rekeyed.
      await this.#lookTogether();
    }
    if (service.served === served) return { served, look };
    // It was locked, or unlocked again, in the meantime.
    return this.look();
  }

  /**
   * Checks once for all requests that waited for the same look at the store: they continue one after the other, before
   * any new request can arrive.
   */
  #lookTogether(): Promise<void> {
    if (this.#looking === undefined) {
      this.#looking = this.#look();
      process.nextTick(() => {
        this.#looking = undefined;
      });
    }
    return this.#looking;
  }

  #use(): void {
    if (this.#open !== undefined) this.#open.uses += 1;
    this.#lifetime.use();
  }

  /** Locks permanently: forgets the keys. */
  async lock(why: string): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#tick);
    this.#open = undefined;
    this.#options.log.info('locked', { reason: why });
    await this.service.close();
    // The keys were in memory until here, so keep the watchdog running until now.
    this.#watchdog.stop();
    this.#locked.resolve(why);
  }

  sealStatus(): Promise<SealStatus> {
    return sealStatusOf(this.#options.location, this.#open === undefined, 0);
  }

  async unseal(): Promise<SealStatus> {
    throw unsupported('the agent cannot be unsealed through the API', { hint: 'run "coffer unlock"' });
  }

  resetUnseal(): Promise<SealStatus> {
    return this.sealStatus();
  }

  seal(): Promise<void> {
    return this.lock('a client sealed it');
  }

  reload(): Promise<void> {
    return this.service.reload();
  }

  async metrics(): Promise<string> {
    return printMetrics([await this.service.snapshot()], { sealed: this.#open === undefined, replaced: 0 });
  }

  apiDocument(): object {
    return this.#options.describe();
  }

  /** Starts the watchdog, which kills this process if it does not exit by itself. */
  #guard(): void {
    if (this.#open === undefined || this.#isOver) return;
    this.#watchdog.watch(this.#lifetime.ends, (error) =>
      this.#options.log.defect('cannot start the watchdog that kills this agent if it hangs', error),
    );
  }

  #refuseOver(): void {
    if (this.#isOver)
      throw unsupported('this agent has locked and is exiting', {
        hint: 'run "coffer unlock" to start another one',
      });
  }

  #wait(): void {
    clearTimeout(this.#tick);
    this.#tick = setTimeout(() => void this.#watch(), this.#lifetime.nextCheckMs);
  }

  async #watch(): Promise<void> {
    if (!this.#options.isReachable()) await this.lock('its sockets were deleted or replaced');
    else if (this.#busy > 0) this.#lifetime.use();
    const { lookedAt = Date.now() } = this.#open ?? {};
    // A clock that was set back must not delay the next check.
    const sinceMs = Math.abs(Date.now() - lookedAt);
    if (sinceMs > LOOK_EVERY_MS) await this.#look();
    else if (this.#lifetime.leftMs <= 0) await this.lock('its time limit was reached');
    if (this.#isOver) return;
    this.#wait();
    this.#guard();
  }

  /** Checks the store and the timeouts, and locks if necessary. */
  async #look(): Promise<void> {
    if (this.#lifetime.leftMs <= 0) await this.lock('its time limit was reached');
    const open = this.#open;
    if (open === undefined) return;
    try {
      const why = await lockedBecause(open.store, open.handed);
      open.lookedAt = Date.now();
      if (why !== undefined && open === this.#open) await this.lock(why);
    } catch (error) {
      // The disk or database does not respond at the moment: the next use of the store reports it.
      if (asCofferError(error)?.kind === 'unavailable') return;
      this.#options.log.defect('cannot check the store', error);
      await this.lock('the store could not be checked');
    }
  }
}

const storeIsLocked = (): CofferError => lockedStore({ hint: 'run "coffer unlock"' });
