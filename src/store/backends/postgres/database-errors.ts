import {
  type Aside,
  CofferError,
  corrupt,
  type DatabasePlace,
  placed,
  printText,
  type Text,
  unavailable,
} from '../../../ground/errors.ts';
import { errorCode } from '../files/disk-errors.ts';

interface DatabaseReason {
  readonly reason: Text;
  readonly hint?: string;
}

const GRANT =
  'grant the role USAGE on the schema and SELECT, INSERT, UPDATE and DELETE on the tables created by "coffer store migrate"';
const WAIT = 'try again in a moment';
const PASSWORD_PLACES =
  'check where it is set: --store, PGPASSWORD, PGPASSFILE (~/.pgpass) or COFFER_STORE_PASSWORD_FILE';
const NOTHING_CHANGED = 'nothing was changed; check what else uses these tables, then retry';

const POOLER: DatabaseReason = {
  reason:
    'this address is a pooler in transaction mode, which supports neither session locks nor prepared statements',
  hint: 'use session mode ("pool_mode = session" in PgBouncer), or connect to the database directly',
};

/**
 * Reasons by SQLSTATE (PostgreSQL 15 documentation, appendix A) or, if no database answered, by the platform's code.
 */
const REASONS: Readonly<Record<string, DatabaseReason>> = {
  '28P01': {
    reason: 'the password is wrong',
    hint: PASSWORD_PLACES,
  },
  '28000': { reason: 'the database rejected the login', hint: 'check the user, TLS, and pg_hba.conf' },
  '3D000': { reason: 'database does not exist', hint: 'create it with "createdb", or use another database' },
  '40001': { reason: 'too many conflicts with other transactions', hint: NOTHING_CHANGED },
  '40P01': { reason: 'too many deadlocks with other transactions', hint: NOTHING_CHANGED },
  '42501': { reason: 'permission denied', hint: GRANT },
  // The session is not in the state that this connection left it in: other clients use it in between.
  '26000': POOLER,
  '42P05': POOLER,
  '25006': {
    reason: 'the database is read-only',
    hint: 'connect to the primary, or set default_transaction_read_only to off for this role',
  },
  '53100': { reason: 'the disk of the database is full', hint: 'free some space on that disk' },
  '53200': { reason: 'the database is out of memory', hint: WAIT },
  '53300': {
    reason: 'the database has too many connections',
    hint: 'raise max_connections, or the connection limit of the role or the database, or use fewer servers',
  },
  '55P03': { reason: 'another session holds a lock on its tables', hint: NOTHING_CHANGED },
  '57014': { reason: 'the database timed out', hint: 'check the database for long-running queries or locks' },
  '57P01': { reason: 'the database is being shut down', hint: WAIT },
  '57P02': { reason: 'the database crashed and is recovering', hint: WAIT },
  '57P03': { reason: 'the database is starting up', hint: WAIT },
  '57P05': { reason: 'the connection was idle for too long', hint: WAIT },
  '25P03': { reason: 'the connection was idle for too long', hint: WAIT },
  ECONNREFUSED: {
    reason: 'connection refused',
    hint: 'check that the database runs and that the address is right',
  },
  ENOTFOUND: { reason: 'host not found', hint: 'check the address' },
  EAI_AGAIN: { reason: 'DNS lookup failed', hint: WAIT },
  ETIMEDOUT: { reason: 'connection timed out', hint: 'check the address and the network' },
  EHOSTUNREACH: { reason: 'the host cannot be reached', hint: 'check the address and the network' },
  ECONNRESET: { reason: 'the connection was cut', hint: WAIT },
  EPIPE: { reason: 'the connection was cut', hint: WAIT },
  CERT_HAS_EXPIRED: {
    reason: 'the certificate of the database, or that of its CA, has expired',
    hint: 'renew that certificate, or correct the clock of this machine',
  },
  CERT_NOT_YET_VALID: {
    reason: 'the certificate of the database, or that of its CA, is not valid yet',
    hint: 'correct the clock of this machine, or wait until the certificate is valid',
  },
  ENOENT: { reason: 'socket not found', hint: 'check the directory of the socket and the port' },
};

/** SQLSTATEs that mean altered tables, columns, types (also those of prepared statements) or rules. */
const ALTERED = /^(0A000|42P01|3F000|42703|42804|42883|42P10|42P17|428C9|22P02|22003|23\d{3}|P0001)$/;
const SERIALIZATION = /^(40001|40P01)$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;
/** SQLSTATEs of transient problems: connection exceptions, resources, operator intervention. */
const LOST = /^(08|57P|57014|53|25P03)/;
/** Messages of the library itself, all of them about the connection. */
const OWN_WORDS =
  /^(Connection terminated|Client (has|was)|Query read timeout|timeout e|The server does not support|There was an error est|SASL)/;
const TIMED_OUT = /timeout/i;
const NO_TLS = /does not support SSL/;
const NO_PASSWORD = /password must be a string/;
const EMPTY_PASSWORD = /password must be a non-empty string/;
/** Parts of PostgreSQL's English messages. In other languages, these errors get the general text. */
const NO_ENTRY = /no pg_hba\.conf entry /;
const LOGIN = /host "[^"]*", user "[^"]*", database "[^"]*"/;
const NO_ENCRYPTION = /no encryption/;
const WANTS_CERTIFICATE = /valid client certificate/;
/** Advice about an option of Node, which users of Coffer cannot give. */
const ADVICE_OF_NODE = /; if the root CA is installed locally.*/;
const OTHER_HOST = 'ERR_TLS_CERT_ALTNAME_INVALID';

/** Response timeout: nothing was received on a connection for longer than the caller could wait. */
export class SilenceError extends Error {
  constructor() {
    super('timeout expired');
  }
}

/** Thrown if the server that answered is a replica, which may return outdated data. */
export class ReplicaError extends Error {}

/** Thrown if connections have no sessions of their own (behind a pooler), so that no lock can be held. */
export class PoolerError extends Error {}

/** Returns the SQLSTATE of an error that a database sent. */
function sqlState(error: unknown): string | undefined {
  const code = errorCode(error);
  return code !== undefined && SQLSTATE.test(code) && !code.startsWith('E') ? code : undefined;
}

/** Whether a transaction was rolled back because of another one and should be retried. */
export const isSerializationFailure = (error: unknown): boolean => SERIALIZATION.test(sqlState(error) ?? '');

/** Whether an error comes from the database, the network, or the library; any other error is a defect. */
function isOfDatabase(error: unknown): boolean {
  const code = errorCode(error);
  if (error instanceof ReplicaError || error instanceof PoolerError || OWN_WORDS.test(messageOf(error)))
    return true;
  return code !== undefined && (!code.startsWith('ERR_') || isCertificateError(error));
}

/** Whether the connection is unusable or was never established, while another one may work. */
export function isConnectionLoss(error: unknown): boolean {
  if (error instanceof CofferError || error instanceof PoolerError || !isOfDatabase(error)) return false;
  const state = sqlState(error);
  if (state !== undefined) return LOST.test(state);
  const message = messageOf(error);
  return (
    ![NO_TLS, NO_PASSWORD, EMPTY_PASSWORD].some((own) => own.test(message)) && !isCertificateError(error)
  );
}

export const isRefusedTls = (error: unknown): boolean => NO_TLS.test(messageOf(error));
/** Whether the database lacked memory or disk for a statement, which it has rolled back. */
export const isShortage = (error: unknown): boolean => sqlState(error)?.startsWith('53') === true;
/** Whether a session may not write. It keeps the settings that its role had when it began, so a new one may. */
export const isReadOnlySession = (error: unknown): boolean => sqlState(error) === '25006';
export const isLockTimeout = (error: unknown): boolean => sqlState(error) === '55P03';

/** Converts an error of the database or the network into a CofferError; returns any other error unchanged. */
export function databaseError(error: unknown, place: DatabasePlace): unknown {
  if (error instanceof CofferError || !isOfDatabase(error)) return error;
  const code = errorCode(error) ?? '';
  const message = messageOf(error);
  if (ALTERED.test(code)) {
    return corrupt(placed`the tables in ${place} were modified${{ inside: `: ${message}`, outside: '' }}`, {
      cause: error,
      hint: 'undo the change, or restore the database from a backup',
    });
  }
  const { reason, hint } = reasonOf(error);
  return unavailable(placed`cannot use ${place}: ${reason}${otherHosts(error)}`, {
    cause: error,
    hint,
  });
}

function reasonOf(error: unknown): DatabaseReason {
  const code = errorCode(error) ?? '';
  const message = messageOf(error);
  return tlsReason(code, message) ?? REASONS[code] ?? ownReason(error, message);
}

/** Error of a connection to one of several hosts. */
interface HostFailure {
  readonly host: string;
  readonly error: unknown;
}

/** Failures of the other hosts, by the error that stands for all. */
const failuresBeside = new WeakMap<object, readonly HostFailure[]>();

/**
 * Returns the most informative of the failures of several hosts: that of a database that refused the login comes before
 * one that has no connection left, a replica, and a host that did not answer. Messages name the others, too.
 */
export function mostTelling(failures: readonly HostFailure[]): unknown {
  const [first, ...others] = failures.toSorted((one, other) => rankOf(one.error) - rankOf(other.error));
  if (first?.error instanceof Error) failuresBeside.set(first.error, others);
  return first?.error;
}

function rankOf(error: unknown): number {
  if (!isConnectionLoss(error)) return 0;
  if (sqlState(error) !== undefined) return 1;
  return error instanceof ReplicaError ? 2 : 3;
}

/** Lists the failures of other hosts that have another reason, for operators. */
function otherHosts(error: unknown): Aside {
  const own = printText(reasonOf(error).reason);
  const others = besideOf(error)
    .filter((failure) => isOfDatabase(failure.error))
    .map((failure) => ({ host: failure.host, reason: printText(reasonOf(failure.error).reason) }))
    .filter(({ reason }) => reason !== own);
  const list = others.map(({ host, reason }) => `${host}: ${reason}`).join('; ');
  return { inside: list === '' ? '' : ` (${list})`, outside: '' };
}

const besideOf = (error: unknown): readonly HostFailure[] =>
  error instanceof Error ? (failuresBeside.get(error) ?? []) : [];

/** Returns the reason why client and server do not agree on encryption. */
function tlsReason(code: string, message: string): DatabaseReason | undefined {
  if (NO_TLS.test(message)) {
    return {
      reason: 'the database offers no TLS',
      hint: 'set "ssl = on" on the server, or use sslmode=disable on a trusted network if pg_hba.conf allows that',
    };
  }
  // The message only describes the connection: there may be no entry for this login with TLS either.
  if (NO_ENTRY.test(message) && NO_ENCRYPTION.test(message)) {
    return {
      reason: placed`pg_hba.conf of the database has no entry that allows this login without TLS${loginIn(message)}`,
      hint: 'use sslmode=verify-full if the server has TLS; otherwise add an entry to pg_hba.conf',
    };
  }
  if (WANTS_CERTIFICATE.test(message)) {
    return { reason: 'the database requires a client certificate', hint: 'set sslcert and sslkey' };
  }
  if (code === OTHER_HOST) {
    return {
      reason: placed`the certificate of the database is for another host${quoted(message)}`,
      hint: 'use the host name in the certificate',
    };
  }
  return undefined;
}

function ownReason(error: unknown, message: string): DatabaseReason {
  if (error instanceof PoolerError) return POOLER;
  if (error instanceof ReplicaError) {
    return {
      reason: 'the database is a read-only replica',
      hint:
        besideOf(error).length > 0
          ? 'none of the hosts is a primary: start it, or promote a replica'
          : 'use the primary; several hosts can be given: postgres://USER@HOST1,HOST2/DATABASE',
    };
  }
  if (NO_PASSWORD.test(message)) {
    return {
      reason: 'the database requires a password',
      hint: 'set PGPASSWORD, PGPASSFILE or COFFER_STORE_PASSWORD_FILE',
    };
  }
  if (EMPTY_PASSWORD.test(message))
    return { reason: 'the password for the database is empty', hint: PASSWORD_PLACES };
  if (isCertificateError(error)) {
    return {
      reason: placed`the certificate of the database is not trusted${quoted(message.replace(ADVICE_OF_NODE, ''))}`,
      hint: 'set sslrootcert to the CA certificate of the database, or use sslmode=prefer on a trusted network',
    };
  }
  if (TIMED_OUT.test(message)) return { reason: 'timed out', hint: 'check the database and the network' };
  if (sqlState(error) !== undefined)
    return { reason: [{ inside: message, outside: 'the database reported an error' }] };
  return { reason: 'the connection was cut', hint: WAIT };
}

/** Quotes a message of the server in internal texts only: it may name hosts, roles and tables. */
const quoted = (message: string): Aside => ({ inside: ` (${message})`, outside: '' });

/** Quotes whose login a message about pg_hba.conf is about, in internal texts only. */
function loginIn(message: string): Aside {
  const [login] = LOGIN.exec(message) ?? [];
  return { inside: login === undefined ? '' : ` (${login})`, outside: '' };
}

/** Whether it is a certificate verification error of OpenSSL or Node. */
const isCertificateError = (error: unknown): boolean =>
  /CERT|SELF_SIGNED|UNABLE_TO|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|ERR_TLS|ERR_SSL/.test(
    errorCode(error) ?? '',
  );

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
