/** Sealed store: documents, their index and their cache, over blobs that are unreadable without a key. */

import { pause } from '../../ground/pause.ts';
import type { Backend, Change, Version, WriteSession } from '../backends/backend.ts';
import { besideOrBetween, outcomeOf } from '../backends/whole-store.ts';
import { type Sighting, WentBack } from '../backends/witness.ts';
import { DraftTransaction } from '../draft.ts';
import { lockedStore, STORE_CLOSED } from '../refusals.ts';
import type { Keyring } from '../slots/slot-list.ts';
import type { DocumentRef, Store, Transaction, TransactOptions, View } from '../store.ts';
import { BlobReader, type ReaderScope } from './blob-reader.ts';
import { DocumentCache } from './document-cache.ts';
import { DocumentView, identityOf, TurnChanges } from './turn-changes.ts';
import { type TurnSession, Turns } from './turns.ts';

/**
 * Number of attempts to read without the write lock before writers have to wait.
 * @see docs/decisions/0120
 */
const ATTEMPTS = 50;
/** Longest pause between attempts, in milliseconds; pauses grow up to it. */
const LONGEST_PAUSE_MS = 10;
/** Number of attempts to read while this process itself commits, before the read is compared with its repetition. */
const OVERTAKEN = 3;
/** Longest wait, in milliseconds, for the end of a commit of this process that others may see already. */
const LONGEST_WAIT_FOR_OWN_MS = 50;
const DEFAULT_CACHE_BYTES = 32 * 1024 * 1024;

export interface SealedStoreOptions {
  /** Maximum size of the document cache, measured by sealed size, in bytes. Default: 32 MiB. */
  readonly cacheBytes?: number | undefined;
}

/** Unlocked store over any backend. */
export class SealedStore implements Store {
  readonly id: string;
  /** Backend, for the store's own administration: it works on the same bytes with the same keys. */
  readonly backend: Backend;
  readonly keyring: Keyring;
  readonly #cache: DocumentCache;
  readonly #turns = new Turns((work) => this.#exclusive((session) => work(this.#turnIn(session))));
  #closed = false;
  /** State that `revision` saw last, valid only for calls that waited for it. */
  #seen: Version | undefined;
  /** Commit in progress; resolved when the cache knows of it, or it has failed. */
  #writing: Promise<void> | undefined;
  /** Rollback that was examined and found not to be accepted by the owner. */
  #examined: WentBack | undefined;
  /** View of a state that has only shown data that the cache knew for certain, so further readers can share it. */
  #known: { readonly state: Version; readonly reader: BlobReader; readonly view: View } | undefined;

  constructor(backend: Backend, keyring: Keyring, options: SealedStoreOptions = {}) {
    this.id = keyring.storeId;
    this.backend = backend;
    this.keyring = keyring;
    this.#cache = new DocumentCache(options.cacheBytes ?? DEFAULT_CACHE_BYTES);
  }

  limitCache(collection: string, documents: number): void {
    this.#known = undefined;
    this.#cache.limit(collection, documents);
  }

  known<T>(ref: DocumentRef): T | undefined {
    const reader = this.#knownNow?.reader;
    return reader?.isSpotless ? (reader.known(identityOf(ref)) as T | undefined) : undefined;
  }

  async read<T>(read: (view: View) => T | Promise<T>): Promise<T> {
    const known = this.#knownNow;
    if (known !== undefined) {
      let outcome: () => T;
      try {
        const result = await read(known.view);
        if (known.reader.isSpotless) return result;
        outcome = () => result;
      } catch (error) {
        if (known.reader.isSpotless) throw error;
        outcome = () => {
          throw error;
        };
      }
      this.#known = undefined;
      // Its cached documents are treated like those of any reader: if they were discarded, a search over thousands
      // would reopen them every time.
      if (await this.#counts(known.reader)) return outcome();
    }
    this.refuseClosed();
    const state = this.#seen ?? (await this.#state());
    let reader: BlobReader | undefined = await this.#reader(state, 'settled');
    for (let attempt = 1; reader !== undefined && attempt <= OVERTAKEN; attempt++) {
      const view: View = new DocumentView(reader);
      const outcome = await outcomeOf(() => read(view));
      if (attempt === 1 && reader.isSpotless) this.#known = { state, reader, view };
      if (await this.#counts(reader)) return outcome();
      reader = reader.caughtUp();
    }
    return this.#following(() =>
      besideOrBetween(
        this.backend,
        () => this.#readBeside(read),
        async (version) => {
          this.refuseClosed();
          return read(new DocumentView(await this.#reader(version, 'locked')));
        },
      ),
    );
  }

  /**
   * Reads while other processes keep committing. The data need not be of one version from the start: if all of it is
   * read again and is unchanged, it existed together at the moment in between. Writers only have to be quiet at that
   * moment, and only about the data that is read here.
   * @returns undefined if every attempt was disturbed
   */
  async #readBeside<T>(read: (view: View) => T | Promise<T>): Promise<(() => T) | undefined> {
    let at = await this.backend.state();
    let reader = await this.#reader(at, 'compared');
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      this.refuseClosed();
      const outcome = await outcomeOf(() => read(new DocumentView(reader)));
      at = await this.backend.state();
      if (at.generation !== reader.version.generation) {
        reader = await this.#reader(at, 'compared');
        continue;
      }
      if (await reader.isStillSo()) {
        this.#cache.moveTo(at, false);
        reader.confirmation().keep(at);
        return outcome;
      }
      await pause(Math.random() * Math.min(attempt, LONGEST_PAUSE_MS));
    }
    return undefined;
  }

  async transact<T>(change: (tx: Transaction) => T | Promise<T>, options?: TransactOptions): Promise<T> {
    this.refuseClosed();
    return this.#turns.transact(change, options);
  }

  /**
   * Continues from the state last seen by another process, or by this one before.
   * @throws WentBack if the store is older
   */
  async expect(seen: Sighting): Promise<void> {
    this.backend.witness.expect(seen);
    await this.#state();
  }

  /**
   * Accepts the current state, even if a newer one was seen: the revision continues above all seen ones, and processes
   * that refuse this state accept it then.
   * @param above at least as high as any seen revision, as far as known
   * @see docs/decisions/0110
   */
  async accept(above: number): Promise<{ readonly from: Version; readonly to: Version }> {
    const { markAccepted } = await import('./acceptance.ts');
    return this.#exclusive(async (session) => {
      const from = session.version;
      const revision = Math.max(above, from.revision, Date.now()) + 1;
      const changes = await this.#turnIn(session).begin();
      const draft = new DraftTransaction(changes);
      markAccepted(draft, revision);
      await changes.take(draft);
      // One commit: whoever sees the higher revision finds that it was accepted.
      await this.#commit(session, changes, async (sealed) => {
        await session.raise(revision, sealed);
        return session.version;
      });
      return { from, to: session.version };
    });
  }

  #turnIn(session: WriteSession): TurnSession {
    return {
      begin: async () => {
        this.refuseClosed();
        return new TurnChanges(await this.#reader(session.version, 'locked'));
      },
      commit: (changes, isLast) =>
        this.#commit(session, changes, (sealed) =>
          session.commit(sealed, { isLast, forgetsReplaced: changes.forgetsReplaced }),
        ),
    };
  }

  async #commit(
    session: WriteSession,
    turn: TurnChanges,
    write: (changes: readonly Change[]) => Promise<Version>,
  ): Promise<void> {
    const from = session.version;
    const sealed = await turn.seal(await this.keyring.root(this.backend, from.generation));
    if (sealed.changes.length > 0) {
      const { promise: written, resolve: end } = Promise.withResolvers<void>();
      this.#writing = written;
      try {
        const [to, blobs] = await Promise.all([write(sealed.changes), sealed.blobs()]);
        this.#cache.advance(from, to, blobs);
      } finally {
        this.#writing = undefined;
        end();
      }
    }
    this.#seen = undefined;
  }

  async revision(): Promise<string> {
    this.refuseClosed();
    const state = await this.#state();
    this.#remember(state);
    return printVersion(state);
  }

  /** State that `revision` saw last, as long as no new request can have arrived since; undefined later. */
  get seenJustNow(): Version | undefined {
    return this.#seen;
  }

  close(): void {
    this.#closed = true;
    this.#known = undefined;
    this.#cache.clear();
    this.keyring.destroy();
    this.backend.close();
  }

  /**
   * Throws if the store is closed.
   * @throws `sealed`
   */
  refuseClosed(): void {
    if (this.#closed) throw lockedStore({ hint: STORE_CLOSED });
  }

  /** The view of what is known, if nothing can have changed since the last look. */
  get #knownNow() {
    const known = this.#known;
    return known?.state === this.#seen && !this.#closed ? known : undefined;
  }

  /**
   * Remembers a state, which saves a look for reads that follow a `revision` call at once (a server looks once per
   * request): their request began before the state was seen, so it is fresh enough. It is forgotten before any new
   * request can arrive: a look over a network may be older than such a request.
   * @see docs/decisions/0063
   */
  #remember(state: Version): void {
    if (this.#seen === undefined) {
      process.nextTick(() => {
        this.#seen = undefined;
      });
    }
    this.#seen = state;
  }

  async #state(): Promise<Version> {
    let state: Version;
    try {
      state = await this.backend.state();
    } catch (error) {
      state = await this.#afterRollback(error, () => this.backend.state());
    }
    // It may be the version that this process is committing. Otherwise the cache would take it for one of another
    // process, and count everything as stale.
    if (this.#writing !== undefined && !this.#cache.follows(state)) {
      await Promise.race([this.#writing, pause(LONGEST_WAIT_FOR_OWN_MS)]);
    }
    return state;
  }

  #exclusive<T>(work: (session: WriteSession) => Promise<T>): Promise<T> {
    return this.#following(() => this.backend.exclusive(work));
  }

  #following<T>(look: () => Promise<T>): Promise<T> {
    return look().catch((error: unknown) => this.#afterRollback(error, look));
  }

  /**
   * Looks at the store again; if it was rolled back to a state that the owner has accepted, continues from there with
   * an empty cache.
   * @throws the error of the look before, if it is another one or the state was not accepted
   */
  async #afterRollback<T>(error: unknown, look: () => Promise<T>): Promise<T> {
    if (!(error instanceof WentBack) || error === this.#examined) throw error;
    const { acceptedRoot } = await import('./acceptance.ts');
    const root = await acceptedRoot(this.backend, this.keyring, error);
    if (root === undefined) {
      this.#examined = error;
      throw error;
    }
    this.keyring.replaceRoot(root);
    this.#known = undefined;
    this.#seen = undefined;
    this.#cache.clear();
    this.backend.witness.takeUp(error);
    return look();
  }

  async #reader(version: Version, trust: ReaderScope['trust']): Promise<BlobReader> {
    const { backend } = this;
    const root = await this.keyring.root(backend, version.generation);
    if (trust !== 'compared') this.#cache.moveTo(version, trust === 'locked');
    return new BlobReader({ backend, root, cache: this.#cache, version, trust });
  }

  /** Whether everything read through a reader belongs to its version. */
  async #counts(reader: BlobReader): Promise<boolean> {
    if (reader.versionGone) return false;
    if (!reader.needsConfirmation) return true;
    // Several callers may share a reader: data that another one reads after this look is not covered by it.
    const confirmation = reader.confirmation();
    const now = await this.#state();
    if (!confirmation.isSameUntil(now)) return false;
    confirmation.keep(now);
    return true;
  }
}

const printVersion = ({ generation, revision }: Version): string => `${generation}-${revision}`;
