import { corrupt, type DatabasePlace, type Place, placed, unavailable } from '../../../ground/errors.ts';
import { turn } from '../../../ground/pause.ts';
import { noStore } from '../../refusals.ts';
import {
  type Area,
  type Backend,
  type BlobRef,
  type ExclusiveOptions,
  type Flaw,
  LOCK_WAIT_MS,
  type Mend,
  type Version,
  type WriteSession,
} from '../backend.ts';
import type { BackendOptions } from '../backend-kind.ts';
import { Witness } from '../witness.ts';
import type { PostgresAddress } from './address.ts';
import { MARGIN_MS, PATIENCE, type PostgresClient, Sessions } from './connection.ts';
import { Connections, type LentConnection } from './connections.ts';
import { checkSchema, isBlobName, printRef } from './schema.ts';
import { PostgresSession, REKEY_MS } from './session.ts';
import { COMMIT_COLUMNS, type Commit, commitOf, StoreLock } from './store-lock.ts';

const READING_CONNECTIONS = 4;
const READ_MS = 10_000;
const READ_LOCK_MS = 3000;
const WRITE_MS = 30_000;

/** Response timeout for releasing the lock after a failure, in milliseconds: the failure has taken its time already. */
const FAREWELL_MS = 1000;

/** Store in PostgreSQL, shared by any number of hosts. Tables: docs/format.md; operation: docs/operations.md. */
export class PostgresBackend implements Backend {
  readonly place: DatabasePlace;
  readonly headerPlace: Place;
  readonly witness: Witness;
  readonly #address: PostgresAddress;
  readonly #lockWaitMs: number;
  readonly #reading: Connections;
  /** Pool of one connection: writers of this process queue here instead of in the database. */
  readonly #writing: Connections;
  readonly #looks = new SharedLook(() => this.#look());
  #known: { readonly commit: Commit; readonly state: Version } | undefined;

  /** Creates a backend that connects on first use. */
  constructor(address: PostgresAddress, options: BackendOptions = {}) {
    this.#address = address;
    this.place = address.place;
    this.headerPlace = { ...this.place, part: 'header' };
    this.witness = new Witness(this.place);
    this.#lockWaitMs = options.lockWaitMs ?? LOCK_WAIT_MS;
    // If one connection has timed out silently, others may have, too.
    const onSilence = (): void => {
      this.#reading.renew();
      this.#writing.renew();
    };
    const reading = {
      connections: READING_CONNECTIONS,
      waitMs: address.connectTimeoutMs,
      statementMs: READ_MS,
      answerMs: READ_MS + MARGIN_MS,
      lockMs: () => READ_LOCK_MS,
    };
    const writing = {
      connections: 1,
      waitMs: Math.max(address.connectTimeoutMs, this.#lockWaitMs),
      statementMs: WRITE_MS,
      answerMs: REKEY_MS + MARGIN_MS,
      lockMs: () => Math.min(PATIENCE.lockTurnMs, this.#lockWaitMs),
    };
    const sessions = new Sessions();
    this.#reading = new Connections(address, reading, sessions, onSilence);
    this.#writing = new Connections(address, writing, sessions, onSilence);
  }

  locate(generation: number, ref: BlobRef): Place {
    return { ...this.place, part: `generation ${generation}, ${printRef(ref)}` };
  }

  async header(): Promise<Uint8Array> {
    return this.#reading.reading(async (client) => {
      await checkSchema(client, this.#address);
      const { rows } = await client.query<{ readonly header: Buffer; readonly ready: boolean }>(
        `SELECT header, ready FROM ${this.#address.schema}.store`,
      );
      const [row] = rows;
      if (row?.ready === true) return row.header;
      const hint =
        row === undefined
          ? 'run "coffer init" to create one'
          : 'it is incomplete: repeat the command that was interrupted (init, copy or restore)';
      throw noStore(this.place, hint);
    });
  }

  state(): Promise<Version> {
    return this.#looks.ask();
  }

  async read(generation: number, ref: BlobRef): Promise<Uint8Array | undefined> {
    return (await this.#row('read', 'bytes', generation, ref))?.bytes;
  }

  async has(generation: number, ref: BlobRef): Promise<boolean> {
    return (await this.#row('has', '', generation, ref)) !== undefined;
  }

  /** @param query its name, by which the database keeps it prepared */
  async #row(query: string, columns: string, generation: number, { area, name }: BlobRef) {
    const { rows } = await this.#reading.reading((client) =>
      client.query<{ readonly bytes: Buffer }>({
        name: query,
        text: `SELECT ${columns} FROM ${this.#address.schema}.blob WHERE generation = $1 AND area = $2 AND name = $3`,
        values: [generation, area, name],
      }),
    );
    return rows[0];
  }

  async names(generation: number, area: Area): Promise<string[]> {
    const { rows } = await this.#reading.reading((client) =>
      client.query<{ readonly name: string }>(
        `SELECT name FROM ${this.#address.schema}.blob WHERE generation = $1 AND area = $2`,
        [generation, area],
      ),
    );
    return rows.map(({ name }) => name).filter(isBlobName);
  }

  async strays(): Promise<Place[]> {
    const { generation } = await this.state();
    // Read all rows before yielding the first.
    const { rows } = await this.#reading.reading(
      (client) =>
        client.query<{ readonly generation: string; readonly area: string; readonly name: string }>(
          `SELECT generation::text, area, name FROM ${this.#address.schema}.blob
           WHERE generation <> $1 OR area NOT IN ('slots', 'documents') OR name !~ '^[0-9a-f]{1,64}$'`,
          [generation],
        ),
      READ_MS + MARGIN_MS,
    );
    return rows.map(({ generation: other, area, name }) => ({
      ...this.place,
      part: `generation ${other}, ${area}/${name}`,
    }));
  }

  async flaws(): Promise<readonly Flaw[]> {
    return [];
  }

  /** Repairs nothing: the database maintains its own storage. */
  async repair(): Promise<readonly Mend[]> {
    return [];
  }

  async exclusive<T>(
    work: (session: WriteSession) => Promise<T>,
    { waitMs = this.#lockWaitMs }: ExclusiveOptions = {},
  ): Promise<T> {
    const { lent, session } = await this.#begin(Math.min(waitMs, this.#lockWaitMs));
    const outcome = await Promise.allSettled([work(session)]);
    this.witness.saw(session.at);
    const released = session.release(outcome[0].status === 'rejected' ? FAREWELL_MS : PATIENCE.answerMs);
    // A commit has proved that nobody else had the lock; otherwise the proof is that the lock was still held on
    // release. Statements of the next session are sent after the release anyway.
    if (outcome[0].status === 'fulfilled' && session.hasProof) {
      lent.giveBack(false);
      return outcome[0].value;
    }
    const held = await released;
    lent.giveBack(!held || session.isOutdated);
    if (outcome[0].status === 'rejected') throw outcome[0].reason;
    if (held) return outcome[0].value;
    throw unavailable(placed`the connection to ${this.place} was lost`, {
      hint: 'nothing was changed; retry',
    });
  }

  close(): void {
    this.#reading.close();
    this.#writing.close();
  }

  async #begin(
    waitMs: number,
  ): Promise<{ readonly lent: LentConnection; readonly session: PostgresSession }> {
    const since = this.witness.seen;
    let session: PostgresSession | undefined;
    const lent = await this.#writing.lend(async (client) => {
      const limits = { waitMs, silenceMs: PATIENCE.holderSilenceMs };
      const lock = new StoreLock(client, this.#address, limits);
      const at = await lock.take();
      session = at === undefined ? undefined : new PostgresSession(client, this.#address, lock, at);
    });
    try {
      if (session === undefined) throw noStore(this.place, 'run "coffer init" to create one');
      this.witness.check(session.at, since);
      return { lent, session };
    } catch (error) {
      lent.giveBack(true);
      throw error;
    }
  }

  async #look(): Promise<Version> {
    // Our own commit may be recorded before the response to an earlier look arrives.
    const since = this.witness.seen;
    const commit = await this.#reading.watching((client) => this.#presentCommit(client));
    this.witness.check(commit, since);
    if (this.#known?.commit.id !== commit.id) {
      const { generation, revision } = commit;
      this.#known = { commit, state: { generation, revision } };
    }
    return this.#known.state;
  }

  async #presentCommit(client: PostgresClient): Promise<Commit> {
    const { rows } = await client.query({
      name: 'state',
      text: `SELECT ${COMMIT_COLUMNS} FROM ${this.#address.schema}.store WHERE ready`,
    });
    const [row] = rows;
    if (row === undefined)
      throw corrupt(placed`the store in ${this.place} no longer exists`, { hint: 'restore a backup' });
    return commitOf(row);
  }
}

/** Number of event loop turns between two looks, to gather callers. Without callers they take microseconds. */
const GATHERING_TURNS = 8;

/**
 * Look at a remote state, shared by callers that ask at about the same time. A look counts only for callers that asked
 * before it was sent: later callers may know of changes that it misses. One look is in progress at a time; all callers
 * that arrive meanwhile share the next one. It is sent only after the callers of the last one have had their turn and
 * others have had time to arrive: so there are few looks under load, and no wait without load.
 * @see docs/decisions/0091
 */
export class SharedLook<T> {
  readonly #look: () => Promise<T>;
  #underWay: Promise<unknown> = Promise.resolve();
  /** Next look, not sent yet. */
  #next: Promise<T> | undefined;

  constructor(look: () => Promise<T>) {
    this.#look = look;
  }

  ask(): Promise<T> {
    this.#next ??= this.#after(this.#underWay);
    return this.#next;
  }

  #after(before: Promise<unknown>): Promise<T> {
    const send = (): Promise<T> => {
      this.#next = undefined;
      return this.#look();
    };
    const sent = before.then(send);
    this.#underWay = sent.catch(() => undefined).then(gather);
    return sent;
  }
}

async function gather(): Promise<void> {
  for (let turns = 0; turns < GATHERING_TURNS; turns++) await turn();
}
