import type { Clock } from '../ground/clock.ts';
import { asCofferError, denied, invalid, placed, unavailable, unconfirmed } from '../ground/errors.ts';
import type { Random } from '../ground/random.ts';
import type { DocumentRef, Store, Transaction, View } from '../store/store.ts';
import { putAccessKeys, readAccessKeys } from './access-keys.ts';
import type { Policies } from './policies.ts';
import {
  accessorOf,
  couldBeToken,
  freshTokenText,
  isExpired,
  isUsedUp,
  type Token,
  type TokenRecord,
} from './token.ts';
import { grantLifetime } from './token-lifetime.ts';
import { buildToken, type TokenRequest } from './token-request.ts';

const COLLECTION = 'access/tokens';
/** Tokens that issued each other, one above the other; every one is read when the last is presented. */
const MAX_GENERATIONS = 32;
/** Documents that one transaction of the sweep looks at. */
const SWEEP_BATCH = 500;

const refOf = (accessor: string): DocumentRef => ({ collection: COLLECTION, id: accessor });

/** Who asks for a token. */
export interface Issuer {
  /** Absent for the owner. */
  readonly accessor?: string;
  /** May use `sudo` on the request's path. */
  readonly sudo: boolean;
}

export interface IssuedToken extends TokenRecord {
  /** The token itself: this is the only time that it is seen. */
  readonly text: string;
  readonly warnings: readonly string[];
}

/** A token that holds, with the moment (milliseconds since the epoch) from which it or one it depends on does not. */
export interface LiveToken extends TokenRecord {
  readonly untilMs: number;
  /** 1 for a token without a parent, 2 for one that such a token issued, and so on. */
  readonly generation: number;
}

/**
 * The tokens of a store, one document each, under a keyed hash of the token's text. A token lives as long as it is
 * there, has not expired, and the token that issued it lives; so revoking one ends all below it in the same instant.
 * @see docs/decisions/0051
 */
export class Tokens {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #policies: Policies;

  constructor(room: { store: Store; clock: Clock; random: Random; policies: Policies }) {
    this.#store = room.store;
    this.#clock = room.clock;
    this.#random = room.random;
    this.#policies = room.policies;
  }

  /**
   * Issues a token.
   * @throws `invalid` when the issuer may not have such a token issued.
   */
  async create(request: TokenRequest, issuer: Issuer): Promise<IssuedToken> {
    const now = this.#clock.now();
    const text = request.id === '' ? freshTokenText(this.#random) : request.id;
    if (!couldBeToken(text)) throw invalid('custom token ID is too long', { field: 'id' });
    let accessor = '';
    const issuing = this.#store.transact(async (tx) => {
      const creator = await this.#creator(tx, issuer, now);
      const { token, warnings } = buildToken(request, creator, now);
      accessor = accessorOf((await putAccessKeys(tx, this.#random)).tokens, text);
      if (request.id !== '') await makeRoom(tx, accessor, now);
      tx.put(refOf(accessor), token);
      const missing = await this.#policies.missing(tx, token.policies);
      return {
        text,
        accessor,
        token,
        warnings: [...warnings, ...missing.map((name) => `Policy "${name}" does not exist`)],
      };
    });
    return issuing.catch((error: unknown) => this.#takeBack(accessor, error));
  }

  /** A token that may have been made, and that nobody will be told, is ended. */
  async #takeBack(accessor: string, error: unknown): Promise<never> {
    const known = asCofferError(error);
    if (known?.kind !== 'unconfirmed') throw error;
    try {
      await this.revoke(accessor);
    } catch {
      throw unconfirmed(known.texts.message, { cause: error, hint: revoking(accessor) });
    }
    const { texts } = asCofferError(known.cause) ?? known;
    throw unavailable(placed`no token was made: ${texts.message}`, { cause: error, hint: 'try again' });
  }

  async #creator(
    tx: Transaction,
    issuer: Issuer,
    now: number,
  ): Promise<{ record?: TokenRecord; sudo: boolean }> {
    if (issuer.accessor === undefined) return { sudo: true };
    const record = await liveToken(tx, issuer.accessor, now);
    if (record === undefined) throw invalid('parent token lookup failed: no parent found');
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
    const accessor = await this.accessor(view, text);
    const found = accessor === undefined ? undefined : await liveToken(view, accessor, this.#clock.now());
    return found === undefined || isUsedUp(found.token) ? undefined : found;
  }

  /** The living token of an accessor, one whose last use is the present request included. */
  async get(accessor: string): Promise<LiveToken | undefined> {
    return this.#store.read((view) => liveToken(view, accessor, this.#clock.now()));
  }

  /** Every living token, the oldest first. */
  async list(): Promise<TokenRecord[]> {
    const now = this.#clock.now();
    const found = await this.#store.read(async (view) => {
      const accessors = await view.list(COLLECTION);
      return Promise.all(accessors.map((accessor) => liveToken(view, accessor, now)));
    });
    return found
      .filter((record) => record !== undefined)
      .sort((a, b) => a.token.createdMs - b.token.createdMs || (a.accessor < b.accessor ? -1 : 1));
  }

  /**
   * Lets a token live longer.
   *
   * @param increment seconds from now; 0 for the time it was created with.
   * @throws `invalid` when it is not there, not renewable or at its maximum.
   */
  async renew(accessor: string, increment: number): Promise<TokenRecord & { warnings: readonly string[] }> {
    const now = this.#clock.now();
    return this.#store.transact(async (tx) => {
      const found = await liveToken(tx, accessor, now);
      if (found === undefined) throw invalid('token not found', { field: 'token' });
      const { token } = found;
      if (!token.renewable) throw invalid('lease is not renewable', { hint: 'make a new token' });
      const age = Math.floor((now - token.createdMs) / 1000);
      const { ttl, warnings } = grantLifetime({ ...token, age, wanted: increment, ttl: token.creationTtl });
      const renewed: Token = { ...token, renewedMs: now, expiresMs: now + ttl * 1000 };
      tx.put(refOf(accessor), renewed);
      return { accessor, token: renewed, warnings };
    });
  }

  /** Ends a token and all that it issued. Returns whether there was one. */
  async revoke(accessor: string): Promise<boolean> {
    return this.#store.transact((tx) => remove(tx, accessor));
  }

  /**
   * Ends a token; those that it issued live on without it.
   * @throws `invalid` when it is not there.
   */
  async revokeAlone(accessor: string): Promise<void> {
    await this.#store.transact(async (tx) => {
      if (!(await remove(tx, accessor))) throw invalid('token to revoke not found', { field: 'token' });
      for (const child of await childrenOf(tx, accessor)) {
        const { parent: _, ...orphan } = child.token;
        tx.put(refOf(child.accessor), orphan);
      }
    });
  }

  /**
   * Takes one use from a token whose uses are counted.
   * @throws `denied` when another request took the last one.
   */
  async consume(accessor: string): Promise<void> {
    await this.#store.transact(async (tx) => {
      const token = await tx.get<Token>(refOf(accessor));
      if (token?.usesLeft === undefined || token.usesLeft <= 0) throw denied('permission denied');
      tx.put(refOf(accessor), { ...token, usesLeft: token.usesLeft - 1 });
    });
  }

  /** Removes tokens that expired, were used up or lost their parent. Returns how many. A server calls it now and then. */
  async sweep(): Promise<number> {
    const accessors = await this.#store.read((view) => view.list(COLLECTION));
    let removed = 0;
    for (let start = 0; start < accessors.length; start += SWEEP_BATCH) {
      removed += await this.#sweepBatch(accessors.slice(start, start + SWEEP_BATCH));
    }
    return removed;
  }

  async #sweepBatch(accessors: readonly string[]): Promise<number> {
    const now = this.#clock.now();
    const dead = await this.#store.read((view) => deadOf(view, accessors, now));
    if (dead.length === 0) return 0;
    return this.#store.transact(async (tx) => {
      const stillDead = await deadOf(tx, dead, now);
      for (const accessor of stillDead) tx.delete(refOf(accessor));
      return stillDead.length;
    });
  }
}

/** How a token is ended that nobody knows. */
export const revoking = (accessor: string): string =>
  `nobody knows the token: end it with "coffer token revoke ${accessor}"`;

/** Follows a token to the one that everything depends on. Undefined when any on the way is missing or expired. */
async function liveToken(view: View, accessor: string, nowMs: number): Promise<LiveToken | undefined> {
  const token = await view.get<Token>(refOf(accessor));
  let untilMs = Number.POSITIVE_INFINITY;
  let generation = 1;
  let current = token;
  while (token !== undefined && current !== undefined && !isExpired(current, nowMs)) {
    untilMs = Math.min(untilMs, current.expiresMs ?? Number.POSITIVE_INFINITY);
    if (current.parent === undefined) return { accessor, token, untilMs, generation };
    current = await view.get<Token>(refOf(current.parent));
    generation += 1;
  }
  return undefined;
}

async function remove(tx: Transaction, accessor: string): Promise<boolean> {
  if ((await tx.get(refOf(accessor))) === undefined) return false;
  tx.delete(refOf(accessor));
  return true;
}

async function childrenOf(view: View, accessor: string): Promise<TokenRecord[]> {
  const children: TokenRecord[] = [];
  for (const candidate of await view.list(COLLECTION)) {
    const token = await view.get<Token>(refOf(candidate));
    if (token?.parent === accessor) children.push({ accessor: candidate, token });
  }
  return children;
}

/**
 * A text chosen by the caller may have been a token before. What that one issued ended with it, and must not come
 * back to life below the new one.
 */
async function makeRoom(tx: Transaction, accessor: string, nowMs: number): Promise<void> {
  const existing = await tx.get<Token>(refOf(accessor));
  if (existing !== undefined && !isExpired(existing, nowMs)) {
    throw invalid('cannot create a token with a duplicate ID', { field: 'id' });
  }
  for (const child of await childrenOf(tx, accessor)) tx.delete(refOf(child.accessor));
}

async function deadOf(view: View, accessors: readonly string[], nowMs: number): Promise<string[]> {
  const dead: string[] = [];
  for (const accessor of accessors) {
    const token = await view.get<Token>(refOf(accessor));
    if (token === undefined) continue;
    const live = isUsedUp(token) ? undefined : await liveToken(view, accessor, nowMs);
    if (live === undefined) dead.push(accessor);
  }
  return dead;
}
