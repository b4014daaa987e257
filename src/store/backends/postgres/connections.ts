import { setTimeout as sleep } from 'node:timers/promises';
import { elapsedMs } from '../../../ground/clock.ts';
import { placed, unavailable } from '../../../ground/errors.ts';
import type { PostgresAddress } from './address.ts';
import {
  type Client,
  connectTo,
  doubt,
  end,
  firstOf,
  hearing,
  mayFallBack,
  type StatementLimits,
} from './connection.ts';
import {
  databaseError,
  isConnectionLoss,
  isLockTimeout,
  ReplicaError,
  SilenceError,
} from './database-errors.ts';
import { PATIENCE } from './patience.ts';
import { Sessions } from './sessions.ts';

export interface PoolLimits extends StatementLimits {
  /** Connections at most. */
  readonly connections: number;
  /** How long to wait until one is given back. */
  readonly waitMs: number;
}

/** Who has waited for so long, for whatever reason, makes one more attempt. */
const longMs = (): number => PATIENCE.answerMs + PATIENCE.outageMs;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** Connections that nobody uses are closed after this; the database ends those of a process that is frozen, later. */
const IDLE_MS = 45_000;
/** After so long without a connection to one host the next one is asked as well. */
const HEAD_START_MS = 200;

/** Lent until `giveBack`. */
export interface Lent {
  readonly client: Client;
  /** @param broken the connection is closed. */
  giveBack(broken: boolean): void;
}

/** While the database can't be reached. */
interface Outage {
  readonly since: number;
  /** The last thing that was found. */
  error: unknown;
  /** One tries for all. */
  trying: { readonly since: number; readonly done: Promise<void> } | undefined;
}

/**
 * Pooled connections to whichever of the hosts is the primary. They come back by themselves after an outage.
 * @see docs/decisions/0123
 */
export class Connections {
  readonly #address: PostgresAddress;
  readonly #limits: PoolLimits;
  readonly #onSilence: () => void;
  readonly #sessions: Sessions;
  /** In nobody's hands, each with what closes it in the end. */
  readonly #idle = new Map<Client, NodeJS.Timeout>();
  readonly #lent = new Set<Client>();
  /** How many there are: lent, in nobody's hands, and being made. */
  #open = 0;
  readonly #waiting = new Set<PromiseWithResolvers<Client>>();
  /** The host that was the primary when last seen; and those that refused TLS where it is a mere preference. */
  #primary = 0;
  readonly #plainHosts = new Set<number>();
  #everConnected = false;
  #outage: Outage | undefined;
  #closed = false;
  #kept: Lent | undefined;

  /**
   * @param sessions shared with other connections of the same store.
   * @param onSilence called when a connection has gone without a word: then others may have, too.
   */
  constructor(
    address: PostgresAddress,
    limits: PoolLimits,
    sessions = new Sessions(),
    onSilence: () => void = () => undefined,
  ) {
    this.#sessions = sessions;
    this.#address = address;
    this.#limits = limits;
    this.#onSilence = onSilence;
  }

  /**
   * Runs `query`, which may run again on another connection when one breaks: so it must not change anything.
   * @param silenceMs the longest that nothing may be heard of the database meanwhile.
   * @throws a CofferError, `unavailable` when there is no connection to be had in a bounded time.
   */
  async reading<T>(query: (client: Client) => Promise<T>, silenceMs = PATIENCE.answerMs): Promise<T> {
    return this.#patiently(async () => {
      const { client, giveBack } = await this.#lend();
      let broken = true;
      try {
        const result = await hearing(client, silenceMs, () => query(client));
        broken = false;
        return result;
      } catch (error) {
        broken = isConnectionLoss(error);
        throw error;
      } finally {
        giveBack(broken);
      }
    });
  }

  /**
   * As `reading`, on a connection that is kept for this alone: for a query that runs all the time, one run after the other.
   * It keeps no process from ending.
   */
  async watching<T>(query: (client: Client) => Promise<T>): Promise<T> {
    return this.#patiently(async () => {
      const lent = this.#kept ?? (await this.#keep());
      try {
        lent.client.ref();
        const result = await hearing(lent.client, PATIENCE.answerMs, () => query(lent.client));
        lent.client.unref();
        return result;
      } catch (error) {
        this.#drop(lent);
        throw error;
      }
    });
  }

  async #keep(): Promise<Lent> {
    const lent = await this.#lend();
    this.#kept = lent;
    // The database ends a connection that was silent for long.
    lent.client.once('end', () => this.#drop(lent));
    return lent;
  }

  #drop(lent: Lent): void {
    if (this.#kept !== lent) return;
    this.#kept = undefined;
    lent.giveBack(true);
  }

  /** Lends a connection once `prepare` has succeeded on it; as `reading`, `prepare` may run more than once. */
  async lend(prepare: (client: Client) => Promise<void>): Promise<Lent> {
    return this.#patiently(async () => {
      const lent = await this.#lend();
      try {
        await prepare(lent.client);
        return lent;
      } catch (error) {
        lent.giveBack(true);
        throw error;
      }
    });
  }

  /** Connections may lead nowhere: lets go of those that nobody uses right now, and has the others looked at. */
  renew(): void {
    for (const client of this.#lent) doubt(client);
    if (this.#kept !== undefined) this.#drop(this.#kept);
    for (const client of [...this.#idle.keys()]) this.#lose(this.#takeIdle(client));
  }

  close(): void {
    this.#closed = true;
    this.renew();
    this.#refuseWaiting(this.#closedError());
  }

  async #patiently<T>(attempt: () => Promise<T>): Promise<T> {
    const start = elapsedMs();
    let failedSince: number | undefined;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        if (this.#outage !== undefined) await this.#end(this.#outage, start);
        const result = await attempt();
        this.#everConnected = true;
        this.#outage = undefined;
        return result;
      } catch (error) {
        const isLost = isConnectionLoss(error);
        const maySucceed = this.#everConnected && !this.#closed && (isLost || isLockTimeout(error));
        if (!maySucceed) throw this.#explain(error);
        const now = elapsedMs();
        if (failedSince !== undefined && now - start > longMs()) throw this.#explain(error);
        failedSince ??= now;
        const since = isLost ? Math.min(this.#noteOutage(error).since, failedSince) : failedSince;
        if (now + pause - since > PATIENCE.outageMs) throw this.#explain(error);
      }
      await sleep(pause);
    }
  }

  readonly #explain = (error: unknown): unknown => databaseError(error, this.#address.place);

  #noteOutage(error: unknown): Outage {
    this.#outage ??= { since: elapsedMs(), error, trying: undefined };
    this.#outage.error = error;
    this.#refuseWaiting(error);
    return this.#outage;
  }

  /**
   * Resolves when there is a connection again.
   * @param start when whoever waits for it began to wait for something.
   * @throws the error of the outage when that takes longer than anybody shall wait.
   */
  async #end(outage: Outage, start: number): Promise<void> {
    outage.trying ??= { since: elapsedMs(), done: this.#try(outage) };
    const { since, done } = outage.trying;
    const latest = Math.max(
      Math.min(outage.since + PATIENCE.outageMs, start + longMs()),
      since + PATIENCE.laterMs,
    );
    await within(done, latest - elapsedMs(), () => outage.error);
  }

  async #try(outage: Outage): Promise<void> {
    try {
      (await this.#lend()).giveBack(false);
      if (this.#outage === outage) this.#outage = undefined;
    } catch (error) {
      outage.error = error;
      throw error;
    } finally {
      outage.trying = undefined;
    }
  }

  /** A connection that nobody uses, else the first that is given back or made. */
  async #lend(): Promise<Lent> {
    if (this.#closed) throw this.#closedError();
    const [free] = this.#idle.keys();
    if (free !== undefined) return this.#lentOf(this.#takeIdle(free));
    const turn = Promise.withResolvers<Client>();
    this.#waiting.add(turn);
    const alarm = setTimeout(() => {
      if (this.#waiting.delete(turn)) turn.reject(this.#busyError());
    }, this.#limits.waitMs);
    this.#makeMore();
    try {
      return this.#lentOf(await turn.promise);
    } finally {
      clearTimeout(alarm);
    }
  }

  #lentOf(client: Client): Lent {
    client.ref();
    this.#lent.add(client);
    let isBack = false;
    return {
      client,
      giveBack: (broken) => {
        if (isBack) return;
        isBack = true;
        this.#lent.delete(client);
        if (broken) this.#lose(client);
        else this.#offer(client);
      },
    };
  }

  /** To whoever waits the longest, or for whoever comes next. */
  #offer(client: Client): void {
    if (this.#closed || !client.connection.stream.writable) {
      this.#lose(client);
      return;
    }
    const [first] = this.#waiting;
    if (first !== undefined) {
      this.#waiting.delete(first);
      first.resolve(client);
      return;
    }
    client.unref();
    const closing = setTimeout(() => this.#lose(this.#takeIdle(client)), IDLE_MS).unref();
    this.#idle.set(client, closing);
  }

  #takeIdle(client: Client): Client {
    clearTimeout(this.#idle.get(client));
    this.#idle.delete(client);
    return client;
  }

  #lose(client: Client): void {
    this.#sessions.forget(client);
    end(client);
    this.#open--;
    this.#makeMore();
  }

  /** Makes a connection where one is waited for and there may be more of them. */
  #makeMore(): void {
    if (this.#waiting.size === 0 || this.#open >= this.#limits.connections) return;
    this.#open++;
    let counts = true;
    const fail = (error: unknown): void => {
      if (!counts) return;
      counts = false;
      this.#open--;
      const [first] = this.#waiting;
      if (first !== undefined) this.#waiting.delete(first);
      first?.reject(error);
      this.#makeMore();
    };
    // Who has had connections is told soon that there is none; the attempt goes on, for whoever comes next.
    const soon = this.#address.hosts.length > 1 ? PATIENCE.severalHostsMs : PATIENCE.answerMs;
    const alarm = this.#everConnected ? setTimeout(() => fail(new SilenceError()), soon) : undefined;
    this.#connect()
      .then((client) => {
        if (!counts) this.#open++;
        if (this.#open > this.#limits.connections) this.#lose(client);
        else this.#offer(client);
      }, fail)
      .finally(() => clearTimeout(alarm));
  }

  #refuseWaiting(error: unknown): void {
    for (const { reject } of this.#waiting) reject(error);
    this.#waiting.clear();
  }

  /** Asks the hosts, the last known primary first. */
  async #connect(): Promise<Client> {
    const { hosts } = this.#address;
    const attempts = hosts.map((_, step) => {
      const index = (this.#primary + step) % hosts.length;
      return async () => ({ index, client: await this.#connectTo(index) });
    });
    const { index, client } = await firstOf(attempts, HEAD_START_MS, isAnswer, (late) => end(late.client));
    try {
      await this.#sessions.admit(client);
    } catch (error) {
      end(client);
      throw error;
    }
    this.#primary = index;
    client.once('end', () => {
      if (this.#idle.has(client)) this.#lose(this.#takeIdle(client));
    });
    client.on('error', (error) => {
      // Who waits for this one would wait for another in its stead, and longer than those who are told that it broke.
      if (this.#everConnected) this.#refuseWaiting(error);
      if (error instanceof SilenceError) this.#onSilence();
    });
    return client;
  }

  async #connectTo(index: number): Promise<Client> {
    const { hosts } = this.#address;
    const host = hosts[index] ?? hosts[0];
    try {
      return await connectTo(this.#address, host, this.#limits, !this.#plainHosts.has(index));
    } catch (error) {
      if (this.#plainHosts.has(index) || !mayFallBack(this.#address, error)) throw error;
      this.#plainHosts.add(index);
      return connectTo(this.#address, host, this.#limits, false);
    }
  }

  readonly #closedError = (): Error => unavailable(placed`${this.#address.place} was closed`);

  readonly #busyError = (): Error =>
    unavailable(
      placed`cannot use ${this.#address.place}: others in this process held the connection for too long`,
      { hint: 'try again later' },
    );
}

/** What a server answers says more than that another one can't be reached. */
const isAnswer = (error: unknown): boolean => error instanceof ReplicaError || !isConnectionLoss(error);

/** What `work` comes to; it goes on when it takes longer. @throws what `late` returns, when it does. */
async function within<T>(work: Promise<T>, milliseconds: number, late: () => unknown): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), Math.max(0, milliseconds));
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
