import { createPublicKey, type KeyObject } from 'node:crypto';
import { JWS_ALGORITHMS } from '../../../ground/curves.ts';
import { attempt, invalid, ownWords, refusedAs, unavailable } from '../../../ground/errors.ts';
import { modulusBitsOf } from '../../../ground/foreign-keys.ts';
import { madeOnce } from '../../../ground/objects.ts';
import type { Store } from '../../../store/store.ts';
import { type FetchedKeys, fetchedRef, type JwtConfig, type JwtPorts } from './documents.ts';
import { fetchKeySet, type KeySource, MOST_KEYS, printSource, readKeySet, sourceOf } from './key-set.ts';
import { ALGORITHMS, type VerificationKeys } from './signed-token.ts';

/** Source of a mount's verification keys. */
interface RefreshedKeys {
  /**
   * Returns the keys.
   * @throws `unavailable` if there are no usable ones
   */
  current(): Promise<VerificationKeys>;
  /** Returns newer keys for a token that the given ones did not verify; undefined if there are none. */
  newerThan(keys: VerificationKeys): Promise<VerificationKeys | undefined>;
  /** Returns why the issuer supplies no keys now; undefined if it does, or is not asked for any. */
  outage(): Promise<string | undefined>;
}

/** Issuers of the mounts of a process, by the mount's UUID. */
const issuers = new WeakMap<Store, Map<string, IssuerKeys>>();
const given = new WeakMap<JwtConfig, VerificationKeys>();

/**
 * Returns the keys of a mount.
 * @param config document from the store, which stays the same object as long as it is unchanged
 */
export function keysOf(room: JwtPorts, config: JwtConfig): RefreshedKeys {
  const source = sourceOf(config);
  if (source === undefined) {
    const keys = madeOnce(given, config, () => givenKeys(config.jwt_validation_pubkeys));
    return { current: async () => keys, newerThan: async () => undefined, outage: async () => undefined };
  }
  const known = madeOnce(issuers, room.store, () => new Map<string, IssuerKeys>());
  const { uuid } = room.mount;
  let keys = known.get(uuid);
  if (keys?.id !== printSource(source)) {
    keys = new IssuerKeys(room, source);
    known.set(uuid, keys);
  }
  return keys;
}

const FIELD = 'jwt_validation_pubkeys';
const PUBLIC = /-----BEGIN (PUBLIC KEY|RSA PUBLIC KEY|CERTIFICATE)-----[^-]+-----END \1-----/;
/** Minimum RSA key size in bits; signatures of shorter keys can be forged, and `jose` refuses them. */
const LEAST_BITS = 2048;

/**
 * Parses the configured keys of a mount in PEM: SubjectPublicKeyInfo, PKCS #1 or certificates.
 * @throws `invalid` for anything else
 */
export function givenKeys(pems: readonly string[]): VerificationKeys {
  if (pems.length > MOST_KEYS) {
    throw invalid(`${FIELD} must have at most ${MOST_KEYS} items, not ${pems.length}`, { field: FIELD });
  }
  const keys = pems.map(parseKey);
  return {
    candidates: keys.map((key) => () => key),
    refusal: 'no known key successfully validated the token signature',
  };
}

function parseKey(pem: string): KeyObject {
  const key = publicKeyIn(pem);
  if (key === undefined || !mayVerify(key)) {
    throw invalid(ownWords('error parsing public key: data does not contain any valid public keys'), {
      field: FIELD,
    });
  }
  const bits = modulusBitsOf(key);
  if (bits !== undefined && bits < LEAST_BITS) {
    throw invalid(`error parsing public key: ${bits} bits are too few for RSA`, {
      field: FIELD,
      hint: 'use a key of 2048 bits or more',
    });
  }
  return key;
}

/** Whether a key can verify one of the supported signature algorithms. */
const mayVerify = (key: KeyObject): boolean =>
  attempt(() => {
    if (key.asymmetricKeyType === 'rsa') return true;
    return ALGORITHMS.includes(JWS_ALGORITHMS.get(key.export({ format: 'jwk' }).crv) ?? '');
  }, false);

function publicKeyIn(pem: string): KeyObject | undefined {
  // Node would derive a public key from a private one as well, which a client only sends by mistake.
  const [block] = PUBLIC.exec(pem) ?? [];
  if (block === undefined) return undefined;
  return attempt(() => createPublicKey(block));
}

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
  #failure = 'the keys of the issuer have not been fetched yet';
  /** Whether the issuer supplied keys when it was last asked. */
  #supplies = false;

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

  /** Returns why the issuer supplied no keys when it was last asked: now, or a moment ago; undefined if it did. */
  async outage(): Promise<string | undefined> {
    await this.#ask();
    return this.#supplies ? undefined : this.#failure;
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
      this.#supplies = true;
    } catch (error) {
      this.#supplies = false;
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
    const stored = store.transact(async (tx) => {
      const before = await tx.get<FetchedKeys>(fetchedRef(mount));
      // The mount may be gone by now.
      if (before?.source !== this.id) return fetched;
      const age = this.#age(before.fetchedMs);
      if (this.#isOurs(before) && age <= this.#age(fetched.fetchedMs)) return before;
      if (before.keys !== fetched.keys || age >= STORED_MS) tx.put(fetchedRef(mount), fetched);
      return fetched;
    });
    return stored.catch(refusedAs(fetched));
  }

  /** Returns the age in milliseconds; infinite for missing times, and for times in the future. */
  #age(ms: number | undefined): number {
    const age = this.#room.clock.now() - (ms ?? Number.POSITIVE_INFINITY);
    return age < 0 ? Number.POSITIVE_INFINITY : age;
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
