import { asCofferError, type Place, placed, unavailable } from '../../../ground/errors.ts';
import {
  type Area,
  type Blob,
  type BlobRef,
  type Change,
  type ChooseGeneration,
  type CommitOptions,
  type ExclusiveOptions,
  type Flaw,
  LOCK_WAIT_MS,
  type Mend,
  type OpensBlobs,
  type Version,
  type WriteSession,
} from '../backend.ts';
import type { BackendOptions } from '../backend-kind.ts';
import { versionOf } from '../witness.ts';
import { isThere, readBlobFile, readWhole, syncDirectory } from './durable-files.ts';
import { FileLock } from './file-lock.ts';
import { deleteGeneration, deleteNeighbours, writeGeneration } from './generation-files.ts';
import { isIntact } from './header-format.ts';
import { append, unconfirmedAfter } from './log/append.ts';
import { Damage, firstLook } from './log/first-look.ts';
import { Log, type StoreDirectory } from './log/log.ts';
import { syncInAttempts } from './log/next-file.ts';
import { Room } from './log/room.ts';
import type { OpenedFiles } from './opened-files.ts';
import { findStrays, prepareStore } from './prepare.ts';
import type { StateName } from './state-directory.ts';

/** Most attempts to read a state; each failed attempt means that another process has completed a commit. */
const LOOKS = 1000;

/** What reads and writes the log of a store, whatever state it is in. */
export class LoggedFiles {
  readonly #opened: OpenedFiles;
  readonly #directory: StoreDirectory;
  readonly #lock: FileLock;
  readonly #room: Room;
  readonly #damage: Damage;
  /** State that was read last, and the version that it stands for. */
  #shown: { readonly name: StateName; readonly version: Version } | undefined;
  /** First look at the log that is in progress. */
  #looking: Promise<Version | undefined> | undefined;
  /** Whether the log was read once. */
  #isRead = false;
  /** State that the last session of this process left. */
  #left: StateName | undefined;

  /** @param history of the store that was shown before */
  constructor(opened: OpenedFiles, options: BackendOptions, history: string | undefined) {
    const { layout, state } = opened;
    this.#opened = opened;
    this.#directory = { layout, state, log: new Log(layout) };
    this.#directory.log.history = history;
    this.#damage = new Damage(this.#directory);
    const lockWaitMs = options.lockWaitMs ?? LOCK_WAIT_MS;
    this.#lock = new FileLock(layout.lock, lockWaitMs);
    this.#room = new Room(this.#directory, lockWaitMs);
  }

  async state(): Promise<Version> {
    this.#directory.log.storeId = this.#opened.storeId;
    for (let look = 0; look < LOOKS; look++) {
      const name = this.#opened.readName();
      if (this.#shown?.name !== name || this.#damage.isThere) {
        const version = await this.#versionAt(name);
        // It was changed meanwhile, perhaps by a session of this process.
        if (version === undefined || this.#directory.state.known !== name) continue;
        this.#shown = { name, version };
        this.#isRead = true;
      }
      const { version } = this.#shown;
      this.#opened.show(version);
      return version;
    }
    throw unavailable(placed`cannot read ${this.#opened.place}: other processes keep writing to it`, {
      hint: 'try again',
    });
  }

  /**
   * Reads the log up to the state, and returns the version to show.
   * @returns undefined if the state has changed meanwhile
   */
  async #versionAt(name: StateName): Promise<Version | undefined> {
    const damage = this.#damage;
    const rescued = damage.shownAt(name);
    if (rescued !== undefined) return rescued;
    try {
      const version = await this.#wholeVersionAt(name);
      if (version !== undefined) damage.forget();
      return version;
    } catch (error) {
      if (asCofferError(error)?.kind !== 'corrupt' || name.kind !== 'log') throw error;
      return damage.rescue(name, error);
    }
  }

  async #wholeVersionAt(name: StateName): Promise<Version | undefined> {
    const { state, log } = this.#directory;
    this.#forgetOther();
    if (name.kind !== 'log') return this.#versionOfFormat1(name);
    if (!log.isKnown) return this.#lookFirst();
    const proven = log.proven?.version;
    if (proven !== undefined && name.revision < proven.revision) return proven;
    if (log.at === name) return versionOf(name);
    if (!log.follow(name.revision)) return undefined;
    const problem = log.contradiction(name);
    if (problem !== undefined) {
      if (state.read() !== name) return undefined;
      throw problem;
    }
    log.at = name;
    // Whoever is reading what was shown of a damaged log finds the same in the whole one.
    log.rescued = undefined;
    return versionOf(name);
  }

  /** Looks at the log for the first time, once for all who ask meanwhile. */
  #lookFirst(): Promise<Version | undefined> {
    this.#looking ??= firstLook(this.#directory, this.#lock, (future) =>
      this.#opened.examine(future),
    ).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /**
   * Forgets the log if the store was replaced by another copy, or by an older one: its files may have the same names,
   * and other records.
   */
  #forgetOther(): void {
    const { state, log } = this.#directory;
    const isOlder = state.known !== undefined && log.isAfter(state.known);
    if (log.history === state.history && !isOlder) return;
    if (log.history !== undefined) this.#opened.refuseOtherStore();
    log.history = state.history;
    this.#left = undefined;
    log.forget();
  }

  /** Reads a store of format 1, after finishing or awaiting a commit. */
  async #versionOfFormat1(name: StateName): Promise<Version | undefined> {
    this.#directory.log.forget();
    const { hiddenLog } = await import('./format-1/hidden-log.ts');
    const hidden = hiddenLog(this.#directory, name);
    if (hidden !== undefined) {
      if (this.#directory.state.read() !== name) return undefined;
      throw hidden;
    }
    if (name.kind === 'clean') return versionOf(name);
    const { awaitOld } = await import('./format-1/upgrade.ts');
    await awaitOld(this.#directory, this.#lock, name, (future) => this.#opened.examine(future));
    return undefined;
  }

  async read(generation: number, ref: BlobRef): Promise<Uint8Array | undefined> {
    if (!this.#isRead) await this.state();
    const { layout, log } = this.#directory;
    const found = log.find(generation, ref);
    if (found === undefined) return readBlobFile(layout.blob(generation, ref));
    // A copy, because callers may change what they get.
    return found.bytes && Buffer.from(found.bytes);
  }

  async has(generation: number, ref: BlobRef): Promise<boolean> {
    if (!this.#isRead) await this.state();
    const { layout, log } = this.#directory;
    return log.has(generation, ref) ?? isThere(layout.blob(generation, ref));
  }

  async names(generation: number, area: Area, isPartial = false): Promise<string[]> {
    if (!this.#isRead) await this.state();
    const { log } = this.#directory;
    const unlisted = isPartial ? undefined : log.unlisted(generation, area);
    if (unlisted !== undefined) throw unlisted;
    return this.#opened.names(generation, area, log);
  }

  async strays(): Promise<Place[]> {
    return findStrays(this.#directory).map((file) => ({ file }));
  }

  async flaws(): Promise<readonly Flaw[]> {
    const { flawsOf } = await import('./repair-files.ts');
    return flawsOf(this.#directory);
  }

  async repair(choose: ChooseGeneration, opens: OpensBlobs = nothingOpens): Promise<readonly Mend[]> {
    const { repairFiles } = await import('./repair-files.ts');
    this.#isRead = true;
    this.#shown = undefined;
    this.#damage.forget();
    this.#left = undefined;
    const mended = await repairFiles(this.#directory, this.#lock, { choose, opens });
    const header = readWhole(this.#directory.layout.header);
    // Acquiring the write lock finishes commits. Without the header nobody knows whose log this is.
    if (header !== undefined && isIntact(header))
      await this.exclusive(async () => undefined, { isReading: true });
    return mended;
  }

  async exclusive<T>(
    work: (session: WriteSession) => Promise<T>,
    { waitMs, isReading = false }: ExclusiveOptions = {},
  ): Promise<T> {
    if (isReading) return this.#lock.hold(async () => this.#session(work, await this.#prepare()), waitMs);
    return this.#room.whenThereIs(waitMs, (mostMs, start) =>
      this.#lock.hold(
        async () => {
          const version = await this.#prepare();
          return this.#room.isNeeded(version) ? undefined : { value: await this.#session(work, version) };
        },
        mostMs,
        start,
      ),
    );
  }

  /** Runs a session under the write lock. */
  async #session<T>(work: (session: WriteSession) => Promise<T>, version: Version): Promise<T> {
    const session = new FilesSession(this.#directory, version, (at) => this.#room.forOneMore(at));
    try {
      return await work(session);
    } finally {
      this.#left = this.#directory.state.known;
      this.#room.afterSession(session.removed);
    }
  }

  close(): void {
    this.#lock.close();
    this.#room.close();
  }

  /** Brings the store to a settled state, whatever the last session left behind. */
  async #prepare(): Promise<Version> {
    const { state, log } = this.#directory;
    log.storeId = this.#opened.storeId;
    const left = this.#left;
    if (left !== undefined && state.known === left && state.isUnchanged() && log.isUnchanged()) {
      this.#opened.admit(left);
      return versionOf(left);
    }
    this.#left = undefined;
    this.#damage.refuse();
    const version = await prepareStore(this.#directory, this.#opened, () => this.#forgetOther());
    this.#damage.forget();
    this.#shown = undefined;
    this.#left = state.known;
    this.#isRead = true;
    return version;
  }
}

const nothingOpens = async (): Promise<undefined> => undefined;

/** Attempts to sync the state after a rekey. */
const ATTEMPTS = 3;

/** Write session: each change is a record of the log. */
class FilesSession implements WriteSession {
  readonly #directory: StoreDirectory;
  readonly #room: (version: Version) => Promise<void>;
  version: Version;
  #records = 0;
  /** Whether something was removed that must not stay in the log: (a part of) a document, a slot, an old root key. */
  removed = false;

  /** @param room waits until the log has room for another record; it had room for one when the session began */
  constructor(directory: StoreDirectory, version: Version, room: (version: Version) => Promise<void>) {
    this.#directory = directory;
    this.version = version;
    this.#room = room;
  }

  async commit(
    changes: readonly Change[],
    { forgetsReplaced = false }: CommitOptions = {},
  ): Promise<Version> {
    const { generation, revision } = this.version;
    if (changes.length > 0) {
      const to: Version = { generation, revision: revision + 1 };
      await this.#beginLog();
      if (this.#records++ > 0) await this.#room(this.version);
      await append(this.#directory, {
        from: this.version,
        to,
        kind: 'commit',
        changes,
        made: 'the change was made',
      });
      this.version = to;
      this.removed ||=
        forgetsReplaced || changes.some(({ ref, bytes }) => ref.area === 'slots' || bytes === undefined);
    }
    return this.version;
  }

  async replaceGeneration(blobs: AsyncIterable<Blob>): Promise<Version> {
    const { layout, state } = this.#directory;
    const from = this.version;
    const to: Version = { generation: from.generation + 1, revision: from.revision + 1 };
    const made = 'the store was re-encrypted with a new root key';
    await this.#beginLog();
    // An attempt that failed may have left what it had written.
    await deleteNeighbours(layout, state.path, from.generation);
    await writeGeneration(layout, to.generation, blobs);
    await append(this.#directory, { from, to, kind: 'rekey', changes: [], made });
    this.version = to;
    this.removed = true;
    try {
      // Until its name is on disk, a power failure may bring the old generation back.
      await syncInAttempts(state.path, ATTEMPTS);
      await deleteGeneration(layout, from.generation);
      await syncDirectory(layout.directory);
    } catch (error) {
      throw unconfirmedAfter(made, error);
    }
    return to;
  }

  async raise(revision: number, changes: readonly Change[] = []): Promise<void> {
    const from = this.version;
    const to: Version = { generation: from.generation, revision };
    await this.#beginLog();
    this.#records++;
    await append(this.#directory, { from, to, kind: 'raise', changes, made: 'the state was accepted' });
    this.version = to;
  }

  /** Gives a store of an older release its log. */
  async #beginLog(): Promise<void> {
    if (this.#directory.state.known?.kind === 'log') return;
    const { upgrade } = await import('./format-1/upgrade.ts');
    await upgrade(this.#directory, this.version);
  }
}
