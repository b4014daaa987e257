import { setTimeout as sleep } from 'node:timers/promises';
import { elapsedMs } from '../../../ground/clock.ts';
import { placed, unavailable } from '../../../ground/errors.ts';
import { inTime } from '../../../ground/pause.ts';
import { type PostgresAddress, printHost } from './address.ts';
import {
  connectTo,
  doubt,
  end,
  firstOf,
  hearing,
  mayFallBack,
  PATIENCE,
  type PostgresClient,
  Sessions,
  type StatementLimits,
} from './connection.ts';
import {
  databaseError,
  isConnectionLoss,
  isLockTimeout,
  mostTelling,
  SilenceError,
} from './database-errors.ts';

interface PoolLimits extends StatementLimits {
  /** Maximum number of connections. */
  readonly connections: number;
  /** Time to wait for a connection to be returned to the pool, in milliseconds. */
  readonly waitMs: number;
}

/** Wait, in milliseconds, after which a caller makes one more attempt, regardless of the reason for the wait. */
const longMs = (): number => PATIENCE.answerMs + PATIENCE.outageMs;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/**
 * Idle connections are closed after this time, in milliseconds; the database closes those of a frozen process, later.
 */
const IDLE_MS = 45_000;
/** Time in milliseconds without a connection to one host after which the next one is tried as well. */
const HEAD_START_MS = 200;

/** Pooled connection, borrowed until `giveBack`. */
export interface LentConnection {
  readonly client: PostgresClient;
  /**
   * Returns the connection to the pool.
   * @param broken whether to close it instead
   */
  giveBack(broken: boolean): void;
}

/** Period during which the database cannot be reached. */
interface Outage {
  readonly since: number;
  /** Last error seen. */
  error: unknown;
  /** Current attempt to reconnect, shared by all callers. */
  trying: { readonly since: number; readonly done: Promise<void> } | undefined;
}

/**
 * Connection pool for whichever of the hosts is the primary. Reconnects automatically after an outage.
 * @see docs/decisions/0123
 */
export class Connections {
  readonly #address: PostgresAddress;
  readonly #limits: PoolLimits;
  readonly #onSilence: () => void;
  readonly #sessions: Sessions;
  /** Idle connections, each with the timer that closes it. */
  readonly #idle = new Map<PostgresClient, NodeJS.Timeout>();
  readonly #lent = new Set<PostgresClient>();
  /** Total number of connections: borrowed, idle and being opened. */
  #open = 0;
  readonly #waiting = new Set<PromiseWithResolvers<PostgresClient>>();
  /** Last known primary; and hosts that refused TLS where it is only preferred. */
  #primary = 0;
  readonly #plainHosts = new Set<number>();
  #everConnected = false;
  #outage: Outage | undefined;
  #closed = false;
  #kept: LentConnection | undefined;

  /**
   * @param sessions shared with other connections of the same store
   * @param onSilence called when a connection has timed out silently: others may have, too
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
   * Runs a read-only `query`; it may run again on another connection if one breaks, so it must not change anything.
   * @param silenceMs maximum time without any data from the database
   * @throws a CofferError; `unavailable` if no connection can be obtained within a bounded time
   */
  async reading<T>(query: (client: PostgresClient) => Promise<T>, silenceMs = PATIENCE.answerMs): Promise<T> {
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
   * Like `reading`, on a dedicated connection: for a query that runs continuously, one run after another. It does not
   * keep the process from exiting.
   */
  async watching<T>(query: (client: PostgresClient) => Promise<T>): Promise<T> {
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

  async #keep(): Promise<LentConnection> {
    const lent = await this.#lend();
    this.#kept = lent;
    // The database closes a connection that was idle for long.
    lent.client.once('end', () => this.#drop(lent));
    return lent;
  }

  #drop(lent: LentConnection): void {
    if (this.#kept !== lent) return;
    this.#kept = undefined;
    lent.giveBack(true);
  }

  /** Borrows a connection once `prepare` has succeeded on it; as with `reading`, `prepare` may run more than once. */
  async lend(prepare: (client: PostgresClient) => Promise<void>): Promise<LentConnection> {
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

  /** Treats all connections as possibly broken: drops the idle ones and checks the others. */
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
   * Waits until a connection is available again.
   * @param start time when the caller began to wait
   * @throws the error of the outage if that takes longer than the caller may wait
   */
  async #end(outage: Outage, start: number): Promise<void> {
    outage.trying ??= { since: elapsedMs(), done: this.#try(outage) };
    const { since, done } = outage.trying;
    const latest = Math.max(
      Math.min(outage.since + PATIENCE.outageMs, start + longMs()),
      since + PATIENCE.laterMs,
    );
    await inTime(done, latest - elapsedMs(), () => {
      throw outage.error;
    });
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

  /** Takes an idle connection, or the first that is returned or opened. */
  async #lend(): Promise<LentConnection> {
    if (this.#closed) throw this.#closedError();
    const [free] = this.#idle.keys();
    if (free !== undefined) return this.#lentOf(this.#takeIdle(free));
    const turn = Promise.withResolvers<PostgresClient>();
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

  #lentOf(client: PostgresClient): LentConnection {
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

  /** Gives a connection to the longest waiter, or adds it to the idle ones. */
  #offer(client: PostgresClient): void {
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

  #takeIdle(client: PostgresClient): PostgresClient {
    clearTimeout(this.#idle.get(client));
    this.#idle.delete(client);
    return client;
  }

  #lose(client: PostgresClient): void {
    this.#sessions.forget(client);
    end(client);
    this.#open--;
    this.#makeMore();
  }

  /** Opens a connection if a caller waits for one and the pool is not full. */
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
    // If there have been connections before, waiters get an error soon; the attempt continues for later callers.
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

  /** Connects to the hosts, the last known primary first. */
  async #connect(): Promise<PostgresClient> {
    const { hosts } = this.#address;
    const order = hosts.map((_, step) => (this.#primary + step) % hosts.length);
    const attempts = order.map((index) => async () => ({ index, client: await this.#connectTo(index) }));
    const choose = (errors: readonly unknown[]): unknown =>
      mostTelling(
        errors.map((error, step) => ({ host: printHost(hosts[order[step] ?? 0] ?? hosts[0]), error })),
      );
    const { index, client } = await firstOf(attempts, HEAD_START_MS, choose, (late) => end(late.client));
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
      // Callers that wait for this attempt would wait for another one instead, and longer than callers that were told
      // of the failure.
      if (this.#everConnected) this.#refuseWaiting(error);
      if (error instanceof SilenceError) this.#onSilence();
    });
    return client;
  }

  async #connectTo(index: number): Promise<PostgresClient> {
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
    unavailable(placed`cannot use ${this.#address.place}: timed out waiting for a free connection`, {
      hint: 'try again later',
    });
}
