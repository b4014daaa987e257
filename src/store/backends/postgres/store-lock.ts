import { elapsedMs } from '../../../ground/clock.ts';
import { type CofferError, placed, unavailable } from '../../../ground/errors.ts';
import type { Version } from '../backend.ts';
import type { PostgresAddress } from './address.ts';
import { type Client, hearing, SILENCE_MS, together } from './connection.ts';
import { isLockTimeout, PoolerError } from './database-errors.ts';
import { PATIENCE } from './patience.ts';
import { hasOtherSession } from './sessions.ts';

/** What names one commit: the version, and a random id that no other commit has, of whatever history. */
export interface Commit extends Version {
  readonly id: string;
}

interface CommitRow {
  readonly generation: string;
  readonly revision: string;
  readonly commit: string;
}

/** The columns of a commit; 64-bit numbers come as texts. */
export const COMMIT_COLUMNS = 'generation::text, revision::text, commit::text';

export const commitOf = ({ generation, revision, commit }: CommitRow): Commit => ({
  generation: Number(generation),
  revision: Number(revision),
  id: commit,
});

export interface LockLimits {
  /** How long to wait for others. */
  readonly waitMs: number;
  /** The database takes the lock from a session on which it hears nothing for so long. */
  readonly silenceMs: number;
}

/**
 * The lock of a store, which its writers hold one at a time; on one connection. It belongs to the connection, and ends with it,
 * however that ends.
 * @see docs/decisions/0123
 */
export class StoreLock {
  readonly #client: Client;
  readonly #address: PostgresAddress;
  readonly #limits: LockLimits;
  #living: NodeJS.Timeout | undefined;

  constructor(client: Client, address: PostgresAddress, limits: LockLimits) {
    this.#client = client;
    this.#address = address;
    this.#limits = limits;
  }

  /**
   * @returns the state of the store, seen under the lock; undefined when there is no store.
   * @throws the error of the database; `unavailable` when others hold the lock for too long.
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

  /** Both sent together, but the second one looks only when the lock is had. */
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

  /** The database is to bear with a message that takes so long to get there. Never fails: what comes after it does. */
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
      placed`${this.#address.place} is held by another process, waited for ${Math.round(this.#limits.waitMs / 1000)} s`,
      {
        hint: 'wait until it is done (a rekey or backup of a large store takes a while), then try again',
        cause,
      },
    );
  }

  /**
   * @param silenceMs the longest that nothing may be heard of the database before it answers.
   * @returns whether it was held, and so by nobody else since it was taken; false, too, when nobody can tell any more.
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

  /** Made of the store's table, which tells it apart from other stores of the same database. */
  get #number(): string {
    return `(${0x636f6666}::bigint << 32) | '${this.#address.schema}.store'::regclass::oid::bigint`;
  }
}

/** From here on the database ends the session when it hears nothing on it for so long. */
const silenceFor = (milliseconds: number): string =>
  `set_config('idle_session_timeout', '${milliseconds}', false)`;
