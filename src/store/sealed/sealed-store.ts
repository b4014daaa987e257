/** The sealed store itself: documents, their index and their cache, over blobs that nobody reads without a key. */
import { sealed } from '../../ground/errors.ts';
import { pause } from '../../ground/pause.ts';
import type { Backend, State, Version, WriteSession } from '../backends/backend.ts';
import { besideOrBetween, steady } from '../backends/whole-store.ts';
import { type Sighting, WentBack } from '../backends/witness.ts';
import type { Store, Transaction, View } from '../store.ts';
import { BlobReader, type ReaderScope } from './blob-reader.ts';
import { DocumentCache } from './document-cache.ts';
import { DocumentTransaction, DocumentView } from './documents.ts';
import type { Keyring } from './keyring.ts';

/** How often a reader tries beside the writers before it makes them wait. @see docs/decisions/0120 */
const ATTEMPTS = 50;
/** Between two of these, growing. */
const LONGEST_PAUSE_MS = 10;
const DEFAULT_CACHE_BYTES = 32 * 1024 * 1024;

export interface SealedStoreOptions {
  /** Bound of the opened documents that are kept, by their sealed size; 32 MiB by default. */
  readonly cacheBytes?: number;
}

/** An unlocked store over any backend. */
export class SealedStore implements Store {
  readonly id: string;
  /** For the rest of this room: administration works on the same bytes under the same keys. */
  readonly backend: Backend;
  readonly keyring: Keyring;
  readonly #cache: DocumentCache;
  #closed = false;
  /** What `revision` saw last, while nothing but what waited for it runs. */
  #seen: State | undefined;
  /** Looked into, and not accepted by anybody. */
  #examined: WentBack | undefined;
  /** Counts looks at a state that nobody can tell from the next one. */
  #vagueLooks = 0;
  /** A view of a state that has shown nothing but what the cache knew for certain: good for further readers. */
  #known: { readonly state: State; readonly reader: BlobReader; readonly view: View } | undefined;

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

  async read<T>(read: (view: View) => T | Promise<T>): Promise<T> {
    const known = this.#known;
    if (known !== undefined && known.state === this.#seen && !this.#closed) {
      const outcome = await outcomeOf(() => read(known.view));
      if (known.reader.isSpotless) return outcome();
      this.#known = undefined;
      // What it opened is looked after like that of any reader: thrown away, a search of thousands would open them all each time.
      if (await this.#counts(known.reader)) return outcome();
    }
    this.refuseClosed();
    const state = this.#seen ?? (await this.#state());
    const reader = await this.#reader(this.backend, state, state.settled ? 'settled' : 'unsettled');
    const view = new DocumentView(reader);
    const outcome = await outcomeOf(() => read(view));
    if (state.settled && reader.isSpotless) this.#known = { state, reader, view };
    if (await this.#counts(reader)) return outcome();
    return this.#following(() =>
      besideOrBetween(
        this.backend,
        () => this.#readBeside(read),
        async (version) => {
          this.refuseClosed();
          return read(new DocumentView(await this.#reader(this.backend, version, 'locked')));
        },
      ),
    );
  }

  /**
   * Reads while others commit again and again. What was read need not be of one version from the start: when all of it is
   * read once more and is still the same, it was there together at the moment between. Writers have to miss only that moment,
   * and only with what is read here.
   * @returns undefined when it came to nothing.
   */
  async #readBeside<T>(read: (view: View) => T | Promise<T>): Promise<(() => T) | undefined> {
    let at = await steady(this.backend);
    let reader = await this.#reader(at.view, at.state, 'compared');
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      this.refuseClosed();
      const outcome = await outcomeOf(() => read(new DocumentView(reader)));
      at = await steady(this.backend);
      const { generation } = at.state;
      if (generation !== reader.version.generation) {
        reader = await this.#reader(at.view, at.state, 'compared');
        continue;
      }
      if (await reader.isStillSo(at.view)) {
        if (at.state.settled) {
          this.#cache.moveTo(at.state, false);
          reader.confirmation()(at.state);
        }
        return outcome;
      }
      await pause(Math.random() * Math.min(attempt, LONGEST_PAUSE_MS));
    }
    return undefined;
  }

  async transact<T>(change: (tx: Transaction) => T | Promise<T>): Promise<T> {
    this.refuseClosed();
    return this.#exclusive(async (session) => this.#transactIn(session, change));
  }

  /** Takes over what another process has seen, or this one before. @throws WentBack when the store is behind it. */
  async expect(seen: Sighting): Promise<void> {
    this.backend.witness.expect(seen);
    await this.#state();
  }

  /**
   * What is there counts from now on, whatever was seen of another state of the store: the revision goes on above all that was,
   * and processes that refuse this state take it up.
   * @param above at least as high as any revision that was seen, as far as it is known.
   * @see docs/decisions/0110
   */
  async accept(above: number): Promise<{ readonly from: Version; readonly to: Version }> {
    const { markAccepted } = await import('./acceptance.ts');
    return this.#exclusive(async (session) => {
      const from = session.version;
      const revision = Math.max(above, from.revision, Date.now()) + 1;
      await session.raise(revision);
      await this.#transactIn(session, (tx) => markAccepted(tx, revision));
      return { from, to: session.version };
    });
  }

  async #transactIn<T>(session: WriteSession, change: (tx: Transaction) => T | Promise<T>): Promise<T> {
    this.refuseClosed();
    const from = session.version;
    const reader = await this.#reader(this.backend, from, 'locked');
    const transaction = new DocumentTransaction(reader);
    const result = await change(transaction);
    const sealed = await transaction.seal(await this.keyring.root(this.backend, from.generation));
    if (sealed.changes.length > 0) {
      const [to, blobs] = await Promise.all([
        session.commit(sealed.changes, { isLast: true }),
        sealed.blobs(),
      ]);
      this.#cache.advance(from, to, blobs);
    }
    this.#seen = undefined;
    return result;
  }

  async revision(): Promise<string> {
    this.refuseClosed();
    const state = await this.#state();
    if (state.settled) {
      this.#remember(state);
      return printVersion(state);
    }
    const { state: followed } = await this.#following(() => steady(this.backend));
    this.refuseClosed();
    // What may be this version or the one before is like nothing that was seen or will be.
    return followed.settled ? printVersion(followed) : `${printVersion(followed)}-${++this.#vagueLooks}`;
  }

  close(): void {
    this.#closed = true;
    this.#known = undefined;
    this.#cache.clear();
    this.keyring.destroy();
    this.backend.close();
  }

  /** @throws `sealed` once the store was closed. */
  refuseClosed(): void {
    if (this.#closed) throw sealed('the store is sealed', { hint: 'it was closed; unlock it again' });
  }

  /**
   * Spares the reads that follow a look at the revision at once (a server looks once for each request) their own look:
   * whoever asked for the revision began before it was seen, so what it saw is fresh enough for them. It is forgotten before
   * anything new can come in: a look that went over a network may be older than a request that comes now.
   * @see docs/decisions/0063
   */
  #remember(state: State): void {
    if (this.#seen === undefined) {
      process.nextTick(() => {
        this.#seen = undefined;
      });
    }
    this.#seen = state;
  }

  #state(): Promise<State> {
    return this.#following(() => this.backend.state());
  }

  #exclusive<T>(work: (session: WriteSession) => Promise<T>): Promise<T> {
    return this.#following(() => this.backend.exclusive(work));
  }

  /** Whatever was seen: a state that the owner has accepted is taken up, with nothing remembered of the one before. */
  async #following<T>(look: () => Promise<T>): Promise<T> {
    try {
      return await look();
    } catch (error) {
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
  }

  async #reader(backend: Backend, version: Version, trust: ReaderScope['trust']): Promise<BlobReader> {
    const root = await this.keyring.root(backend, version.generation);
    if (trust !== 'compared') this.#cache.moveTo(version, trust === 'locked');
    return new BlobReader({ backend, root, cache: this.#cache, version, trust });
  }

  /** Whether everything that went through a reader belongs to its version. */
  async #counts(reader: BlobReader): Promise<boolean> {
    if (reader.versionGone) return false;
    if (!reader.needsConfirmation) return true;
    // Several may read through one reader: what one of them finds after this look is not covered by it.
    const confirm = reader.confirmation();
    const now = await this.#state();
    if (!now.settled || printVersion(now) !== printVersion(reader.version)) return false;
    confirm();
    return true;
  }
}

const printVersion = ({ generation, revision }: Version): string => `${generation}-${revision}`;

/** Runs now, and answers or throws when the outcome is wanted. */
async function outcomeOf<T>(run: () => T | Promise<T>): Promise<() => T> {
  try {
    const result = await run();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
