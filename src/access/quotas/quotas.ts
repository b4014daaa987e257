/**
 * Rate limits of requests, for all clients.
 * @see docs/decisions/0187
 */

import { randomUUID } from 'node:crypto';
import { elapsedMs } from '../../ground/clock.ts';
import { invalid, ownWords } from '../../ground/errors.ts';
import { setAmong } from '../../ground/objects.ts';
import { trimSlashes } from '../../ground/trim.ts';
import type { Store, Transaction } from '../../store/store.ts';
import { sourceOf } from '../login/networks.ts';

/** Rate limit, in API terms. */
export interface RateLimit {
  readonly name: string;
  /** Maximum number of requests of one address per interval. */
  readonly rate: number;
  /** In seconds. */
  readonly interval: number;
  /** Time in seconds for which an address is blocked after exceeding the limit; 0: until the interval has passed. */
  readonly block_interval: number;
  /** Path without a final slash: a mount, a path below one, or a prefix followed by `*`; empty for all requests. */
  readonly path: string;
  /** Limits only logins of this role. */
  readonly role: string;
  /** Stored for compatibility; absent if not given. */
  readonly inheritable?: boolean;
  /** Requests that are counted together: those of one address (`ip`, the default), or all (`none`). */
  readonly group_by?: 'ip' | 'none' | undefined;
  /** Another one each time that it is written: what was counted before does not count. Absent in earlier releases. */
  readonly id?: string;
}

type QuotaConfig = {
  readonly enable_rate_limit_response_headers: boolean;
  readonly enable_rate_limit_audit_logging: boolean;
  readonly rate_limit_exempt_paths: readonly string[];
  /** Further exempt paths, in Vault Enterprise for all namespaces; absent if not given. */
  readonly absolute_rate_limit_exempt_paths?: readonly string[];
};

/** Default settings as in Vault, including paths that do not exist here: clients compare them. */
export const NEW_CONFIG: QuotaConfig = {
  enable_rate_limit_response_headers: false,
  enable_rate_limit_audit_logging: false,
  rate_limit_exempt_paths: [
    'sys/generate-recovery-token/attempt',
    'sys/generate-recovery-token/update',
    'sys/generate-root/attempt',
    'sys/generate-root/update',
    'sys/health',
    'sys/seal-status',
    'sys/unseal',
  ],
};

/** All limits in one document, because every request needs to know whether there are any. */
interface QuotaDocument {
  readonly limits: readonly RateLimit[];
  readonly config: QuotaConfig;
}

const NO_QUOTAS: QuotaDocument = { limits: [], config: NEW_CONFIG };

/** Limits by path. Of those that match a request only the one with the longest path applies. */
export class LimitTable {
  readonly config: QuotaConfig;
  readonly #plain = new Map<string, RateLimit>();
  readonly #globs: readonly RateLimit[];
  readonly #byRole = new Map<string, RateLimit>();
  readonly #longest: number;
  readonly #exempt: ReadonlySet<string>;
  readonly #exemptGlobs: readonly string[];

  constructor({ limits, config }: QuotaDocument) {
    this.config = config;
    const globs: RateLimit[] = [];
    for (const limit of limits) {
      // Requests have role names in lower case; earlier releases stored them as sent.
      if (limit.role !== '') this.#byRole.set(`${limit.path} ${limit.role.toLowerCase()}`, limit);
      else if (limit.path.endsWith('*')) globs.push(limit);
      else this.#plain.set(limit.path, limit);
    }
    this.#globs = globs.sort((a, b) => b.path.length - a.path.length);
    this.#longest = Math.max(0, ...[...this.#plain.keys()].map((path) => path.length));
    const { rate_limit_exempt_paths: exempt, absolute_rate_limit_exempt_paths: more = [] } = config;
    const paths = [...exempt, ...more].map(trimSlashes);
    this.#exempt = new Set(paths);
    this.#exemptGlobs = paths.filter((path) => path.endsWith('*')).map((path) => path.slice(0, -1));
  }

  /** Returns the limit of a request, by all spellings of its path; undefined if there is none. */
  at(paths: readonly string[]): RateLimit | undefined {
    let found: RateLimit | undefined;
    for (const path of paths) {
      const limit = this.#at(path);
      if (limit !== undefined && limit.path.length >= (found?.path.length ?? 0)) found = limit;
    }
    return found;
  }

  #at(path: string): RateLimit | undefined {
    if (this.#exempt.has(path) || this.#exemptGlobs.some((head) => path.startsWith(head))) return undefined;
    const plain = this.#plainAt(path);
    const glob = this.#globs.find((limit) => path.startsWith(limit.path.slice(0, -1)));
    return glob !== undefined && glob.path.length > (plain?.path.length ?? 0) ? glob : plain;
  }

  /** Finds a limit for a path from the client, which may be long and have many slashes. */
  #plainAt(path: string): RateLimit | undefined {
    let end = path.length <= this.#longest ? path.length : path.lastIndexOf('/', this.#longest);
    while (end > 0) {
      const limit = this.#plain.get(path.slice(0, end));
      if (limit !== undefined) return limit;
      end = path.lastIndexOf('/', end - 1);
    }
    return this.#plain.get('');
  }

  /** Returns the limit of a role at a login mount. */
  ofRole(mount: string, role: string): RateLimit | undefined {
    return this.#byRole.get(`${mount} ${role}`);
  }

  hasRolesAt(mount: string): boolean {
    for (const limit of this.#byRole.values()) if (limit.path === mount) return true;
    return false;
  }
}

/** Result of a limit for one request. */
export interface Rated {
  readonly isAllowed: boolean;
  /** Maximum number of requests per interval, and how many remain. */
  readonly limit: number;
  readonly left: number;
  /** Seconds until the full number is available again. */
  readonly resetsIn: number;
}

interface Bucket {
  readonly endsMs: number;
  left: number;
  blockedUntilMs: number;
}

/** Maximum number of addresses tracked; beyond it the oldest is evicted. */
const REMEMBERED = 20_000;

/**
 * Tracks recent requests of addresses, by limit. In memory and per process: an unauthenticated client must not be able
 * to make a server write.
 */
export class Rates {
  readonly #elapsedMs: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** @param now monotonic clock, in milliseconds; replaced in tests */
  constructor(now: () => number = elapsedMs) {
    this.#elapsedMs = now;
  }

  /** Counts a request, by its address unless the limit counts all together. */
  take(limit: RateLimit, address: string): Rated {
    // Whole numbers: the rounding of fractions can make a wait of exactly an hour a second longer.
    const now = Math.floor(this.#elapsedMs());
    const { tokens, intervalMs } = sizesOf(limit);
    const source = limit.group_by === 'none' ? '*' : sourceOf(address);
    const key = `${limit.name} ${limit.id} ${limit.rate} ${limit.interval} ${limit.path} ${source}`;
    const bucket = this.#bucket(key, now, tokens, intervalMs);
    const isBlocked = bucket.blockedUntilMs > now;
    const isAllowed = !isBlocked && bucket.left > 0;
    if (isAllowed) bucket.left -= 1;
    else if (!isBlocked) bucket.blockedUntilMs = now + limit.block_interval * 1000;
    const freeMs = isAllowed ? bucket.endsMs : Math.max(bucket.endsMs, bucket.blockedUntilMs);
    return { isAllowed, limit: tokens, left: bucket.left, resetsIn: Math.ceil((freeMs - now) / 1000) };
  }

  #bucket(key: string, now: number, tokens: number, intervalMs: number): Bucket {
    const known = this.#buckets.get(key);
    if (known !== undefined && (known.endsMs > now || known.blockedUntilMs > now)) return known;
    const fresh: Bucket = { endsMs: now + intervalMs, left: tokens, blockedUntilMs: 0 };
    setAmong(this.#buckets, REMEMBERED, key, fresh);
    return fresh;
  }
}

/** Returns burst and interval; less than one request per interval is one in a longer interval. */
function sizesOf({ rate, interval }: RateLimit): { readonly tokens: number; readonly intervalMs: number } {
  if (rate < 1) return { tokens: 1, intervalMs: Math.ceil((interval / rate) * 1000) };
  return { tokens: Math.floor(rate), intervalMs: interval * 1000 };
}

const DOCUMENT = { collection: 'access/quotas', id: 'rate-limits' } as const;
/** Maximum number of limits, because every request is matched against them. */
const MOST_LIMITS = 1000;

/** Part of a request that limits depend on. */
interface LimitedRequest {
  /** The store's revision, read after the request arrived. */
  readonly revision: string;
  /**
   * Returns the path in every spelling with the same meaning, without `/v1/` and with escapes decoded. Called only if
   * there are limits.
   */
  paths(): Promise<readonly string[]>;
  readonly remoteAddress: string;
  /** Mount of a login whose role is not known yet. */
  readonly loginMount?: string | undefined;
}

/** Result of the rate limits for a request. */
export interface Admission {
  readonly config: QuotaConfig;
  /** State of the limit; absent if none applies so far. */
  readonly rated?: Rated;
  /** Present for a login at a mount with limits by role: called once the role is known, with undefined for none. */
  byRole?(role: string | undefined): Rated | undefined;
}

type NewLimit = Omit<RateLimit, 'name' | 'id'>;
const NEW_LIMIT: NewLimit = {
  rate: 0,
  interval: 1,
  block_interval: 0,
  path: '',
  role: '',
};

export class Quotas {
  readonly #store: Store;
  readonly #rates = new Rates();
  #revision = '';
  #table: LimitTable | undefined;
  #document: QuotaDocument = NO_QUOTAS;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Whether there are certainly no limits at this revision of the store, so that no request need be counted. */
  areNoneAt(revision: string): boolean {
    return revision === this.#revision && this.#table === undefined;
  }

  /** Counts a request; undefined if there are no limits at all. */
  async admit(request: LimitedRequest): Promise<Admission | undefined> {
    if (request.revision !== this.#revision) await this.#moveTo(request.revision);
    const table = this.#table;
    if (table === undefined) return undefined;
    const { remoteAddress, loginMount } = request;
    const paths = await request.paths();
    const { config } = table;
    const take = (limit: RateLimit | undefined): Rated | undefined =>
      limit && this.#rates.take(limit, remoteAddress);
    if (loginMount !== undefined && table.hasRolesAt(loginMount)) {
      const byRole = (role = '') => take(table.ofRole(loginMount, role) ?? table.at(paths));
      return { config, byRole };
    }
    const rated = take(table.at(paths));
    return rated === undefined ? { config } : { config, rated };
  }

  async #moveTo(revision: string): Promise<void> {
    const document = await this.read();
    if (document !== this.#document) {
      this.#document = document;
      this.#table = document.limits.length === 0 ? undefined : new LimitTable(document);
    }
    this.#revision = revision;
  }

  /** Reads the limits, and their common settings. */
  async read(): Promise<QuotaDocument> {
    return this.#store.read(async (view) => (await view.get<QuotaDocument>(DOCUMENT)) ?? NO_QUOTAS);
  }

  /**
   * Creates or replaces a limit; absent members get their defaults.
   * @throws `invalid` with Vault's messages
   */
  async write(name: string, settings: Partial<NewLimit>): Promise<void> {
    await this.#change((before) => {
      const others = before.limits.filter((limit) => limit.name !== name);
      const limit: RateLimit = { ...NEW_LIMIT, ...settings, name, id: randomUUID() };
      if (!(limit.rate > 0)) throw invalid(ownWords("'rate' is invalid"), { field: 'rate' });
      const same = others.find(({ path, role }) => path === limit.path && role === limit.role);
      if (same !== undefined) {
        throw invalid(`quota rule with similar properties exists under the name "${same.name}"`, {
          field: 'path',
        });
      }
      if (others.length >= MOST_LIMITS) throw invalid(`at most ${MOST_LIMITS} rate limits are allowed`);
      return { ...before, limits: [...others, { ...limit, interval: limit.interval || NEW_LIMIT.interval }] };
    });
  }

  /** Deletes a limit; succeeds if it does not exist. */
  async delete(name: string): Promise<void> {
    await this.#change((before) => {
      const limits = before.limits.filter((limit) => limit.name !== name);
      return limits.length === before.limits.length ? undefined : { ...before, limits };
    });
  }

  async configure(change: Partial<QuotaConfig>): Promise<void> {
    await this.#change((before) => ({ ...before, config: { ...before.config, ...change } }));
  }

  async #change(change: (before: QuotaDocument) => QuotaDocument | undefined): Promise<void> {
    await this.#store.transact(async (tx: Transaction) => {
      const after = change((await tx.get<QuotaDocument>(DOCUMENT)) ?? NO_QUOTAS);
      if (after !== undefined) tx.put(DOCUMENT, after);
    });
  }
}
