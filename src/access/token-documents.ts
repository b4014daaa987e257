import { loginMount } from '../mounts/mounts.ts';
import type { DocumentRef, ListOptions, Store, Transaction, View } from '../store/store.ts';
import { isExpired, type Token, type TokenRecord } from './token.ts';
import { noteEnd } from './token-ends.ts';

/** Token documents in the store, and documents that depend on them. */

export const TOKENS = 'access/tokens';
/** Collection of wrapped responses, by the accessor of their token. */
export const WRAPPED_ANSWERS = 'access/wrapped-answers';

const refOf = (accessor: string): DocumentRef => ({ collection: TOKENS, id: accessor });

export const answerRefOf = (accessor: string): DocumentRef => ({ collection: WRAPPED_ANSWERS, id: accessor });

/** Valid token, with the time (milliseconds since the epoch) at which it or one that it depends on expires. */
export interface LiveToken extends TokenRecord {
  readonly untilMs: number;
  /** 1 for a token without a parent, 2 for its children, and so on. */
  readonly generation: number;
}

/** Lists the accessors of all tokens, sorted, including invalid ones. */
export const listTokens = (view: View, options?: ListOptions): Promise<string[]> =>
  view.list(TOKENS, options);

/** Number of tokens read at a time when all are processed. */
export const PAGE_TOKENS = 200;

/** Yields all valid tokens, some at a time; each as of when it was read. */
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

/** Stored form of a token. */
interface TokenDocument extends Token {
  /** Policies of a guarded token, whose `policies` are empty. */
  readonly guardedPolicies?: readonly string[];
}

/** Reads the stored token of an accessor, valid or not. */
export async function tokenAt(view: View, accessor: string): Promise<Token | undefined> {
  const document = await view.get<TokenDocument>(refOf(accessor));
  if (document?.guardedPolicies === undefined) return document;
  const { guardedPolicies: policies, ...token } = document;
  return { ...token, policies, isGuarded: true };
}

/**
 * Stores a changed token. A guarded token has no policies in the member that earlier releases read, so that servers of
 * these releases on the same store grant it nothing. When such a server changes a token, it keeps the members that it
 * does not know.
 * @see docs/decisions/0231
 */
export function replaceToken(tx: Transaction, accessor: string, { isGuarded, ...token }: Token): void {
  const document: TokenDocument = isGuarded
    ? { ...token, policies: [], guardedPolicies: token.policies }
    : token;
  tx.put(refOf(accessor), document);
}

/** Stores a new token, and schedules its removal after its expiration. */
export async function putToken(tx: Transaction, accessor: string, token: Token): Promise<void> {
  const parent = token.parent === undefined ? undefined : await tokenAt(tx, token.parent);
  const isGuarded = parent?.isGuarded === true || isMoreThanBefore(token);
  replaceToken(tx, accessor, isGuarded ? { ...token, isGuarded } : token);
  await noteEnd(tx, accessor, token);
}

/** Whether a token has restrictions that release 0.1 would ignore. */
const isMoreThanBefore = ({ boundCidrs, wraps, login, serial, parentSerial }: Token): boolean =>
  [boundCidrs, wraps, login, serial, parentSerial].some((member) => member !== undefined);

/**
 * Checks the validity of a token and all its ancestors. Undefined if any of them is missing or expired, or the login
 * method's mount was removed.
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
    // A later token with the same text is not the parent.
    if (parent?.serial !== current.parentSerial) return undefined;
    current = parent;
    generation += 1;
  }
  return undefined;
}

/** Reads the stored token of an accessor, if it is valid. */
export async function liveToken(view: View, accessor: string, nowMs: number): Promise<LiveToken | undefined> {
  if (accessor === '') return undefined;
  const token = await tokenAt(view, accessor);
  const held = token && (await holds(view, token, nowMs));
  return token && held && { accessor, token, ...held };
}

/**
 * Deletes a token, and its wrapped response.
 * @returns whether it existed
 */
export async function erase(tx: Transaction, accessor: string): Promise<boolean> {
  const token = await tokenAt(tx, accessor);
  if (token === undefined) return false;
  tx.delete(refOf(accessor));
  if (token.wraps) tx.delete(answerRefOf(accessor));
  return true;
}
