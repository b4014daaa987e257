/**
 * Rate limits of requests, for all clients.
 * @see docs/decisions/0187
 */

import { invalid, ownWords } from '../../ground/errors.ts';
import type { Store, Transaction } from '../../store/store.ts';
import {
  LimitTable,
  NO_QUOTAS,
  type QuotaConfig,
  type QuotaDocument,
  type Rated,
  type RateLimit,
  Rates,
} from './rate-limit.ts';

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

type NewLimit = Omit<RateLimit, 'name'>;
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
   * Creates or changes a limit; absent members stay unchanged.
   * @throws `invalid` with Vault's messages
   */
  async write(name: string, change: Partial<NewLimit>): Promise<void> {
    await this.#change((before) => {
      const others = before.limits.filter((limit) => limit.name !== name);
      const known = before.limits.find((limit) => limit.name === name) ?? NEW_LIMIT;
      const { group_by = known.group_by, ...settings } = change;
      const limit: RateLimit = { ...known, ...settings, group_by, name };
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
