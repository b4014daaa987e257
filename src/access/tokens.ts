import type { Clock } from '../ground/clock.ts';
import {
  asCofferError,
  CofferError,
  denied,
  invalid,
  ownWords,
  placed,
  unavailable,
  unconfirmed,
} from '../ground/errors.ts';
import type { Random } from '../ground/random.ts';
import type { Mount } from '../mounts/mount.ts';
import { loginMount } from '../mounts/mounts.ts';
import { DraftTransaction } from '../store/draft.ts';
import type { Store, Transaction, View } from '../store/store.ts';
import { putAccessKeys, readAccessKeys } from './access-keys.ts';
import { BatchTokens } from './batch-tokens.ts';
import {
  buildLoginToken,
  type KeyCheck,
  kindOfLogin,
  type Login,
  nobodyHasKey,
  renewalTerms,
} from './login/login-token.ts';
import { missingPolicy, type Policies } from './policies.ts';
import {
  accessorOf,
  BATCH_PREFIX,
  couldBeToken,
  freshTokenText,
  grantLifetime,
  isExpired,
  isUsedUp,
  type Token,
  type TokenRecord,
} from './token.ts';
import {
  erase,
  forgetEnd,
  type LiveToken,
  listTokens,
  liveToken,
  livingTokens,
  putToken,
  replaceToken,
  revokeAlone,
  TOKENS,
  TokenSweep,
  tokenAt,
} from './token-documents.ts';
import { buildToken, kindOfRequest, type TokenRequest } from './token-request.ts';
import { roleIn, type TokenRole } from './token-roles.ts';

/** Maximum depth of token ancestry; every ancestor is read when a token is used. */
const MAX_GENERATIONS = 32;
const SERIAL_BYTES = 12;
/** Number of tokens that is small enough to check all of them in each cleanup. */
const FEW_TOKENS = 250;
/** Maximum number of cached tokens, the same as that of cached identities. */
const KEPT_TOKENS = 10_000;

/** Issuer of a token. */
interface Issuer {
  /** Accessor; absent for the owner, empty for a batch token. */
  readonly accessor?: string | undefined;
  /** Whether it has `sudo` on the request's path. */
  readonly sudo: boolean;
}

export interface IssuedToken extends TokenRecord {
  /** Token text. Returned only once. */
  readonly text: string;
  readonly warnings: readonly string[];
}

/**
 * Tokens of a store, one document each, under a keyed hash of the token's text. A token is valid as long as it exists,
 * has not expired, and its parent is valid; so revoking a token revokes all its descendants at the same time. Batch
 * tokens have no documents, and follow the same rules.
 * @see docs/decisions/0051
 */
export class Tokens {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #policies: Policies;
  readonly #batch: BatchTokens;
  readonly #sweep: TokenSweep;

  constructor(room: { store: Store; clock: Clock; random: Random; policies: Policies }) {
    this.#store = room.store;
    this.#clock = room.clock;
    this.#random = room.random;
    this.#policies = room.policies;
    room.store.limitCache(TOKENS, KEPT_TOKENS);
    this.#batch = new BatchTokens(room.store.id, room.random);
    this.#sweep = new TokenSweep(room.store);
  }

  /**
   * Creates a token.
   * @throws `invalid` if the issuer may not create such a token
   */
  async create(request: TokenRequest, issuer: Issuer): Promise<IssuedToken> {
    const now = this.#clock.now();
    if (issuer.accessor === '') throw invalid(ownWords('batch tokens cannot create more tokens'));
    if (request.kind === 'batch' || request.role !== undefined) {
      const batch = await this.#store.read((view) => this.#createBatch(view, request, issuer, now));
      if (batch !== undefined) return batch;
    }
    const text = request.id === '' ? freshTokenText(this.#random) : request.id;
    if (!couldBeToken(text)) throw invalid(ownWords('custom token ID is too long'), { field: 'id' });
    let accessor = '';
    const issuing = this.#store.transact(async (tx) => {
      const creator = await this.#creator(tx, issuer, now);
      const role = request.role === undefined ? undefined : await knownRole(tx, request.role);
      const { token, warnings } = buildToken(request, creator, now, role);
      accessor = accessorOf((await putAccessKeys(tx, this.#random)).tokens, text);
      if (request.id !== '') await refuseTaken(tx, accessor, now);
      await putToken(tx, accessor, request.id === '' ? token : { ...token, serial: this.#serial() });
      const missing = await this.#missing(tx, token);
      return { text, accessor, token, warnings: [...warnings, ...missing] };
    });
    return issuing.catch((error: unknown) => this.#takeBack(accessor, error));
  }

  /** Creates a batch token; undefined if the role requires a service token. */
  async #createBatch(
    view: View,
    request: TokenRequest,
    issuer: Issuer,
    now: number,
  ): Promise<IssuedToken | undefined> {
    const role = request.role === undefined ? undefined : await knownRole(view, request.role);
    if (kindOfRequest(request, role) !== 'batch') return undefined;
    const creator = await this.#creator(view, issuer, now);
    const { token, warnings } = buildToken(request, creator, now, role);
    const text = await this.#batch.seal(view, token);
    return { text, accessor: '', token, warnings: [...warnings, ...(await this.#missing(view, token))] };
  }

  async #missing(view: View, { policies }: Token): Promise<readonly string[]> {
    const missing = await this.#policies.missing(view, policies);
    return missing.map(missingPolicy);
  }

  /** Generates a serial, which distinguishes tokens with the same text. */
  #serial(): string {
    return this.#random.bytes(SERIAL_BYTES).toString('base64url');
  }

  /**
   * Issues the token of a login. The login is first decided outside the write lock: a refused one never takes it, nor
   * does one that gets a batch token and uses nothing up.
   * @param decide decides within the transaction that issues the token, so that single-use credentials are used once;
   * it may be called more than once. It returns an error instead of throwing it if its changes must be kept.
   * @see docs/decisions/0188
   */
  async login(decide: (tx: Transaction) => Promise<Login | CofferError>): Promise<IssuedToken> {
    const now = this.#clock.now();
    const drafted = await this.#store.read(async (view) => {
      const draft = new DraftTransaction(view);
      const login = await decide(draft);
      if (draft.isChanged) return undefined;
      if (login instanceof CofferError) return login;
      const mount = await mountOf(view, login);
      if (kindOfLogin(mount, login.settings) !== 'batch') return undefined;
      return this.#sealLogin(view, { ...login, mount }, now);
    });
    if (drafted instanceof CofferError) throw drafted;
    if (drafted !== undefined) return drafted;
    const text = freshTokenText(this.#random);
    let accessor = '';
    const issuing = this.#store.transact(async (tx) => {
      const login = await decide(tx);
      if (login instanceof CofferError) return login;
      const mount = await mountOf(tx, login);
      if (kindOfLogin(mount, login.settings) === 'batch')
        return this.#sealLogin(tx, { ...login, mount }, now);
      const { token, warnings } = buildLoginToken({ ...login, mount }, now);
      accessor = accessorOf((await putAccessKeys(tx, this.#random)).tokens, text);
      await putToken(tx, accessor, token);
      return { text, accessor, token, warnings };
    });
    const issued = await issuing.catch((error: unknown) => this.#takeBack(accessor, error));
    if (issued instanceof CofferError) throw issued;
    return issued;
  }

  async #sealLogin(view: View, login: Login, now: number): Promise<IssuedToken> {
    const { token, warnings } = buildLoginToken(login, now);
    return { text: await this.#batch.seal(view, token), accessor: '', token, warnings };
  }

  /** Revokes a token that may have been created although its text is not returned. */
  async #takeBack(accessor: string, error: unknown): Promise<never> {
    const known = asCofferError(error);
    if (known?.kind !== 'unconfirmed' || accessor === '') throw error;
    try {
      await this.#store.transact(async (tx) => {
        const token = await tokenAt(tx, accessor);
        if (token === undefined) return;
        await erase(tx, accessor);
        await forgetEnd(tx, accessor, token);
      });
    } catch {
      throw unconfirmed(known.texts.message, { cause: error, hint: revoking(accessor) });
    }
    const { texts } = asCofferError(known.cause) ?? known;
    throw unavailable(placed`no token was created: ${texts.message}`, { cause: error, hint: 'try again' });
  }

  async #creator(view: View, issuer: Issuer, now: number): Promise<{ record?: TokenRecord; sudo: boolean }> {
    if (issuer.accessor === undefined) return { sudo: true };
    const record = await liveToken(view, issuer.accessor, now);
    if (record === undefined) throw invalid(ownWords('parent token lookup failed: no parent found'));
    if (record.generation >= MAX_GENERATIONS) {
      throw invalid(`child tokens can be nested at most ${MAX_GENERATIONS} levels deep`);
    }
    return { record, sudo: issuer.sudo };
  }

  /** Returns the accessor of a token's text, whether the token exists or not; undefined if it cannot exist. */
  async accessor(view: View, text: string): Promise<string | undefined> {
    if (!couldBeToken(text)) return undefined;
    const keys = await readAccessKeys(view);
    return keys === undefined ? undefined : accessorOf(keys.tokens, text);
  }

  /** Finds a token by its text, if it is valid and not used up. */
  async find(text: string): Promise<LiveToken | undefined> {
    return this.#store.read((view) => this.findIn(view, text));
  }

  /** Like `find`, within a view. */
  async findIn(view: View, text: string): Promise<LiveToken | undefined> {
    const now = this.#clock.now();
    if (text.startsWith(BATCH_PREFIX)) return this.#batch.find(view, text, now);
    const accessor = await this.accessor(view, text);
    const found = accessor === undefined ? undefined : await liveToken(view, accessor, now);
    return found === undefined || isUsedUp(found.token) ? undefined : found;
  }

  /** Finds the valid token of an accessor, including one whose last use is the current request. */
  async get(accessor: string): Promise<LiveToken | undefined> {
    return this.#store.read((view) => liveToken(view, accessor, this.#clock.now()));
  }

  /** Lists every valid token, oldest first. */
  async list(): Promise<TokenRecord[]> {
    const now = this.#clock.now();
    const found: LiveToken[] = [];
    for await (const tokens of livingTokens(this.#store, now)) found.push(...tokens);
    return found.sort((a, b) => a.token.createdMs - b.token.createdMs || (a.accessor < b.accessor ? -1 : 1));
  }

  /**
   * Renews a token.
   *
   * @param increment seconds from now; 0 for the TTL that it was created with
   * @param checkKey called for a token that is bound to a key
   * @throws `invalid` if it does not exist, is not renewable or has reached its maximum
   */
  async renew(
    accessor: string,
    increment: number,
    checkKey: KeyCheck = nobodyHasKey,
  ): Promise<TokenRecord & { warnings: readonly string[] }> {
    const now = this.#clock.now();
    return this.#store.transact(async (tx) => {
      const found = await liveToken(tx, accessor, now);
      if (found === undefined) throw invalid(ownWords('token not found'), { field: 'token' });
      const { token } = found;
      if (!token.renewable) throw invalid(ownWords('lease is not renewable'), { hint: 'create a new token' });
      const age = Math.floor((now - token.createdMs) / 1000);
      const terms = token.login && (await renewalTerms(tx, token, { nowMs: now, checkKey }));
      const { ttl, warnings } = grantLifetime({
        ...token,
        ttl: token.creationTtl,
        ...terms,
        age,
        wanted: increment,
      });
      const renewed: Token = { ...token, renewedMs: now, expiresMs: now + ttl * 1000 };
      replaceToken(tx, accessor, renewed);
      return { accessor, token: renewed, warnings };
    });
  }

  /**
   * Revokes a token and its child tokens.
   * @returns whether it existed
   */
  async revoke(accessor: string): Promise<boolean> {
    return this.#store.transact((tx) => erase(tx, accessor));
  }

  /**
   * Revokes a token without its children, which become orphans.
   * @throws `invalid` if it does not exist
   */
  revokeAlone(accessor: string): Promise<void> {
    return revokeAlone(this.#store, accessor);
  }

  /**
   * Counts a use of a token with limited uses.
   * @throws `denied` if another request took the last one
   */
  async consume(accessor: string): Promise<void> {
    await this.#store.transact(async (tx) => {
      const token = await tokenAt(tx, accessor);
      if (token?.usesLeft === undefined || token.usesLeft <= 0) throw denied(ownWords('permission denied'));
      replaceToken(tx, accessor, { ...token, usesLeft: token.usesLeft - 1 });
    });
  }

  /** Counts the stored service tokens, including invalid ones. */
  async count(): Promise<number> {
    return (await this.#store.read((view) => listTokens(view))).length;
  }

  /**
   * Deletes expired tokens and, if there are few tokens, those that are used up or have lost their parent. Its cost
   * does not depend on the number of valid tokens.
   * @returns the number of deleted tokens
   */
  async tidy(): Promise<number> {
    const some = await this.#store.read((view) => listTokens(view, { limit: FEW_TOKENS + 1 }));
    return this.sweep(some.length > FEW_TOKENS ? 0 : FEW_TOKENS);
  }

  /**
   * Deletes expired tokens, and some others that are used up or have lost their parent. Servers call it periodically.
   * @param others number of other tokens to check; the next call continues after them
   * @returns the number of deleted tokens
   */
  sweep(others = FEW_TOKENS): Promise<number> {
    return this.#sweep.run(this.#clock.now(), others);
  }
}

async function knownRole(view: View, name: string): Promise<TokenRole> {
  const role = await roleIn(view, name);
  if (role === undefined) throw invalid(`unknown role ${name}`, { field: 'role' });
  return role;
}

/**
 * Returns the current mount of a login.
 * @throws `denied` if it was removed or moved during the login
 */
async function mountOf(view: View, { mount: { uuid, path } }: Login): Promise<Mount> {
  const mount = await loginMount(view, uuid);
  if (mount?.path !== path) throw denied(ownWords('permission denied'));
  return mount;
}

/** Returns the hint to revoke a token whose text was lost. */
export const revoking = (accessor: string): string =>
  `the token was not delivered: revoke it with "coffer token revoke ${accessor}"`;

/** Refuses a text chosen by the caller that is already a token. */
async function refuseTaken(view: View, accessor: string, nowMs: number): Promise<void> {
  const existing = await tokenAt(view, accessor);
  if (existing === undefined || isExpired(existing, nowMs)) return;
  throw invalid(ownWords('cannot create a token with a duplicate ID'), { field: 'id' });
}
