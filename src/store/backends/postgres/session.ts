import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CofferError, unavailable } from '../../../errors.ts';
import type { Blob, Change, Session, Version } from '../backend.ts';
import type { PostgresAddress } from './address.ts';
import { type Batch, inBatches, insertBlobs } from './blob-rows.ts';
import { type CommitStatements, columnsOf, commitStatements } from './commit-statements.ts';
import type { Client } from './connections.ts';
import { databaseError, isConnectionLoss, isLockTimeout, isSerializationFailure } from './database-errors.ts';

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

const ATTEMPTS = 5;
const LONGEST_PAUSE_MS = 50;

/** The number of the lock of a store: its table tells it apart from other stores of the same database. */
const lockOf = (schema: string): string =>
  `(${0x636f6666}::bigint << 32) | '${schema}.store'::regclass::oid::bigint`;

/**
 * Takes the lock of a store, and reads its state under it. The lock belongs to the connection: it ends with it, however that
 * ends.
 * @throws the error of the database; `unavailable` when others hold the lock for too long.
 */
export async function takeLock(
  client: Client,
  { schema, printed }: PostgresAddress,
  waitMs: number,
): Promise<Commit | undefined> {
  // Sent together, but the second one looks only when the lock is had.
  const [locked, found] = await Promise.allSettled([
    client.query({ name: 'lock', text: `SELECT pg_advisory_lock(${lockOf(schema)})` }),
    client.query<CommitRow>({
      name: 'locked state',
      text: `SELECT ${COMMIT_COLUMNS} FROM ${schema}.store WHERE ready`,
    }),
  ]);
  if (locked.status === 'rejected') {
    if (!isLockTimeout(locked.reason)) throw locked.reason;
    throw unavailable(`${printed} is held by another process, waited for ${Math.round(waitMs / 1000)} s`, {
      hint: 'wait until it is done (a rekey or backup of a large store takes a while), then try again',
      cause: locked.reason,
    });
  }
  if (found.status === 'rejected') throw found.reason;
  const [row] = found.value.rows;
  return row === undefined ? undefined : commitOf(row);
}

/** Lets go of the lock. @returns whether it was held, and so by nobody else since it was taken. */
export async function releaseLock(client: Client, { schema }: PostgresAddress): Promise<boolean> {
  const { rows } = await client.query<{ readonly held: boolean }>({
    name: 'unlock',
    text: `SELECT pg_advisory_unlock(${lockOf(schema)}) AS held`,
  });
  return rows[0]?.held === true;
}

/** The right to write: the lock, held by the one connection over which everything is written. */
export class PostgresSession implements Session {
  readonly #client: Client;
  readonly #address: PostgresAddress;
  readonly #statements: CommitStatements;
  #at: Commit;
  /** A commit has shown that the lock was ours all along. */
  hasProof = false;

  constructor(client: Client, address: PostgresAddress, at: Commit) {
    this.#client = client;
    this.#address = address;
    this.#statements = commitStatements(address.schema);
    this.#at = at;
  }

  get version(): Version {
    return { generation: this.#at.generation, revision: this.#at.revision };
  }

  async commit(changes: readonly Change[]): Promise<Version> {
    if (changes.length === 0) return this.version;
    const next = { ...this.#at, revision: this.#at.revision + 1, id: randomUUID() };
    const written = changes.filter((change): change is Blob => change.bytes !== undefined);
    const removed = changes.filter(({ bytes }) => bytes === undefined);
    await this.#writing(() => this.#retrying(() => this.#commitOnce(next, written, removed)));
    return this.version;
  }

  async replaceGeneration(blobs: AsyncIterable<Blob>): Promise<Version> {
    const from = this.#at;
    const next = { generation: from.generation + 1, revision: from.revision + 1, id: randomUUID() };
    const { schema } = this.#address;
    await this.#client.query('BEGIN').catch(this.#explain);
    try {
      for await (const batch of inBatches(blobs)) await this.#insert(next.generation, batch);
      await this.#writing(async () => {
        const { rowCount } = await this.#client.query(
          `UPDATE ${schema}.store SET generation = $1, revision = $2, commit = $3
           WHERE ready AND generation = $4 AND revision = $5 AND commit = $6`,
          [next.generation, next.revision, next.id, from.generation, from.revision, from.id],
        );
        if (rowCount !== 1) throw this.#overtaken();
        await this.#client.query(`DELETE FROM ${schema}.blob WHERE generation = $1`, [from.generation]);
        await this.#client.query('COMMIT');
      });
    } catch (error) {
      await this.#client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
    this.#moved(next);
    return this.version;
  }

  /** Everything in one statement, so all or nothing, and only if the store is as this session left it. */
  async #commitOnce(next: Commit, written: readonly Blob[], removed: readonly Change[]): Promise<void> {
    const [only] = written;
    const isOne = only !== undefined && written.length === 1 && removed.length === 0;
    const text = isOne ? this.#statements.writeOne : this.#statements.change;
    const content = isOne
      ? [only.ref.area, only.ref.name, Buffer.from(only.bytes)]
      : columnsOf(written, removed);
    const { generation, revision, id } = this.#at;
    const { rows } = await this.#client.query({
      name: isOne ? 'write one' : 'change',
      text,
      values: [generation, revision, id, next.revision, next.id, ...content],
    });
    if (rows.length !== 1) throw this.#overtaken();
    this.#moved(next);
  }

  #moved(to: Commit): void {
    this.#at = to;
    this.hasProof = true;
  }

  async #insert(generation: number, batch: Batch): Promise<void> {
    await insertBlobs(this.#client, this.#address.schema, generation, batch).catch(this.#explain);
  }

  /** What the database rolled back for the sake of another transaction is tried again, a bounded number of times. */
  async #retrying(write: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        if (!isSerializationFailure(error) || attempt === ATTEMPTS) throw error;
        await sleep(Math.random() * LONGEST_PAUSE_MS);
      }
    }
  }

  async #writing(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (error instanceof CofferError || !isConnectionLoss(error)) throw this.#explained(error);
      throw unavailable(
        `the connection to ${this.#address.printed} was lost while a change was being written`,
        {
          hint: 'look whether it was made before you try again: nothing was acknowledged',
          cause: error,
        },
      );
    }
  }

  readonly #explained = (error: unknown): unknown => databaseError(error, this.#address.printed);

  readonly #explain = (error: unknown): never => {
    throw this.#explained(error);
  };

  #overtaken(): CofferError {
    return unavailable(`another process wrote to ${this.#address.printed} meanwhile`, {
      hint: 'nothing was changed; try again',
    });
  }
}
