import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Place, placed, unavailable } from '../../../../src/ground/errors.ts';
import type {
  Area,
  Backend,
  Blob,
  BlobRef,
  Change,
  ExclusiveOptions,
  Flaw,
  InitialContent,
  Mend,
  Version,
  WriteSession,
} from '../../../../src/store/backends/backend.ts';
import type { BackendOptions } from '../../../../src/store/backends/backend-kind.ts';
import { syncDirectory } from '../../../../src/store/backends/files/durable-files.ts';
import { FileLock } from '../../../../src/store/backends/files/file-lock.ts';
import { Witness } from '../../../../src/store/backends/witness.ts';
import { noStore, storeThere } from '../../../../src/store/refusals.ts';

/** The ways in which such a backend may be broken, each with nothing else wrong. */
export const BREAKS = [
  'no transaction',
  'no sync',
  'no sync of the name',
  'no lock between processes',
  'no witness',
  'no raise',
  'no end of waiting',
  'open files',
  'no look for a store that is there',
] as const;
export type Break = (typeof BREAKS)[number];

const TABLES = `
  CREATE TABLE store (header BLOB NOT NULL, generation INTEGER NOT NULL, revision INTEGER NOT NULL, id TEXT NOT NULL);
  CREATE TABLE blob (
    generation INTEGER NOT NULL, area TEXT NOT NULL, name TEXT NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (generation, area, name)
  )`;

/** `PRAGMA synchronous`, from which on each commit is synced: https://www.sqlite.org/pragma.html#pragma_synchronous */
const FULL = 2;
const BUSY_MS = 5000;
const LOCK_WAIT_MS = 30_000;
const ENDLESS_MS = 2 ** 30;

interface Row {
  readonly generation: number;
  readonly revision: number;
  readonly id: string;
}

/**
 * The least that keeps what a backend promises: a store in one SQLite file, with a lock file beside it. It shows that the contract can be
 * met, and, broken in one way at a time, that the contract notices.
 */
export class SqliteBackend implements Backend {
  readonly place: Place;
  readonly headerPlace: Place;
  readonly witness: Witness;
  /** What SQLite said of the connection that committed last: whether it syncs. */
  syncs = false;
  readonly #file: SqliteFile;
  readonly #broken: Break | undefined;
  readonly #lock: FileLock | OwnLock;
  #known: { readonly id: string; readonly state: Version } | undefined;

  constructor(path: string, broken: Break | undefined, { lockWaitMs = LOCK_WAIT_MS }: BackendOptions) {
    this.place = { file: path };
    this.headerPlace = { database: path, part: 'header' };
    this.witness = new Witness(this.place);
    this.#file = new SqliteFile(path, broken);
    this.#broken = broken;
    const waitMs = broken === 'no end of waiting' ? ENDLESS_MS : lockWaitMs;
    this.#lock =
      broken === 'no lock between processes' ? OwnLock.of(path, waitMs) : new FileLock(lockOf(path), waitMs);
  }

  locate(generation: number, { area, name }: BlobRef): Place {
    return { database: this.#file.path, part: `generation ${generation}, ${area}/${name}` };
  }

  async header(): Promise<Uint8Array> {
    return this.#file.use((database) => {
      const { header } = database.prepare('SELECT header FROM store').get() as {
        readonly header: Uint8Array;
      };
      return header;
    });
  }

  async state(): Promise<Version> {
    const { generation, revision, id } = this.#file.use(rowIn);
    if (this.#broken !== 'no witness') this.witness.check({ generation, revision, id });
    if (this.#known?.id !== id) this.#known = { id, state: { generation, revision } };
    return this.#known.state;
  }

  async read(generation: number, { area, name }: BlobRef): Promise<Uint8Array | undefined> {
    return this.#file.use((database) => {
      const find = database.prepare('SELECT bytes FROM blob WHERE generation = ? AND area = ? AND name = ?');
      return (find.get(generation, area, name) as { readonly bytes: Uint8Array } | undefined)?.bytes;
    });
  }

  async has(generation: number, ref: BlobRef): Promise<boolean> {
    return (await this.read(generation, ref)) !== undefined;
  }

  async names(generation: number, area: Area): Promise<string[]> {
    return this.#file.use((database) => {
      const find = database.prepare('SELECT name FROM blob WHERE generation = ? AND area = ?');
      return find.all(generation, area).map((row) => String(row['name']));
    });
  }

  async strays(): Promise<Place[]> {
    return this.#file.use((database) =>
      database
        .prepare('SELECT generation, area, name FROM blob WHERE generation <> (SELECT generation FROM store)')
        .all()
        .map((row) => ({ database: this.#file.path, part: Object.values(row).join('/') })),
    );
  }

  async flaws(): Promise<readonly Flaw[]> {
    return [];
  }

  /** SQLite undoes by itself what a killed process was at. */
  async repair(): Promise<readonly Mend[]> {
    return [];
  }

  async exclusive<T>(
    work: (session: WriteSession) => Promise<T>,
    { waitMs }: ExclusiveOptions = {},
  ): Promise<T> {
    return this.#lock.hold(
      async () => {
        await this.state();
        const session = new SqliteSession(this.#file, this.#broken);
        try {
          return await work(session);
        } finally {
          this.syncs = session.syncs;
          this.witness.saw(session.at);
        }
      },
      this.#broken === 'no end of waiting' ? ENDLESS_MS : waitMs,
    );
  }

  /** Nothing stays open between calls. */
  close(): void {}
}

/** Makes the file under another name, and gives it its own once it is whole. */
export async function createSqlite(
  path: string,
  { header, version, blobs }: InitialContent,
  broken: Break | undefined,
): Promise<void> {
  await new FileLock(lockOf(path), LOCK_WAIT_MS).hold(async () => {
    if (broken !== 'no look for a store that is there' && existsSync(path)) throw storeThere({ file: path });
    const unfinished = new SqliteFile(`${path}.new`, broken);
    unfinished.remove();
    try {
      unfinished.make();
      await unfinished.transact(async (database) => {
        database.exec(TABLES);
        const insert = database.prepare('INSERT INTO store VALUES (?, ?, ?, ?)');
        insert.run(header, version.generation, version.revision, randomUUID());
        for await (const blob of blobs) write(database, version.generation, blob);
      });
      renameSync(unfinished.path, path);
    } finally {
      unfinished.remove();
    }
    if (broken !== 'no sync of the name') await syncDirectory(dirname(path));
  });
}

const lockOf = (path: string): string => `${path}.lock`;

class SqliteSession implements WriteSession {
  readonly #file: SqliteFile;
  readonly #broken: Break | undefined;
  at: Row;
  syncs = false;

  constructor(file: SqliteFile, broken: Break | undefined) {
    this.#file = file;
    this.#broken = broken;
    this.at = file.use(rowIn);
  }

  get version(): Version {
    return { generation: this.at.generation, revision: this.at.revision };
  }

  async commit(changes: readonly Change[]): Promise<Version> {
    if (changes.length === 0) return this.version;
    const { generation, revision } = this.at;
    await this.#put({ generation, revision: revision + 1 }, changes);
    return this.version;
  }

  #put(to: Version, changes: readonly Change[]): Promise<void> {
    return this.#move(to, async (database) => {
      for (const { ref, bytes } of changes) {
        if (bytes !== undefined) write(database, to.generation, { ref, bytes });
        else {
          const remove = 'DELETE FROM blob WHERE generation = ? AND area = ? AND name = ?';
          database.prepare(remove).run(to.generation, ref.area, ref.name);
        }
      }
    });
  }

  async replaceGeneration(blobs: AsyncIterable<Blob>): Promise<Version> {
    const generation = this.at.generation + 1;
    await this.#move({ generation, revision: this.at.revision + 1 }, async (database) => {
      for await (const blob of blobs) write(database, generation, blob);
      database.prepare('DELETE FROM blob WHERE generation <> ?').run(generation);
    });
    return this.version;
  }

  async raise(revision: number, changes: readonly Change[] = []): Promise<void> {
    if (this.#broken !== 'no raise') await this.#put({ ...this.version, revision }, changes);
  }

  async #move(to: Version, work: (database: DatabaseSync) => Promise<void>): Promise<void> {
    const next = { ...to, id: randomUUID() };
    await this.#file.transact(async (database) => {
      await work(database);
      const update = database.prepare('UPDATE store SET generation = ?, revision = ?, id = ?');
      update.run(next.generation, next.revision, next.id);
      this.syncs = Number(database.prepare('PRAGMA synchronous').get()?.['synchronous']) >= FULL;
    });
    this.at = next;
  }
}

const rowIn = (database: DatabaseSync): Row =>
  database.prepare('SELECT generation, revision, id FROM store').get() as unknown as Row;

function write(database: DatabaseSync, generation: number, { ref, bytes }: Blob): void {
  database
    .prepare('INSERT OR REPLACE INTO blob VALUES (?, ?, ?, ?)')
    .run(generation, ref.area, ref.name, bytes);
}

/** Opened for each use, so that a file that was exchanged is not taken for the one before. */
class SqliteFile {
  readonly path: string;
  readonly #broken: Break | undefined;

  constructor(path: string, broken: Break | undefined) {
    this.path = path;
    this.#broken = broken;
  }

  /** Makes it, empty, before SQLite does, which would let others read it. */
  make(): void {
    closeSync(openSync(this.path, 'wx', 0o600));
    if (this.#broken === 'open files') chmodSync(this.path, 0o644);
  }

  /** With what a killed process has left to be undone in it. */
  remove(): void {
    for (const path of [this.path, `${this.path}-journal`]) rmSync(path, { force: true });
  }

  use<T>(look: (database: DatabaseSync) => T): T {
    const database = this.#open();
    try {
      return look(database);
    } finally {
      database.close();
    }
  }

  async transact(work: (database: DatabaseSync) => Promise<void>): Promise<void> {
    const database = this.#open();
    const hasTransaction = this.#broken !== 'no transaction';
    try {
      if (hasTransaction) database.exec('BEGIN IMMEDIATE');
      await work(database);
      if (hasTransaction) database.exec('COMMIT');
    } finally {
      // Closing undoes what is not committed.
      database.close();
    }
  }

  #open(): DatabaseSync {
    if (!existsSync(this.path)) throw noStore({ file: this.path }, 'make one');
    const { DatabaseSync: Database } = process.getBuiltinModule('node:sqlite');
    const database = new Database(this.path, { timeout: BUSY_MS });
    database.exec(`PRAGMA synchronous = ${this.#broken === 'no sync' ? 'OFF' : 'FULL'}`);
    return database;
  }
}

/** A lock that other processes do not see, as a broken backend may have it. */
class OwnLock {
  static readonly #all = new Map<string, OwnLock>();
  readonly #waitMs: number;
  #isHeld = false;

  private constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  static of(path: string, waitMs: number): OwnLock {
    const lock = OwnLock.#all.get(path) ?? new OwnLock(waitMs);
    OwnLock.#all.set(path, lock);
    return lock;
  }

  async hold<T>(work: () => Promise<T>, waitMs = this.#waitMs): Promise<T> {
    for (let waited = 0; this.#isHeld; waited++) {
      if (waited > waitMs) throw unavailable(placed`the lock is held`);
      await sleep(1);
    }
    this.#isHeld = true;
    try {
      return await work();
    } finally {
      this.#isHeld = false;
    }
  }
}
