import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient, PoolConfig } from 'pg';
import { placed, unavailable } from '../../../ground/errors.ts';
import type { Host, PostgresAddress } from './address.ts';
import { passwordFor, tlsOptions } from './authentication.ts';
import { databaseError, isConnectionLoss, isRefusedTls, ReplicaError } from './database-errors.ts';

/** The library's type leaves out how a connection lets the process end, and the socket. */
export type Client = PoolClient & {
  ref(): void;
  unref(): void;
  readonly connection: { readonly stream: Writable };
};

export interface PoolLimits {
  /** Connections at most. */
  readonly connections: number;
  /** How long to wait for a connection, whether it has to be made or given back. */
  readonly waitMs: number;
  /** The longest that one statement may take. */
  readonly statementMs: number;
  /** The longest that a statement may wait for a lock. */
  readonly lockMs: number;
}

/** How long those wait who come when the database has just gone, before they are told so. */
const PATIENCE_MS = 3000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** Connections that nobody uses are closed after this; the database ends those of a process that is frozen, later. */
const IDLE_MS = 45_000;
const SILENCE_MS = 60_000;
const KEEP_ALIVE_AFTER_MS = 10_000;
/** A statement is ended by the database; this is for a database that can't even do that. */
const MARGIN_MS = 5000;

/** Lent until `giveBack`. */
export interface Lent {
  readonly client: Client;
  /** @param broken the connection is closed. */
  giveBack(broken: boolean): void;
}

/** Pooled connections to whichever of the hosts is the primary. They come back by themselves after an outage. */
export class Connections {
  readonly #address: PostgresAddress;
  readonly #limits: PoolLimits;
  readonly #pools: (Promise<Pool> | undefined)[] = [];
  /** The host that was the primary when last seen. */
  #primary = 0;
  #everConnected = false;
  /** When the present outage was noticed. */
  #downSince: number | undefined;
  #closed = false;
  #kept: Lent | undefined;

  constructor(address: PostgresAddress, limits: PoolLimits) {
    this.#address = address;
    this.#limits = limits;
  }

  /**
   * Runs `query`, which may run again on another connection when one breaks: so it must not change anything.
   * @throws a CofferError, `unavailable` when there is no connection to be had in a bounded time.
   */
  async reading<T>(query: (client: Client) => Promise<T>): Promise<T> {
    return this.#patiently(async () => {
      const { client, giveBack } = await this.#lend();
      let broken = true;
      try {
        const result = await query(client);
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
        const result = await query(lent.client);
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

  close(): void {
    this.#closed = true;
    if (this.#kept !== undefined) this.#drop(this.#kept);
    for (const pool of this.#pools.splice(0)) {
      void pool?.then((opened) => opened.end()).catch(() => undefined);
    }
  }

  async #patiently<T>(attempt: () => Promise<T>): Promise<T> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        const result = await attempt();
        this.#everConnected = true;
        this.#downSince = undefined;
        return result;
      } catch (error) {
        if (!this.#everConnected || this.#closed || !isConnectionLoss(error)) throw this.#explain(error);
        this.#downSince ??= performance.now();
        if (performance.now() + pause - this.#downSince > PATIENCE_MS) throw this.#explain(error);
      }
      await sleep(pause);
    }
  }

  readonly #explain = (error: unknown): unknown => databaseError(error, this.#address.place);

  /** Asks one host after the other, the last known primary first. */
  async #lend(): Promise<Lent> {
    const { hosts } = this.#address;
    let telling: unknown;
    for (let step = 0; step < hosts.length; step++) {
      const index = (this.#primary + step) % hosts.length;
      try {
        const lent = await this.#lendFrom(index);
        this.#primary = index;
        return lent;
      } catch (error) {
        // What a server answers says more than that another one can't be reached.
        if (telling === undefined || !isAnswer(telling)) telling = error;
      }
    }
    throw telling;
  }

  async #lendFrom(index: number): Promise<Lent> {
    try {
      return await lentBy(await this.#pool(index));
    } catch (error) {
      if (this.#address.ssl.mode !== 'prefer' || !isRefusedTls(error)) throw error;
      this.#pools[index] = this.#open(index, false);
      return await lentBy(await this.#pool(index));
    }
  }

  #pool(index: number): Promise<Pool> {
    if (this.#closed) throw unavailable(placed`${this.#address.place} was closed`);
    const pool = this.#pools[index] ?? this.#open(index, tlsOptions(this.#address));
    this.#pools[index] = pool;
    return pool;
  }

  async #open(index: number, ssl: PoolConfig['ssl'] & (object | false)): Promise<Pool> {
    // Only who keeps a store in PostgreSQL pays for loading its client.
    const { default: pg } = await import('pg');
    const host = this.#address.hosts[index] ?? this.#address.hosts[0];
    const pool = new pg.Pool({ ...this.#config(host), ssl });
    // A connection that breaks while nobody uses it leaves the pool by itself.
    pool.on('error', () => undefined);
    return pool;
  }

  #config(host: Host): PoolConfig {
    const { user, database } = this.#address;
    const { connections, waitMs, statementMs, lockMs } = this.#limits;
    const password = passwordFor(this.#address, host);
    return {
      host: host.host,
      ...(host.port === undefined ? {} : { port: host.port }),
      ...(user === undefined ? {} : { user }),
      ...(database === undefined ? {} : { database }),
      ...(password === undefined ? {} : { password: password as () => string }),
      max: connections,
      connectionTimeoutMillis: waitMs,
      idleTimeoutMillis: IDLE_MS,
      allowExitOnIdle: true,
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      application_name: 'coffer',
      query_timeout: statementMs + MARGIN_MS,
      onConnect: (client) => greet(client as Client, statementMs, lockMs),
    };
  }
}

/** All that `send` asks of the database goes there in one packet: each one wakes it, and costs more than what it asks. */
export function together<T>({ connection: { stream } }: Client, send: () => T): T {
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}

const isAnswer = (error: unknown): boolean => error instanceof ReplicaError || !isConnectionLoss(error);

async function lentBy(pool: Pool): Promise<Lent> {
  const client = (await pool.connect()) as Client;
  // The query at hand fails as well; without a listener the event would end the process.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  return {
    client,
    giveBack(broken) {
      client.release(broken);
      if (!broken) client.off('error', ignore);
    },
  };
}

/**
 * What holds for every connection, whatever the role's own settings are: hexadecimal bytes, a fresh look for each
 * statement, bounded statements, dead peers noticed, commits that are on the disk when they are acknowledged.
 */
async function greet(client: Client, statementMs: number, lockMs: number): Promise<void> {
  const results = (await client.query(
    `SET bytea_output = hex; SET default_transaction_isolation = 'read committed';
     SET statement_timeout = ${statementMs}; SET lock_timeout = ${lockMs};
     SET idle_session_timeout = ${SILENCE_MS}; SET idle_in_transaction_session_timeout = ${SILENCE_MS};
     SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
     SELECT set_config('synchronous_commit', 'on', false)
       WHERE current_setting('synchronous_commit') = 'off';
     SELECT pg_is_in_recovery() AS replica`,
  )) as unknown as readonly { readonly rows: readonly { readonly replica?: boolean }[] }[];
  if (results.at(-1)?.rows[0]?.replica === true) {
    throw new ReplicaError();
  }
}
