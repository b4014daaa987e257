/** Opens a single connection to a database. */
import type { Socket } from 'node:net';
import type { ClientConfig, Client as LibraryClient } from 'pg';
import { elapsedMs } from '../../../ground/clock.ts';
import { inTime } from '../../../ground/pause.ts';
import type { Host, PostgresAddress } from './address.ts';
import { passwordFor, tlsOptions } from './authentication.ts';
import { isRefusedTls, PoolerError, ReplicaError, SilenceError } from './database-errors.ts';

/**
 * Timeouts in use, in milliseconds; read whenever a wait begins.
 * @see docs/decisions/0123
 */
export const PATIENCE = {
  /**
   * Response timeout. A working database answers sooner, even with an error; this detects connections on which nothing
   * arrives any more.
   */
  answerMs: 4000,
  /** Shorter response timeout, used after another connection has timed out. */
  doubtfulMs: 2000,
  /** Timeout of a commit, which may wait for disks and standbys; a large one also has to be transferred. */
  commitMs: 6000,
  largeCommitMs: 30_000,
  /** Time that callers wait at the beginning of an outage before they get an error. */
  outageMs: 3000,
  /**
   * Time that callers wait later in the outage, or if they have already waited for others, while a reconnection attempt
   * is running.
   */
  laterMs: 700,
  /**
   * Response timeout with several hosts: one may be gone for good while another is about to take over, so they are soon
   * tried again.
   */
  severalHostsMs: 1500,
  /**
   * Interval of a wait for other writers. The wait is divided so that it can be distinguished from a dead connection.
   */
  lockTurnMs: 2500,
  /** Time without any data after which the database takes the write lock from a process. */
  holderSilenceMs: 6000,
  /** Keep-alive interval of an idle lock holder. */
  signOfLifeMs: 1500,
};

/** Client of the library. Its published type lacks the socket, and `ref` and `unref`, which let the process exit. */
export type PostgresClient = Omit<LibraryClient, 'connection'> & {
  ref(): void;
  unref(): void;
  readonly connection: { readonly stream: Socket };
};

export interface StatementLimits {
  /** Time limit of a statement, in milliseconds, enforced by the database. */
  readonly statementMs: number;
  /** Time limit for waiting on a database lock, in milliseconds. */
  readonly lockMs: () => number;
  /** Response timeout, in milliseconds, for queries whose caller has no limit of its own. */
  readonly answerMs: number;
}

/**
 * Extra time, in milliseconds, before we abort a statement ourselves, in case the database cannot enforce its own
 * limit.
 */
export const MARGIN_MS = 5000;
/**
 * Session timeouts, in milliseconds: the database ends sessions of a process that is frozen or cut off, idle or within
 * a transaction.
 */
export const SILENCE_MS = 60_000;
const SILENCE_IN_TRANSACTION_MS = 20_000;
const KEEP_ALIVE_AFTER_MS = 10_000;
/** Close timeout of a connection, in milliseconds. */
const GOODBYE_MS = 1000;

/**
 * Connects to one host, once.
 * @param withTls false if the host is known to refuse TLS
 * @throws the error of the library, the platform or the database; `ReplicaError` if the host is not the primary
 */
export async function connectTo(
  address: PostgresAddress,
  host: Host,
  limits: StatementLimits,
  withTls: boolean,
): Promise<PostgresClient> {
  // Load the client only for stores in PostgreSQL.
  const { default: pg } = await import('pg');
  const ssl = withTls && tlsOptions(address);
  const client = new pg.Client({ ...configFor(address, host, limits), ssl }) as unknown as PostgresClient;
  // Callers with a pending query get the error as well; without a listener the event would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await hearing(client, PATIENCE.answerMs, () => greet(client, limits));
    return client;
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
}

/** Whether a host that refused TLS may be tried without it. */
export const mayFallBack = ({ ssl }: PostgresAddress, error: unknown): boolean =>
  ssl.mode === 'prefer' && isRefusedTls(error);

function configFor(
  address: PostgresAddress,
  { host, port }: Host,
  { answerMs }: StatementLimits,
): ClientConfig {
  const { user, database } = address;
  const password = passwordFor(address, { host, port });
  return {
    host,
    port,
    user,
    database,
    password: password === undefined ? undefined : (password as () => string),
    connectionTimeoutMillis: address.connectTimeoutMs,
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    application_name: 'coffer',
    query_timeout: answerMs,
  };
}

/** SQL expression that identifies a session of a database uniquely, even across restarts of the server. */
const SESSION = "pg_backend_pid() || ' ' || pg_postmaster_start_time()";

interface Greeting {
  readonly replica?: boolean;
  readonly session?: string;
}

const sessions = new WeakMap<PostgresClient, string>();

/** Returns the session that a connection had at first. */
const firstSessionOf = (client: PostgresClient): string => sessions.get(client) ?? '';

/**
 * Sets up a connection, regardless of the role's own settings: hexadecimal bytes, a new snapshot for each statement,
 * bounded statements, detection of dead peers, and commits that are on disk, and known to the synchronous standby, when
 * they are acknowledged.
 */
async function greet(client: PostgresClient, { statementMs, lockMs }: StatementLimits): Promise<void> {
  const results = (await client.query(
    `SET bytea_output = hex; SET default_transaction_isolation = 'read committed';
     SET statement_timeout = ${statementMs}; SET lock_timeout = ${lockMs()};
     SET idle_session_timeout = ${SILENCE_MS};
     SET idle_in_transaction_session_timeout = ${SILENCE_IN_TRANSACTION_MS};
     SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 2;
     SET tcp_user_timeout = 20000;
     SELECT set_config('synchronous_commit', 'on', false)
       WHERE current_setting('synchronous_commit') IN ('off', 'local');
     SELECT pg_is_in_recovery() AS replica, ${SESSION} AS session`,
  )) as unknown as readonly { readonly rows: readonly Greeting[] }[];
  const greeting = results.at(-1)?.rows[0];
  if (greeting?.replica === true) throw new ReplicaError();
  sessions.set(client, greeting?.session ?? '');
}

/**
 * Runs a query, and closes the connection if nothing at all was received on it for that long: the peer may have
 * vanished silently. The query fails then.
 * @see docs/decisions/0123
 */
export async function hearing<T>(
  client: PostgresClient,
  silenceMs: number,
  ask: () => Promise<T>,
): Promise<T> {
  const { stream } = client.connection;
  const since = elapsedMs();
  let heard = stream.bytesRead;
  let isDone = false;
  const doubted = (): void => {
    const isSilent = stream.bytesRead === heard && elapsedMs() - since > PATIENCE.doubtfulMs;
    if (isSilent) stream.destroy(new SilenceError());
  };
  doubts.set(client, doubted);
  const judge = (): void => {
    if (isDone) return;
    if (stream.bytesRead === heard) stream.destroy(new SilenceError());
    heard = stream.bytesRead;
    timer.refresh();
  };
  // Data that arrived while this process was busy or frozen is read first.
  const timer = setTimeout(() => setImmediate(judge), silenceMs).unref();
  try {
    return await ask();
  } finally {
    isDone = true;
    clearTimeout(timer);
    if (doubts.get(client) === doubted) doubts.delete(client);
  }
}

const doubts = new WeakMap<PostgresClient, () => void>();

/**
 * Called when another connection to the same server has timed out: if this one has a pending query and has not received
 * anything either, it has timed out, too.
 */
export const doubt = (client: PostgresClient): void => doubts.get(client)?.();

/**
 * Sends all queries of `send` in one packet: each packet wakes the database, which costs more than the query itself.
 */
export function together<T>({ connection: { stream } }: PostgresClient, send: () => T): T {
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}

/** Closes a connection, gracefully if the peer still responds. Callers do not wait for it. */
export function end(client: PostgresClient): void {
  client.unref();
  client.end().catch(() => undefined);
  setTimeout(() => client.connection.stream.destroy(), GOODBYE_MS).unref();
}

/**
 * Returns the first of several attempts that succeeds. Each begins when the previous one has failed, or has not
 * succeeded within the head start.
 * @param choose returns the error to throw if all fail, from those of the attempts in their order
 * @param discard cleans up an attempt that succeeds after another one
 */
export async function firstOf<T>(
  attempts: readonly (() => Promise<T>)[],
  headStartMs: number,
  choose: (errors: readonly unknown[]) => unknown,
  discard: (late: T) => void,
): Promise<T> {
  const begun: Promise<T>[] = [];
  for (const attempt of attempts) {
    begun.push(attempt());
    const hasSucceeded = Promise.any(begun).then(
      () => true,
      () => false,
    );
    if (await inTime(hasSucceeded, headStartMs, () => false)) break;
  }
  try {
    const first = await Promise.any(begun);
    for (const one of begun) one.then((late) => late !== first && discard(late)).catch(() => undefined);
    return first;
  } catch (error) {
    throw choose((error as AggregateError).errors);
  }
}

/**
 * Detects connections that do not have a session of their own, which locks and prepared statements require. Behind a
 * pooler that assigns sessions per transaction, several connections share one.
 */
export class Sessions {
  readonly #connections = new Map<string, PostgresClient>();

  /**
   * Registers a new connection.
   * @throws PoolerError if another live connection has its session
   */
  async admit(client: PostgresClient): Promise<void> {
    const session = firstSessionOf(client);
    const other = this.#connections.get(session);
    this.#connections.set(session, client);
    // A pooler that keeps sessions may reuse that of a connection whose end we have not noticed yet.
    if (other !== undefined && other !== client && (await isAlive(other))) throw new PoolerError();
  }

  /** Unregisters a connection that is about to close; its session may be reused then. */
  forget(client: PostgresClient): void {
    const session = firstSessionOf(client);
    if (this.#connections.get(session) === client) this.#connections.delete(session);
  }
}

const isAlive = (client: PostgresClient): Promise<boolean> =>
  hearing(client, PATIENCE.answerMs, () => client.query('SELECT')).then(
    () => true,
    () => false,
  );

/** Whether a connection has a different session than at first; false if that cannot be determined. */
export async function hasOtherSession(client: PostgresClient): Promise<boolean> {
  try {
    const { rows } = await hearing(client, PATIENCE.answerMs, () =>
      client.query<{ readonly session: string }>(`SELECT ${SESSION} AS session`),
    );
    return rows[0]?.session !== firstSessionOf(client);
  } catch {
    return false;
  }
}
