import { placed, unavailable } from '../../../ground/errors.ts';
import type { Version } from '../backend.ts';
import type { PostgresAddress } from './address.ts';
import { type Client, together } from './connections.ts';
import { isLockTimeout } from './database-errors.ts';

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

/**
 * The lock of a store, which its writers hold one at a time; on one connection. It belongs to the connection, and ends with it,
 * however that ends.
 */
export class StoreLock {
  readonly #client: Client;
  readonly #address: PostgresAddress;
  readonly #waitMs: number;

  /** @param waitMs the connection's limit for waiting, for the message. */
  constructor(client: Client, address: PostgresAddress, waitMs: number) {
    this.#client = client;
    this.#address = address;
    this.#waitMs = waitMs;
  }

  /**
   * @returns the state of the store, seen under the lock; undefined when there is no store.
   * @throws the error of the database; `unavailable` when others hold the lock for too long.
   */
  async take(): Promise<Commit | undefined> {
    const { schema, place } = this.#address;
    // Sent together, but the second one looks only when the lock is had.
    const [locked, found] = await Promise.allSettled(
      together(this.#client, () => [
        this.#client.query({ name: 'lock', text: `SELECT pg_advisory_lock(${this.#number})` }),
        this.#client.query<CommitRow>({
          name: 'locked state',
          text: `SELECT ${COMMIT_COLUMNS} FROM ${schema}.store WHERE ready`,
        }),
      ]),
    );
    if (locked.status === 'rejected') {
      if (!isLockTimeout(locked.reason)) throw locked.reason;
      throw unavailable(
        placed`${place} is held by another process, waited for ${Math.round(this.#waitMs / 1000)} s`,
        {
          hint: 'wait until it is done (a rekey or backup of a large store takes a while), then try again',
          cause: locked.reason,
        },
      );
    }
    if (found.status === 'rejected') throw found.reason;
    const [row] = found.value.rows;
    return row === undefined ? undefined : commitOf(row);
  }

  /** @returns whether it was held, and so by nobody else since it was taken; false, too, when nobody can tell any more. */
  async release(): Promise<boolean> {
    try {
      const { rows } = await this.#client.query<{ readonly held: boolean }>({
        name: 'unlock',
        text: `SELECT pg_advisory_unlock(${this.#number}) AS held`,
      });
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
