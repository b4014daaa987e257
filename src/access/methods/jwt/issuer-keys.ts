import { asCofferError, unavailable } from '../../../ground/errors.ts';
import { type FetchedKeys, fetchedRef, type JwtPorts } from './documents.ts';
import { fetchKeySet, type KeySource, printSource, readKeySet } from './key-set.ts';
import type { VerificationKeys } from './signed-token.ts';

const MINUTE_MS = 60_000;
/** Age up to which keys are used without fetching them again, in milliseconds. */
const FRESH_MS = 10 * MINUTE_MS;
/**
 * Maximum age of keys while the issuer is unreachable, in milliseconds; a longer time would delay the withdrawal of a
 * key too much.
 */
export const KEPT_MS = 12 * 60 * MINUTE_MS;
/** Minimum interval between requests to an issuer, in milliseconds, whatever clients send. */
const PAUSE_MS = 10_000;
/** Maximum age of the stored copy of an unchanged key set, in milliseconds. */
const STORED_MS = 60 * MINUTE_MS;

interface KnownKeys {
  readonly keys: VerificationKeys;
  readonly json: string;
  /** Time at which they were last known to be valid, in milliseconds since the epoch. */
  readonly fetchedMs: number;
}

/**
 * Keys of one issuer, for one mount and one process.
 *
 * They are fetched again when they are no longer fresh, in the background while logins use the known ones; and when a
 * token is signed with an unknown key. Fetched keys are stored, so that a process that starts while the issuer is down
 * accepts the same tokens as the others, and so that a new configuration takes effect at once in every process.
 * @see docs/decisions/0177
 */
export class IssuerKeys {
  readonly #room: JwtPorts;
  readonly #source: KeySource;
  /** Identity of the source. */
  readonly id: string;
  #known: KnownKeys | undefined;
  /** Stored keys when they were last read. */
  #seen: FetchedKeys | undefined;
  #fetching: Promise<void> | undefined;
  #askedMs: number | undefined;
  #failure = 'not fetched yet';

  constructor(room: JwtPorts, source: KeySource) {
    this.#room = room;
    this.#source = source;
    this.id = printSource(source);
  }

  /**
   * Returns the current keys.
   * @throws `unavailable` if the issuer is unreachable and no earlier keys are still valid
   */
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
    // It may be set by now, which the compiler cannot know.
    const known = this.#known as KnownKeys | undefined;
    if (known === undefined) throw unavailable(this.#failure);
    return known.keys;
  }

  /** Fetches the keys again for a token that the known keys did not verify; undefined if there are no new ones. */
  async newerThan(keys: VerificationKeys): Promise<VerificationKeys | undefined> {
    await this.#ask();
    return this.#known?.keys === keys ? undefined : this.#known?.keys;
  }

  /** Contacts the issuer, unless that was done a moment ago. Concurrent callers share one request. */
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

  /** Adopts keys that were stored in the meantime, by another process or with a new configuration. */
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

  /**
   * Whether stored keys are of this source: the mount may have another issuer by now, or its issuer was not contacted
   * when it was configured.
   */
  #isOurs({ source, keys }: FetchedKeys): boolean {
    return source === this.id && keys !== '';
  }

  #isAsNew({ fetchedMs }: FetchedKeys): boolean {
    return this.#known === undefined || this.#age(fetchedMs) <= this.#age(this.#known.fetchedMs);
  }

  /**
   * Stores fetched keys. A store that cannot be written must not prevent logins.
   * @returns the valid keys: others that were fetched since this request began may be newer
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

  /** Returns the age in milliseconds; infinite for missing times, and for times in the future. */
  #age(ms: number | undefined): number {
    const age = this.#room.clock.now() - (ms ?? Number.POSITIVE_INFINITY);
    return age < 0 ? Number.POSITIVE_INFINITY : age;
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
