import { elapsedMs } from '../../../ground/clock.ts';
import { type CofferError, placed, unavailable } from '../../../ground/errors.ts';
import type { Version } from '../backend.ts';
import type { PostgresAddress } from './address.ts';
import {
  hasOtherSession,
  hearing,
  PATIENCE,
  type PostgresClient,
  SILENCE_MS,
  together,
} from './connection.ts';
import { isLockTimeout, PoolerError } from './database-errors.ts';

/** Identity of a commit: its version, and a random ID that is unique across all histories. */
export interface Commit extends Version {
  readonly id: string;
}

interface CommitRow {
  readonly generation: string;
  readonly revision: string;
  readonly commit: string;
}

/** Columns of a commit; 64-bit numbers arrive as text. */
export const COMMIT_COLUMNS = 'generation::text, revision::text, commit::text';

export const commitOf = ({ generation, revision, commit }: CommitRow): Commit => ({
  generation: Number(generation),
  revision: Number(revision),
  id: commit,
});

interface LockLimits {
  /** Time to wait for other writers, in milliseconds. */
  readonly waitMs: number;
  /** Time without any data after which the database ends the session and with it the lock, in milliseconds. */
  readonly silenceMs: number;
}

/**
 * Write lock of a store, held by one connection at a time. It is released when the connection ends for any reason.
 * @see docs/decisions/0123
 */
export class StoreLock {
  readonly #client: PostgresClient;
  readonly #address: PostgresAddress;
  readonly #limits: LockLimits;
  #living: NodeJS.Timeout | undefined;

  constructor(client: PostgresClient, address: PostgresAddress, limits: LockLimits) {
    this.#client = client;
    this.#address = address;
    this.#limits = limits;
  }

  /**
   * Acquires the lock.
   * @returns the commit of the store, seen under the lock; undefined if there is no store
   * @throws the error of the database; `unavailable` if other writers hold the lock for too long
   */
  async take(): Promise<Commit | undefined> {
    const { waitMs } = this.#limits;
    const start = elapsedMs();
    for (;;) {
      const [locked, found] = await hearing(this.#client, PATIENCE.answerMs, () => this.#ask());
      if (locked.status === 'fulfilled' && found.status === 'fulfilled') {
        this.#live();
        const [row] = found.value.rows;
        return row === undefined ? undefined : commitOf(row);
      }
      if (locked.status === 'fulfilled') await this.release();
      const reason =
        locked.status === 'rejected' ? locked.reason : found.status === 'rejected' && found.reason;
      if (!isLockTimeout(reason)) throw reason;
      if (elapsedMs() - start < waitMs) continue;
      throw (await hasOtherSession(this.#client)) ? new PoolerError() : this.#timeout(reason);
    }
  }

  /** Sends both queries together; the second one runs only once the lock is held. */
  #ask() {
    const { schema } = this.#address;
    return Promise.allSettled(
      together(this.#client, () => [
        this.#client.query({
          name: 'lock',
          text: `SELECT pg_advisory_lock(${this.#number}), ${silenceFor(this.#limits.silenceMs)}`,
        }),
        this.#client.query<CommitRow>({
          name: 'locked state',
          text: `SELECT ${COMMIT_COLUMNS} FROM ${schema}.store WHERE ready`,
        }),
      ]),
    );
  }

  /**
   * Makes the database tolerate a message that takes that long to arrive. Never fails: a broken connection fails the
   * next query.
   */
  async expectSilence(milliseconds: number): Promise<void> {
    await this.#client.query(`SELECT ${silenceFor(milliseconds)}`).catch(() => undefined);
  }

  #live(): void {
    let isAnswered = true;
    this.#living = setInterval(() => {
      if (!isAnswered) return;
      isAnswered = false;
      this.#client.query('SELECT').then(
        () => {
          isAnswered = true;
        },
        () => clearInterval(this.#living),
      );
    }, PATIENCE.signOfLifeMs).unref();
  }

  #timeout(cause: unknown): CofferError {
    return unavailable(
      placed`timed out after ${Math.round(this.#limits.waitMs / 1000)}s waiting for ${this.#address.place}, locked by another process`,
      {
        hint:
          'wait until that process is done, then retry; a rekey or backup of a large store takes a while, and a commit as ' +
          'long as a synchronous standby is missing',
        cause,
      },
    );
  }

  /**
   * Releases the lock.
   * @param silenceMs maximum time without any data from the database before it answers
   * @returns whether the lock was held until now, which means that nobody else had it; false as well if that cannot be
   * determined
   */
  async release(silenceMs = PATIENCE.answerMs): Promise<boolean> {
    clearInterval(this.#living);
    try {
      const { rows } = await hearing(this.#client, silenceMs, () =>
        this.#client.query<{ readonly held: boolean }>({
          name: 'unlock',
          text: `SELECT pg_advisory_unlock(${this.#number}) AS held, ${silenceFor(SILENCE_MS)}`,
        }),
      );
      return rows[0]?.held === true;
    } catch {
      return false;
    }
  }

  /**
   * SQL expression for the number of the advisory lock, made from the OID of the store's table, so that stores of the
   * same database have different locks.
   */
  get #number(): string {
    return `(${0x636f6666}::bigint << 32) | '${this.#address.schema}.store'::regclass::oid::bigint`;
  }
}

/** Returns the SQL expression that sets the idle timeout of the session. */
const silenceFor = (milliseconds: number): string =>
  `set_config('idle_session_timeout', '${milliseconds}', false)`;
