import type { Blob, Change, CommitOptions, Version, WriteSession } from '../backend.ts';
import { syncDirectory } from './durable-files.ts';
import { deleteGeneration, deleteNeighbours, writeGeneration } from './generation-files.ts';
import { append, unconfirmedAfter } from './log/append.ts';
import { syncInAttempts } from './log/next-file.ts';
import type { StoreDirectory } from './store-directory.ts';

/** Attempts to sync the state after a rekey. */
const ATTEMPTS = 3;

/** Write session: each change is a record of the log. */
export class FilesSession implements WriteSession {
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
    await append(this.#directory, { from, to, kind: 'raise', changes, made: 'the state is accepted' });
    this.version = to;
  }

  /** Gives a store of an older release its log. */
  async #beginLog(): Promise<void> {
    if (this.#directory.state.known?.kind === 'log') return;
    const { upgrade } = await import('./format-1/upgrade.ts');
    await upgrade(this.#directory, this.version);
  }
}
