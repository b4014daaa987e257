import { loginMount } from '../mounts/mounts.ts';
import type { DocumentRef, ListOptions, Store, Transaction, View } from '../store/store.ts';
import { isExpired, type Token, type TokenRecord } from './token.ts';
import { noteEnd } from './token-ends.ts';

/** Where tokens lie in the store, and what hangs on them. */

export const TOKENS = 'access/tokens';
/** Wrapped answers, each below the accessor of its token. */
export const WRAPPED_ANSWERS = 'access/wrapped-answers';

const refOf = (accessor: string): DocumentRef => ({ collection: TOKENS, id: accessor });

export const answerRefOf = (accessor: string): DocumentRef => ({ collection: WRAPPED_ANSWERS, id: accessor });

/** A token that holds, with the moment (milliseconds since the epoch) from which it or one it depends on does not. */
export interface LiveToken extends TokenRecord {
  readonly untilMs: number;
  /** 1 for a token without a parent, 2 for one that such a token issued, and so on. */
  readonly generation: number;
}

/** The accessors of all tokens, sorted, those that hold no more included. */
export const listTokens = (view: View, options?: ListOptions): Promise<string[]> =>
  view.list(TOKENS, options);

/** Tokens that are read in one go where all are looked at. */
export const PAGE_TOKENS = 200;

/** All tokens that hold, some at a time; each is as it was when it was read. */
export async function* livingTokens(store: Store, nowMs: number): AsyncGenerator<readonly LiveToken[]> {
  let after = '';
  for (;;) {
    const page = await store.read(async (view) => {
      const accessors = await listTokens(view, { after, limit: PAGE_TOKENS });
      const tokens: LiveToken[] = [];
      for (const accessor of accessors) {
        const token = await liveToken(view, accessor, nowMs);
        if (token !== undefined) tokens.push(token);
      }
      return { last: accessors.at(-1), tokens };
    });
    if (page.last === undefined) return;
    yield page.tokens;
    after = page.last;
  }
}

/** As it lies in the store. */
interface TokenDocument extends Token {
  /** The policies of a guarded token, whose `policies` are empty. */
  readonly guardedPolicies?: readonly string[];
}

/** The stored token of an accessor, whether it holds or not. */
export async function tokenAt(view: View, accessor: string): Promise<Token | undefined> {
  const document = await view.get<TokenDocument>(refOf(accessor));
  if (document?.guardedPolicies === undefined) return document;
  const { guardedPolicies: policies, ...token } = document;
  return { ...token, policies, isGuarded: true };
}

/**
 * Stores what became of a token. A guarded one has no policies where earlier releases look for them, so that their servers on the same
 * store grant it nothing; they change the members that they know, and keep the others.
 * @see docs/decisions/0231
 */
export function replaceToken(tx: Transaction, accessor: string, { isGuarded, ...token }: Token): void {
  const document: TokenDocument = isGuarded
    ? { ...token, policies: [], guardedPolicies: token.policies }
    : token;
  tx.put(refOf(accessor), document);
}

/** Stores a new token, to be cleared away after its end. */
export async function putToken(tx: Transaction, accessor: string, token: Token): Promise<void> {
  const parent = token.parent === undefined ? undefined : await tokenAt(tx, token.parent);
  const isGuarded = parent?.isGuarded === true || isMoreThanBefore(token);
  replaceToken(tx, accessor, isGuarded ? { ...token, isGuarded } : token);
  await noteEnd(tx, accessor, token);
}

/** Release 0.1 would take it for a token that holds for everybody, everywhere, until it expires. */
const isMoreThanBefore = ({ boundCidrs, wraps, login, serial, parentSerial }: Token): boolean =>
  [boundCidrs, wraps, login, serial, parentSerial].some((member) => member !== undefined);

/**
 * Whether a token holds: follows it to the one that everything depends on. Undefined when any on the way is missing or expired, or the method
 * that somebody logged in with was removed.
 */
export async function holds(
  view: View,
  token: Token,
  nowMs: number,
): Promise<Pick<LiveToken, 'untilMs' | 'generation'> | undefined> {
  let untilMs = Number.POSITIVE_INFINITY;
  let generation = 1;
  let current: Token | undefined = token;
  while (current !== undefined && !isExpired(current, nowMs)) {
    untilMs = Math.min(untilMs, current.expiresMs ?? Number.POSITIVE_INFINITY);
    if (current.parent === undefined) {
      const { login } = current;
      const isThere = login === undefined || (await loginMount(view, login.mount)) !== undefined;
      return isThere ? { untilMs, generation } : undefined;
    }
    const parent: Token | undefined = await tokenAt(view, current.parent);
    // Another one of the same text is no parent.
    if (parent?.serial !== current.parentSerial) return undefined;
    current = parent;
    generation += 1;
  }
  return undefined;
}

/** The stored token of an accessor, if it holds. */
export async function liveToken(view: View, accessor: string, nowMs: number): Promise<LiveToken | undefined> {
  if (accessor === '') return undefined;
  const token = await tokenAt(view, accessor);
  const held = token && (await holds(view, token, nowMs));
  return token && held && { accessor, token, ...held };
}

/** Removes a token, and the answer that it stands for. Returns whether there was one. */
export async function erase(tx: Transaction, accessor: string): Promise<boolean> {
  const token = await tokenAt(tx, accessor);
  if (token === undefined) return false;
  tx.delete(refOf(accessor));
  if (token.wraps) tx.delete(answerRefOf(accessor));
  return true;
}
