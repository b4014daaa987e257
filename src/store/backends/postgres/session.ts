import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CofferError, placed, unavailable, unconfirmed } from '../../../ground/errors.ts';
import type { Blob, Change, CommitOptions, Version, WriteSession } from '../backend.ts';
import type { PostgresAddress } from './address.ts';
import { hearing, PATIENCE, type PostgresClient, together } from './connection.ts';
import {
  databaseError,
  isConnectionLoss,
  isReadOnlySession,
  isSerializationFailure,
  isShortage,
} from './database-errors.ts';
import { type BlobBatch, bytea, inBatches, insertBlobs } from './schema.ts';
import type { Commit, StoreLock } from './store-lock.ts';

const ATTEMPTS = 5;
const LONGEST_PAUSE_MS = 50;
const LARGE_BYTES = 1024 * 1024;
/** Time limit for a rekey to delete all rows of a generation in one statement, in milliseconds. */
export const REKEY_MS = 10 * 60_000;
/**
 * Interval in milliseconds at which the database checks during that statement whether the client is still connected;
 * not every server platform supports this.
 */
const LOOK_ROUND_MS = 5000;

/**
 * Write session: the lock, held by the one connection that all writes use.
 * @see docs/decisions/0090
 */
export class PostgresSession implements WriteSession {
  readonly #client: PostgresClient;
  readonly #address: PostgresAddress;
  readonly #statements: ReturnType<typeof commitStatements>;
  readonly #lock: StoreLock;
  #at: Commit;
  #released: Promise<boolean> | undefined;
  /** Whether a commit has proved that the lock was held all along. */
  hasProof = false;
  /** Whether the next writer needs a new connection, which takes up the present settings of the role. */
  isOutdated = false;

  /** @param at commit seen under the lock */
  constructor(client: PostgresClient, address: PostgresAddress, lock: StoreLock, at: Commit) {
    this.#client = client;
    this.#address = address;
    this.#lock = lock;
    this.#statements = commitStatements(address.schema);
    this.#at = at;
  }

  get version(): Version {
    return { generation: this.#at.generation, revision: this.#at.revision };
  }

  /** Returns the last commit known to have succeeded. */
  get at(): Commit {
    return this.#at;
  }

  async raise(revision: number, changes: readonly Change[] = []): Promise<void> {
    await this.#write({ ...this.#at, revision, id: randomUUID() }, changes, false);
  }

  /**
   * Releases the lock, if that was not requested before.
   * @returns as `StoreLock.release`
   */
  release(silenceMs = PATIENCE.answerMs): Promise<boolean> {
    this.#released ??= this.#lock.release(silenceMs);
    return this.#released;
  }

  async commit(changes: readonly Change[], { isLast = false }: CommitOptions = {}): Promise<Version> {
    if (this.#released !== undefined) throw new Error('a session was used after its last commit');
    if (changes.length === 0) return this.version;
    await this.#write({ ...this.#at, revision: this.#at.revision + 1, id: randomUUID() }, changes, isLast);
    return this.version;
  }

  async #write(next: Commit, changes: readonly Change[], isLast: boolean): Promise<void> {
    const written = changes.filter((change): change is Blob => change.bytes !== undefined);
    const removed = changes.filter(({ bytes }) => bytes === undefined);
    await this.#writing(() => this.#retrying(() => this.#commitOnce(next, written, removed, isLast)));
  }

  async replaceGeneration(blobs: AsyncIterable<Blob>): Promise<Version> {
    const from = this.#at;
    const next = { generation: from.generation + 1, revision: from.revision + 1, id: randomUUID() };
    const { schema } = this.#address;
    await hearing(this.#client, PATIENCE.answerMs, () => this.#begin()).catch(this.#explain);
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

  #begin(): Promise<unknown> {
    return this.#client.query(`BEGIN; SET LOCAL statement_timeout = ${REKEY_MS};
      DO $$ BEGIN PERFORM set_config('client_connection_check_interval', '${LOOK_ROUND_MS}', true);
      EXCEPTION WHEN OTHERS THEN NULL; END $$`);
  }

  /** Commits in one statement, hence atomically, and only if the store is as this session left it. */
  async #commitOnce(
    next: Commit,
    written: readonly Blob[],
    removed: readonly Change[],
    isLast: boolean,
  ): Promise<void> {
    const [only] = written;
    const isOne = only !== undefined && written.length === 1 && removed.length === 0;
    const text = isOne ? this.#statements.writeOne : this.#statements.change;
    const content = isOne ? [only.ref.area, only.ref.name, bytea(only.bytes)] : columnsOf(written, removed);
    const { generation, revision, id } = this.#at;
    const bytes = written.reduce((sum, blob) => sum + blob.bytes.length, 0);
    const silenceMs = bytes > LARGE_BYTES ? PATIENCE.largeCommitMs : PATIENCE.commitMs;
    const send = () => {
      if (bytes > LARGE_BYTES) void this.#lock.expectSilence(PATIENCE.largeCommitMs);
      const answer = this.#client.query({
        name: isOne ? 'write one' : 'change',
        text,
        values: [generation, revision, id, next.revision, next.id, ...content],
      });
      if (isLast) void this.release(silenceMs);
      return answer;
    };
    const { rows } = await hearing(this.#client, silenceMs, () => together(this.#client, send));
    if (rows.length !== 1) throw this.#overtaken();
    this.#moved(next);
  }

  #moved(to: Commit): void {
    this.#at = to;
    this.hasProof = true;
  }

  async #insert(generation: number, batch: BlobBatch): Promise<void> {
    await hearing(this.#client, PATIENCE.largeCommitMs, () =>
      insertBlobs(this.#client, this.#address.schema, generation, batch),
    ).catch(this.#explain);
  }

  /** Retries a write that the database rolled back in favor of another transaction, a bounded number of times. */
  async #retrying(write: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        if (!isSerializationFailure(error) || attempt === ATTEMPTS) throw error;
        await sleep(Math.random() * LONGEST_PAUSE_MS);
        await this.#takeAgain();
      }
    }
  }

  /** Acquires the lock again that was released by a last commit which the database then rolled back. */
  async #takeAgain(): Promise<void> {
    if (this.#released === undefined) return;
    this.#released = undefined;
    if ((await this.#lock.take())?.id !== this.#at.id) throw this.#overtaken();
  }

  async #writing(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      const isKnown = error instanceof CofferError || !isConnectionLoss(error) || isShortage(error);
      if (isKnown) return this.#explain(error);
      throw unconfirmed(
        placed`the connection to ${this.#address.place} was lost while a change was being written`,
        {
          hint: 'check whether the change was made before you retry',
          cause: error,
        },
      );
    }
  }

  readonly #explain = (error: unknown): never => {
    this.isOutdated ||= isReadOnlySession(error);
    throw databaseError(error, this.#address.place);
  };

  #overtaken(): CofferError {
    return unavailable(placed`another process changed ${this.#address.place}`, {
      hint: 'nothing was changed; retry',
    });
  }
}

/**
 * Statements that commit. Parameters 1 to 3 are the generation, revision and ID of the previous commit, 4 and 5 the new
 * revision and ID. They return one row, or none if the store is not at that commit any more; then they change nothing.
 */
function commitStatements(schema: string) {
  const fence = `fence AS (
    UPDATE ${schema}.store SET revision = $4, commit = $5
    WHERE ready AND generation = $1 AND revision = $2 AND commit = $3 RETURNING revision
  )`;
  const replacing = 'ON CONFLICT (generation, area, name) DO UPDATE SET bytes = excluded.bytes';
  return {
    /** Puts one blob; parameters: area, name, bytes. */
    writeOne: `WITH ${fence}
      INSERT INTO ${schema}.blob (generation, area, name, bytes)
      SELECT $1, $6::text, $7::text, $8::bytea FROM fence ${replacing} RETURNING true`,
    /** Puts and deletes any number of blobs; parameters of `columnsOf`. */
    change: `WITH ${fence}, removed AS (
        DELETE FROM ${schema}.blob b USING unnest($9::text[], $10::text[]) AS r (area, name)
        WHERE b.generation = $1 AND b.area = r.area AND b.name = r.name AND EXISTS (SELECT FROM fence)
      ), written AS (
        INSERT INTO ${schema}.blob (generation, area, name, bytes)
        SELECT $1, w.area, w.name, w.bytes FROM unnest($6::text[], $7::text[], $8::bytea[]) AS w (area, name, bytes)
        WHERE EXISTS (SELECT FROM fence) ${replacing}
      ) SELECT true FROM fence`,
  };
}

/** Returns areas, names and contents of the blobs to put, and areas and names of those to delete. */
const columnsOf = (written: readonly Blob[], removed: readonly Change[]): unknown[] => [
  written.map(({ ref }) => ref.area),
  written.map(({ ref }) => ref.name),
  written.map(({ bytes }) => bytea(bytes)),
  removed.map(({ ref }) => ref.area),
  removed.map(({ ref }) => ref.name),
];
