import { asCofferError, unavailable } from '../../../ground/errors.ts';
import { type FetchedKeys, fetchedRef, type Room } from './documents.ts';
import { fetchKeySet, type KeySource, printSource, readKeySet } from './key-set.ts';
import type { VerificationKeys } from './signed-token.ts';

const MINUTE_MS = 60_000;
/** Keys of that age are as good as new. */
const FRESH_MS = 10 * MINUTE_MS;
/** Older ones are used while the issuer can't be reached; one that withdrew a key would be asking too much with longer. */
export const KEPT_MS = 12 * 60 * MINUTE_MS;
/** An issuer is asked once in that time, whatever strangers send. */
const PAUSE_MS = 10_000;
/** How old what the store has of an unchanged set may become. */
const STORED_MS = 60 * MINUTE_MS;

interface KnownKeys {
  readonly keys: VerificationKeys;
  readonly json: string;
  /** Since when they are known to hold; milliseconds since the epoch. */
  readonly fetchedMs: number;
}

/**
 * The keys of one issuer, for one mount and one process.
 *
 * They are fetched again when they are no longer fresh, by the way while logins go on with what there is; and when a token is
 * signed with a key that is not among them. What was fetched is kept in the store, so that a process which starts while the issuer is
 * down lets in those whom the others let in, and so that a configuration which is written anew holds at once in every process.
 * @see docs/decisions/0177
 */
export class IssuerKeys {
  readonly #room: Room;
  readonly #source: KeySource;
  /** Names the source. */
  readonly id: string;
  #known: KnownKeys | undefined;
  /** What the store had when it was looked at last. */
  #seen: FetchedKeys | undefined;
  #fetching: Promise<void> | undefined;
  #askedMs: number | undefined;
  #failure = 'nobody asked yet';

  constructor(room: Room, source: KeySource) {
    this.#room = room;
    this.#source = source;
    this.id = printSource(source);
  }

  /** @throws `unavailable` when the issuer can't be reached and nothing that it said before is still good. */
  async current(): Promise<VerificationKeys> {
    await this.#takeUp();
    const age = this.#age(this.#known?.fetchedMs);
    if (age < FRESH_MS && this.#known !== undefined) return this.#known.keys;
    if (age < KEPT_MS && this.#known !== undefined) {
      void this.#ask();
      return this.#known.keys;
    }
    this.#known = undefined;
    await this.#ask();
    // It may be set by now, which the compiler can't see.
    const known = this.#known as KnownKeys | undefined;
    if (known === undefined) throw unavailable(this.#failure);
    return known.keys;
  }

  /** What the issuer says now, for a token that the keys did not verify; undefined when that is nothing new. */
  async newerThan(keys: VerificationKeys): Promise<VerificationKeys | undefined> {
    await this.#ask();
    return this.#known?.keys === keys ? undefined : this.#known?.keys;
  }

  /** Asks the issuer, unless it was asked a moment ago. All who want to know share one question. */
  async #ask(): Promise<void> {
    if (this.#fetching === undefined && this.#age(this.#askedMs) < PAUSE_MS) return;
    this.#fetching ??= this.#fetch();
    await this.#fetching;
  }

  async #fetch(): Promise<void> {
    const beganMs = this.#room.clock.now();
    try {
      const keys = await fetchKeySet(this.#source);
      const counting = await this.#store({ source: this.id, keys, fetchedMs: beganMs });
      this.#known = await this.#read(counting);
    } catch (error) {
      this.#failure = reasonOf(error);
    } finally {
      this.#askedMs = this.#room.clock.now();
      this.#fetching = undefined;
    }
  }

  /** Takes up what somebody wrote meanwhile: another process, or who wrote the configuration. */
  async #takeUp(): Promise<void> {
    const { store, mount } = this.#room;
    const found = await store.read((view) => view.get<FetchedKeys>(fetchedRef(mount)));
    if (found === undefined || found === this.#seen) return;
    if (this.#isOurs(found) && this.#isAsNew(found)) {
      const read = await this.#read(found);
      if (this.#isAsNew(found)) this.#known = read;
    }
    this.#seen = found;
  }

  async #read({ keys: json, fetchedMs }: FetchedKeys): Promise<KnownKeys> {
    const known = this.#known;
    return { keys: json === known?.json ? known.keys : await readKeySet(json), json, fetchedMs };
  }

  /** The mount may have another issuer by now, or nobody may have been asked when it was configured. */
  #isOurs({ source, keys }: FetchedKeys): boolean {
    return source === this.id && keys !== '';
  }

  #isAsNew({ fetchedMs }: FetchedKeys): boolean {
    return this.#known === undefined || this.#age(fetchedMs) <= this.#age(this.#known.fetchedMs);
  }

  /**
   * A store that can't be written to is no reason to let nobody in.
   * @returns what counts: what somebody else was told since this question began may be newer than the answer to it.
   */
  async #store(fetched: FetchedKeys): Promise<FetchedKeys> {
    const { store, mount } = this.#room;
    try {
      return await store.transact(async (tx) => {
        const before = await tx.get<FetchedKeys>(fetchedRef(mount));
        // The mount may be gone by now.
        if (before?.source !== this.id) return fetched;
        const age = this.#age(before.fetchedMs);
        if (this.#isOurs(before) && age <= this.#age(fetched.fetchedMs)) return before;
        if (before.keys !== fetched.keys || age >= STORED_MS) tx.put(fetchedRef(mount), fetched);
        return fetched;
      });
    } catch (error) {
      if (asCofferError(error) === undefined) throw error;
      return fetched;
    }
  }

  /** Milliseconds; for ever for what never was, and for what is of a time to come. */
  #age(ms: number | undefined): number {
    const age = this.#room.clock.now() - (ms ?? Number.POSITIVE_INFINITY);
    return age < 0 ? Number.POSITIVE_INFINITY : age;
  }
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
