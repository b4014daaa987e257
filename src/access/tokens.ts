import type { Clock } from '../ground/clock.ts';
import {
  asCofferError,
  CofferError,
  denied,
  invalid,
  placed,
  unavailable,
  unconfirmed,
} from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import type { Random } from '../ground/random.ts';
import { loginMount } from '../mounts/mounts.ts';
import { Draft } from '../store/draft.ts';
import type { Store, Transaction, View } from '../store/store.ts';
import { Together } from '../store/together.ts';
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
import type { Policies } from './policies.ts';
import {
  accessorOf,
  BATCH_PREFIX,
  couldBeToken,
  freshTokenText,
  isExpired,
  isUsedUp,
  type Token,
  type TokenRecord,
} from './token.ts';
import {
  erase,
  type LiveToken,
  listTokens,
  liveToken,
  livingTokens,
  putToken,
  replaceToken,
  TOKENS,
  tokenAt,
} from './token-documents.ts';
import { forgetEnd } from './token-ends.ts';
import { grantLifetime } from './token-lifetime.ts';
import { revokeAlone } from './token-orphans.ts';
import { buildToken, kindOfRequest, type TokenRequest } from './token-request.ts';
import { roleIn, type TokenRole } from './token-roles.ts';
import { TokenSweep } from './token-sweep.ts';

/** Tokens that issued each other, one above the other; every one is read when the last is presented. */
const MAX_GENERATIONS = 32;
const SERIAL_BYTES = 12;
/** As many as can be looked at each time that tokens are cleared away. */
const FEW_TOKENS = 250;
/** Tokens that a process keeps opened, as many as it remembers callers. */
const KEPT_TOKENS = 10_000;

/** Who asks for a token. */
export interface Issuer {
  /** Absent for the owner, empty for a batch token. */
  readonly accessor?: string;
  /** May use `sudo` on the request's path. */
  readonly sudo: boolean;
}

export interface IssuedToken extends TokenRecord {
  /** The token itself: this is the only time that it is seen. */
  readonly text: string;
  readonly warnings: readonly string[];
}

/**
 * The tokens of a store, one document each, under a keyed hash of the token's text. A token lives as long as it is
 * there, has not expired, and the token that issued it lives; so revoking one ends all below it in the same instant.
 * Batch tokens are in no document, and live by the same rules.
 * @see docs/decisions/0051
 */
export class Tokens {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #policies: Policies;
  readonly #batch: BatchTokens;
  /** Programs come in crowds. */
  readonly #together: Together;
  readonly #sweep: TokenSweep;

  constructor(room: { store: Store; clock: Clock; random: Random; policies: Policies }) {
    this.#store = room.store;
    this.#clock = room.clock;
    this.#random = room.random;
    this.#policies = room.policies;
    room.store.limitCache(TOKENS, KEPT_TOKENS);
    this.#together = new Together(room.store);
    this.#batch = new BatchTokens(room.store.id, room.random);
    this.#sweep = new TokenSweep(room.store);
  }

  /**
   * Issues a token.
   * @throws `invalid` when the issuer may not have such a token issued.
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
    const issuing = this.#together.transact(async (tx) => {
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

  /** Undefined when the role has it that it is no batch token. */
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
    return missing.map((name) => `Policy "${name}" does not exist`);
  }

  /** Tokens of one text are told apart by it. */
  #serial(): string {
    return this.#random.bytes(SERIAL_BYTES).toString('base64url');
  }

  /**
   * Issues the token of somebody who logs in. It is judged at first beside all others: whoever is refused never holds the store,
   * nor does who gets a batch token and uses nothing up.
   * @param decide judges within the change that makes the token, so that what can be used once is used once; it may be asked
   *   more than once. It returns an error, in place of throwing it, where what it wrote is to stay.
   */
  async login(decide: (tx: Transaction) => Promise<Login | CofferError>): Promise<IssuedToken> {
    const now = this.#clock.now();
    const drafted = await this.#store.read(async (view) => {
      const draft = new Draft(view);
      const login = await decide(draft);
      if (draft.isChanged) return undefined;
      if (login instanceof CofferError) return login;
      const mount = await loginMount(view, login.mount.uuid);
      if (mount === undefined) throw denied(ownWords('permission denied'));
      if (kindOfLogin(mount, login.settings) !== 'batch') return undefined;
      return this.#sealLogin(view, { ...login, mount }, now);
    });
    if (drafted instanceof CofferError) throw drafted;
    if (drafted !== undefined) return drafted;
    const text = freshTokenText(this.#random);
    let accessor = '';
    const issuing = this.#together.transact(async (tx) => {
      const login = await decide(tx);
      if (login instanceof CofferError) return login;
      const mount = await loginMount(tx, login.mount.uuid);
      if (mount === undefined) throw denied(ownWords('permission denied'));
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

  /** A token that may have been made, and that nobody will be told, is ended. */
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
    throw unavailable(placed`no token was made: ${texts.message}`, { cause: error, hint: 'try again' });
  }

  async #creator(view: View, issuer: Issuer, now: number): Promise<{ record?: TokenRecord; sudo: boolean }> {
    if (issuer.accessor === undefined) return { sudo: true };
    const record = await liveToken(view, issuer.accessor, now);
    if (record === undefined) throw invalid(ownWords('parent token lookup failed: no parent found'));
    if (record.generation >= MAX_GENERATIONS) {
      throw invalid(`tokens may issue each other over ${MAX_GENERATIONS} generations, not more`);
    }
    return { record, sudo: issuer.sudo };
  }

  /** The accessor of a token's text, whether there is such a token or not; undefined when there can't be one. */
  async accessor(view: View, text: string): Promise<string | undefined> {
    if (!couldBeToken(text)) return undefined;
    const keys = await readAccessKeys(view);
    return keys === undefined ? undefined : accessorOf(keys.tokens, text);
  }

  /** The token that a text is, if it lives and is not used up. */
  async find(text: string): Promise<LiveToken | undefined> {
    return this.#store.read((view) => this.findIn(view, text));
  }

  /** As `find`, within a view. */
  async findIn(view: View, text: string): Promise<LiveToken | undefined> {
    const now = this.#clock.now();
    if (text.startsWith(BATCH_PREFIX)) return this.#batch.find(view, text, now);
    const accessor = await this.accessor(view, text);
    const found = accessor === undefined ? undefined : await liveToken(view, accessor, now);
    return found === undefined || isUsedUp(found.token) ? undefined : found;
  }

  /** The living token of an accessor, one whose last use is the present request included. */
  async get(accessor: string): Promise<LiveToken | undefined> {
    return this.#store.read((view) => liveToken(view, accessor, this.#clock.now()));
  }

  /** Every living token, the oldest first. */
  async list(): Promise<TokenRecord[]> {
    const now = this.#clock.now();
    const found: LiveToken[] = [];
    for await (const tokens of livingTokens(this.#store, now)) found.push(...tokens);
    return found.sort((a, b) => a.token.createdMs - b.token.createdMs || (a.accessor < b.accessor ? -1 : 1));
  }

  /**
   * Lets a token live longer.
   *
   * @param increment seconds from now; 0 for the time it was created with.
   * @param checkKey asked of a token that is bound to a key.
   * @throws `invalid` when it is not there, not renewable or at its maximum.
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
      if (!token.renewable) throw invalid(ownWords('lease is not renewable'), { hint: 'make a new token' });
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

  /** Ends a token and all that it issued. Returns whether there was one. */
  async revoke(accessor: string): Promise<boolean> {
    return this.#store.transact((tx) => erase(tx, accessor));
  }

  /**
   * Ends a token; those that it issued live on without it.
   * @throws `invalid` when it is not there.
   */
  revokeAlone(accessor: string): Promise<void> {
    return revokeAlone(this.#store, accessor);
  }

  /**
   * Takes one use from a token whose uses are counted.
   * @throws `denied` when another request took the last one.
   */
  async consume(accessor: string): Promise<void> {
    await this.#store.transact(async (tx) => {
      const token = await tokenAt(tx, accessor);
      if (token?.usesLeft === undefined || token.usesLeft <= 0) throw denied(ownWords('permission denied'));
      replaceToken(tx, accessor, { ...token, usesLeft: token.usesLeft - 1 });
    });
  }

  /** How many service tokens are kept, those included that hold no more. */
  async count(): Promise<number> {
    return (await this.#store.read((view) => listTokens(view))).length;
  }

  /**
   * Removes tokens that expired and, as long as there are few, those that were used up or lost their parent. Returns how many.
   * It costs the same whatever the number of living tokens.
   */
  async tidy(): Promise<number> {
    const some = await this.#store.read((view) => listTokens(view, { limit: FEW_TOKENS + 1 }));
    return this.sweep(some.length > FEW_TOKENS ? 0 : FEW_TOKENS);
  }

  /**
   * Removes tokens that expired, and of the others some that were used up or lost their parent. A server calls it now and then.
   * @param others at how many tokens to look whose time has not come; the next time it goes on behind them.
   * @returns how many were removed.
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

/** How a token is ended that nobody knows. */
export const revoking = (accessor: string): string =>
  `nobody knows the token: end it with "coffer token revoke ${accessor}"`;

/** A text chosen by the caller may have been a token before. */
async function refuseTaken(view: View, accessor: string, nowMs: number): Promise<void> {
  const existing = await tokenAt(view, accessor);
  if (existing === undefined || isExpired(existing, nowMs)) return;
  throw invalid(ownWords('cannot create a token with a duplicate ID'), { field: 'id' });
}
