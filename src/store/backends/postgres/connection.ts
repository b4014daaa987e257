/** One connection to a database. */
import type { Socket } from 'node:net';
import type { ClientConfig, Client as LibraryClient } from 'pg';
import { elapsedMs } from '../../../ground/clock.ts';
import type { Host, PostgresAddress } from './address.ts';
import { passwordFor, tlsOptions } from './authentication.ts';
import { isRefusedTls, ReplicaError, SilenceError } from './database-errors.ts';
import { PATIENCE } from './patience.ts';

/** The library's type leaves out how a connection lets the process end, and the socket. */
export type Client = Omit<LibraryClient, 'connection'> & {
  ref(): void;
  unref(): void;
  readonly connection: { readonly stream: Socket };
};

export interface StatementLimits {
  /** The longest that one statement may take; the database ends it then. */
  readonly statementMs: number;
  /** The longest that a statement may wait for a lock of the database. */
  readonly lockMs: () => number;
  /** When an answer is given up that nobody waits for with a limit of its own. */
  readonly answerMs: number;
}

/** The database ends a statement that takes too long; so much later we do, in case it can't even do that. */
export const MARGIN_MS = 5000;
/** The database ends the sessions of a process that is frozen or cut off: one that holds nothing, one within a transaction. */
export const SILENCE_MS = 60_000;
const SILENCE_IN_TRANSACTION_MS = 20_000;
const KEEP_ALIVE_AFTER_MS = 10_000;
/** How long a goodbye may be under way. */
const GOODBYE_MS = 1000;

/**
 * Connects to one host, once.
 * @param withTls false when it is known that the host refuses it.
 * @throws the error of the library, of the platform or of the database; `ReplicaError` for one that is not the primary.
 */
export async function connectTo(
  address: PostgresAddress,
  host: Host,
  limits: StatementLimits,
  withTls: boolean,
): Promise<Client> {
  // Only who keeps a store in PostgreSQL pays for loading its client.
  const { default: pg } = await import('pg');
  const ssl = withTls && tlsOptions(address);
  const client = new pg.Client({ ...configFor(address, host, limits), ssl }) as unknown as Client;
  // Whoever asks something is told of it as well; without a listener the event would end the process.
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

/** Whether a host that refused TLS may be asked without it. */
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
    ...(port === undefined ? {} : { port }),
    ...(user === undefined ? {} : { user }),
    ...(database === undefined ? {} : { database }),
    ...(password === undefined ? {} : { password: password as () => string }),
    connectionTimeoutMillis: address.connectTimeoutMs,
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    application_name: 'coffer',
    query_timeout: answerMs,
  };
}

/** What tells a session of a database from all others, also from those before it was started again. */
export const SESSION = "pg_backend_pid() || ' ' || pg_postmaster_start_time()";

interface Greeting {
  readonly replica?: boolean;
  readonly session?: string;
}

const sessions = new WeakMap<Client, string>();

/** The session that a connection had in the beginning. */
export const firstSessionOf = (client: Client): string => sessions.get(client) ?? '';

/**
 * What holds for every connection, whatever the role's own settings are: hexadecimal bytes, a fresh look for each
 * statement, bounded statements, dead peers noticed, commits that are on the disk when they are acknowledged.
 */
async function greet(client: Client, { statementMs, lockMs }: StatementLimits): Promise<void> {
  const results = (await client.query(
    `SET bytea_output = hex; SET default_transaction_isolation = 'read committed';
     SET statement_timeout = ${statementMs}; SET lock_timeout = ${lockMs()};
     SET idle_session_timeout = ${SILENCE_MS};
     SET idle_in_transaction_session_timeout = ${SILENCE_IN_TRANSACTION_MS};
     SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 2;
     SET tcp_user_timeout = 20000;
     SELECT set_config('synchronous_commit', 'on', false)
       WHERE current_setting('synchronous_commit') = 'off';
     SELECT pg_is_in_recovery() AS replica, ${SESSION} AS session`,
  )) as unknown as readonly { readonly rows: readonly Greeting[] }[];
  const greeting = results.at(-1)?.rows[0];
  if (greeting?.replica === true) throw new ReplicaError();
  sessions.set(client, greeting?.session ?? '');
}

/**
 * Asks, and ends the connection when nothing at all was heard on it for so long: its other end may have vanished without a
 * word. That fails what was asked.
 * @see docs/decisions/0123
 */
export async function hearing<T>(client: Client, silenceMs: number, ask: () => Promise<T>): Promise<T> {
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
  // What arrived while this process was busy or frozen is read first.
  const timer = setTimeout(() => setImmediate(judge), silenceMs).unref();
  try {
    return await ask();
  } finally {
    isDone = true;
    clearTimeout(timer);
    if (doubts.get(client) === doubted) doubts.delete(client);
  }
}

const doubts = new WeakMap<Client, () => void>();

/** Another connection to the same place has gone silent: if this one is asked something and has not been heard either, it has, too. */
export const doubt = (client: Client): void => doubts.get(client)?.();

/** All that `send` asks of the database goes there in one packet: each one wakes it, and costs more than what it asks. */
export function together<T>({ connection: { stream } }: Client, send: () => T): T {
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}

/** Ends a connection, politely if there is still somebody at its other end. Nobody waits for it. */
export function end(client: Client): void {
  client.unref();
  client.end().catch(() => undefined);
  setTimeout(() => client.connection.stream.destroy(), GOODBYE_MS).unref();
}

/**
 * The first of several attempts that succeeds. Each begins when the one before it has failed, or has not succeeded for a while.
 * @param isTelling whether an error says more than that nobody was there.
 * @param discard for what succeeds after another one did.
 * @throws the most telling of the errors, when all fail.
 */
export function firstOf<T>(
  attempts: readonly (() => Promise<T>)[],
  headStartMs: number,
  isTelling: (error: unknown) => boolean,
  discard: (late: T) => void,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const errors: unknown[] = [];
  let begun = 0;
  let isOver = false;
  const begin = (): void => {
    const attempt = isOver ? undefined : attempts[begun];
    if (attempt === undefined) return;
    begun++;
    const next = setTimeout(begin, headStartMs);
    attempt()
      .then((result) => {
        if (isOver) return discard(result);
        isOver = true;
        resolve(result);
      })
      .catch((error: unknown) => {
        errors.push(error);
        if (errors.length === attempts.length) reject(errors.find(isTelling) ?? error);
        else if (begun === errors.length) begin();
      })
      .finally(() => clearTimeout(next));
  };
  begin();
  return promise;
}
