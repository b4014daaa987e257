import type { KeyObject } from 'node:crypto';
import { wipe } from '../../ground/bytes.ts';
import { printGoTime } from '../../ground/clock.ts';
import { asCofferError, denied, invalid, unsupported } from '../../ground/errors.ts';
import type { SealStatus, ServerState } from '../../operations/declaration/operation.ts';
import type { Location } from '../../store/backends/backend-kind.ts';
import { type HandedOver, lockedBecause, sharedKey, takeOver } from '../../store/handed-over.ts';
import type { SealedStore } from '../../store/sealed/sealed-store.ts';
import { sealStatusOf } from '../control.ts';
import { boundHeap } from '../heap-limits.ts';
import type { Log } from '../log.ts';
import { printMetrics } from '../metrics.ts';
import { Service } from '../service.ts';
import {
  type AgentProof,
  type AgentStatus,
  areTimes,
  type ProvenTimes,
  type Times,
  type Unlocking,
} from './calls.ts';
import { Lifetime } from './lifetime.ts';
import { agentProof, freshNonce, isProof, ownerProof } from './proof.ts';
import { Watchdog } from './watchdog.ts';

/** So often the clocks are looked at, at least: one of them stands still while the machine sleeps. */
const TICK_MS = 5000;
/** So often the store is looked at when nobody uses it. */
const LOOK_EVERY_MS = 30_000;
/** It serves one person: 8 MiB less after a crowd of programs are worth more than a few collections. */
const MOST_YOUNG_BYTES = 8 * 1024 * 1024;
/** An agent that nobody unlocks ends after so long. */
const LOCKED_MS = 10 * 60 * 1000;

/** More commands that start its times anew at once than there are. */
const MOST_NONCES = 16;
const MOST_NONCE = 100;

export interface AgentOptions {
  readonly location: Location;
  readonly auditFile?: string | undefined;
  readonly log: Log;
  /** The document that describes what it can be asked for. */
  readonly describe: () => object;
  /** Whether the sockets on which it listens are still there. */
  readonly isReachable: () => boolean;
}

/** What is open. */
interface Open {
  readonly store: SealedStore;
  readonly handed: Pick<HandedOver, 'slotId' | 'generation'>;
  uses: number;
  /** When somebody last made sure that it may be open, in milliseconds since 1970. */
  lookedAt: number;
}

/**
 * A store that one user has unlocked for a while, as a process: a service to which that user's programs come. It locks once and
 * for good, and the process ends with it: when its times are up, when what opened the store does not open it any more, when nobody
 * can reach it, or when it is told to.
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
  /** Given out, and not answered yet. */
  readonly #nonces = new Set<string>();
  /** Operations under way. */
  #busy = 0;
  #isOver = false;

  private constructor(options: AgentOptions) {
    this.#options = options;
  }

  /** Not unlocked yet. @throws `unavailable` when the audit file can't be opened. */
  static async create(options: AgentOptions): Promise<Agent> {
    const { location, auditFile, log } = options;
    const agent = new Agent(options);
    const settings = { location, workerCommand: [], ...(auditFile === undefined ? {} : { auditFile }) };
    agent.#made = await Service.create({ settings, server: agent, log });
    boundHeap(MOST_YOUNG_BYTES);
    agent.#wait();
    return agent;
  }

  /** Why it has locked for good, once it has. */
  get locked(): Promise<string> {
    return this.#locked.promise;
  }

  /** Whether it holds no store yet, and would take one. */
  get isWaiting(): boolean {
    return this.#open === undefined && !this.#isOver;
  }

  get service(): Service {
    if (this.#made === undefined) throw new Error('the agent is being made');
    return this.#made;
  }

  /**
   * Takes a store over, in place of one that was open, and starts its times anew.
   * @throws as `takeOver`; `unsupported` when it has locked, also meanwhile.
   */
  async unlockWith({ handed, ...times }: Unlocking): Promise<AgentStatus> {
    const store = await this.#takeOver(handed, times);
    try {
      this.#refuseOver();
      await this.service.adopt(store);
      this.#refuseOver();
    } catch (error) {
      // A service that was closed meanwhile may have taken it up afterwards.
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

  async #takeOver(handed: HandedOver, times: Times): Promise<SealedStore> {
    try {
      this.#refuseOver();
      if (!areTimes(times)) throw invalid('these are no times');
      return await takeOver(this.#options.location, handed);
    } finally {
      wipe(handed.rootKey);
    }
  }

  /** Shows that it has the store open. @returns null where it has not. */
  async prove(asked: unknown): Promise<AgentProof | null> {
    if (typeof asked !== 'string' || asked.length > MOST_NONCE) throw invalid('that is no nonce');
    const key = await this.#sharedKey();
    this.#refuseOver();
    if (key === undefined) return null;
    const nonce = freshNonce();
    this.#nonces.add(nonce);
    const [oldest] = this.#nonces;
    if (this.#nonces.size > MOST_NONCES && oldest !== undefined) this.#nonces.delete(oldest);
    return { nonce, proof: agentProof(key, asked, nonce) };
  }

  /** Starts its times anew, for who can open the store. @throws `denied` for who can't. */
  async extend({ nonce, proof, ...times }: ProvenTimes): Promise<AgentStatus> {
    if (!areTimes(times)) throw invalid('these are no times');
    const key = await this.#sharedKey();
    this.#refuseOver();
    if (key === undefined || !this.#nonces.delete(nonce) || !isProof(proof, ownerProof(key, nonce, times))) {
      throw denied('the times of an agent are started anew by who can open the store');
    }
    this.#lifetime = new Lifetime(times);
    this.#wait();
    this.#guard();
    return this.status();
  }

  /** Looks first whether it may still have the store open. */
  async #sharedKey(): Promise<KeyObject | undefined> {
    await this.#look();
    const open = this.#open;
    return open && sharedKey(open.store, open.handed.generation);
  }

  status(): AgentStatus {
    const { idle, latest } = this.#lifetime.until;
    const times =
      this.#open === undefined
        ? {}
        : { idle_until: printGoTime(wholeSecond(idle)), until: printGoTime(wholeSecond(latest)) };
    return { locked: this.#open === undefined, ...times, uses: this.#open?.uses ?? 0, pid: process.pid };
  }

  /**
   * Does something with the store, if it still may: looks first whether its times are up and whether what opened it still does.
   * Where it may not, what is done finds out by itself that the store is sealed.
   * @param isUse whether what was done puts off the end of the time without use; what was refused does not. Undefined for what never does.
   */
  async with<T>(isUse: ((done: T) => boolean) | undefined, work: () => Promise<T>): Promise<T> {
    await this.#look();
    if (isUse === undefined) return work();
    this.#busy += 1;
    try {
      const done = await work();
      if (isUse(done)) this.#use();
      return done;
    } finally {
      this.#busy -= 1;
    }
  }

  #use(): void {
    if (this.#open !== undefined) this.#open.uses += 1;
    this.#lifetime.use();
  }

  /** Forgets the keys, for good. */
  async lock(why: string): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#tick);
    this.#open = undefined;
    this.#options.log.info('locked', { reason: why });
    await this.service.close();
    // Up to here the keys are in memory.
    this.#watchdog.stop();
    this.#locked.resolve(why);
  }

  sealStatus(): Promise<SealStatus> {
    return sealStatusOf(this.#options.location, this.#open === undefined, 0);
  }

  async unseal(): Promise<SealStatus> {
    throw unsupported('an agent is not unsealed through its API', { hint: 'run "coffer unlock"' });
  }

  resetUnseal(): Promise<SealStatus> {
    return this.sealStatus();
  }

  seal(): Promise<void> {
    return this.lock('it was sealed');
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

  /** Has this process killed when it does not end by itself. */
  #guard(): void {
    if (this.#open === undefined || this.#isOver) return;
    this.#watchdog.watch(this.#lifetime.ends, (error) =>
      this.#options.log.defect('nothing ends this agent when it hangs', error),
    );
  }

  #refuseOver(): void {
    if (this.#isOver) throw unsupported('this agent has locked for good', { hint: 'unlock the store again' });
  }

  #wait(): void {
    clearTimeout(this.#tick);
    const ms = Math.min(TICK_MS, Math.max(this.#lifetime.leftMs, 1));
    this.#tick = setTimeout(() => void this.#watch(), ms);
  }

  async #watch(): Promise<void> {
    if (!this.#options.isReachable()) await this.lock('its sockets are gone');
    else if (this.#busy > 0) this.#lifetime.use();
    const { lookedAt = Date.now() } = this.#open ?? {};
    // A clock that was set back must not put off the next look.
    const sinceMs = Math.abs(Date.now() - lookedAt);
    if (sinceMs > LOOK_EVERY_MS) await this.#look();
    else if (this.#lifetime.leftMs <= 0) await this.lock('its time was up');
    if (this.#isOver) return;
    this.#wait();
    this.#guard();
  }

  /** Locks when there is a reason to. */
  async #look(): Promise<void> {
    if (this.#lifetime.leftMs <= 0) await this.lock('its time was up');
    const open = this.#open;
    if (open === undefined) return;
    try {
      const why = await lockedBecause(open.store, open.handed);
      open.lookedAt = Date.now();
      if (why !== undefined && open === this.#open) await this.lock(why);
    } catch (error) {
      // A disk or database that does not answer now: whoever uses the store is told so.
      if (asCofferError(error)?.kind === 'unavailable') return;
      this.#options.log.defect('looking at the store failed', error);
      await this.lock('the store could not be looked at');
    }
  }
}

const SECOND_MS = 1000;
const wholeSecond = (ms: number): number => Math.floor(ms / SECOND_MS) * SECOND_MS;
