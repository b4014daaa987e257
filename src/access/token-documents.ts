import { invalid, ownWords } from '../ground/errors.ts';
import { Pace } from '../ground/pace.ts';
import { loginMount } from '../mounts/mounts.ts';
import type { DocumentRef, ListOptions, Store, Transaction, View } from '../store/store.ts';
import { isExpired, isUsedUp, type Token, type TokenLogin, type TokenRecord } from './token.ts';

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
const PAGE_TOKENS = 200;

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
 * method's mount was removed or moved.
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
      const isThere = login === undefined || (await isAtIssue(view, login));
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

/**
 * Whether a login method is still where it issued a token.
 * @see docs/decisions/0173
 */
async function isAtIssue(view: View, login: TokenLogin): Promise<boolean> {
  const mount = await loginMount(view, login.mount);
  return mount !== undefined && mount.moved === login.moved;
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

/**
 * Index of the times at which tokens must be checked, so that the cost of a sweep depends on the number of expired
 * tokens: opening every token would take seconds with 100,000 of them.
 */

/** Collection of notes; each lists tokens with about the same expiration time. */
const COLLECTION = 'access/token-ends';

interface EndsDocument {
  readonly accessors: readonly string[];
}

/** Smallest time unit for grouping tokens, in milliseconds. */
const STEP_MS = 10 * 60 * 1000;
/** An expired token is removed at most 1/LATE_BY of its lifetime late. */
const LATE_BY = 8;
/** Maximum number of tokens per note, because it is rewritten for each of them. */
const NOTE_TOKENS = 512;
/** Number of digits of a note's number within its step. */
const NUMBER_DIGITS = 6;
/** Number of digits of a step, sufficient beyond the year 10000. */
const DIGITS = 10;
/** Number of notes listed at a time. */
const LISTED = 100;

/** Returns the step in which a token is checked: a whole number of time units, not before its expiration. */
function stepOf({ createdMs, expiresMs = 0 }: Token): number {
  const life = Math.max(1, (expiresMs - createdMs) / STEP_MS);
  const together = 2 ** Math.max(0, Math.ceil(Math.log2(life / LATE_BY)));
  return Math.ceil(expiresMs / STEP_MS / together) * together;
}

const stepName = (token: Token): string => `${String(stepOf(token)).padStart(DIGITS, '0')}-`;

/** Schedules a token to be checked when it expires; one that never expires is not scheduled. */
async function noteEnd(tx: Transaction, accessor: string, token: Token): Promise<void> {
  if (token.expiresMs === undefined) return;
  const step = stepName(token);
  const last = await lastNote(tx, step);
  const { accessors = [] } =
    (await tx.get<EndsDocument>({ collection: COLLECTION, id: noteId(step, last) })) ?? {};
  if (accessors.includes(accessor)) return;
  const isFull = accessors.length >= NOTE_TOKENS;
  const ref = { collection: COLLECTION, id: noteId(step, isFull ? last + 1 : last) };
  tx.put(ref, { accessors: isFull ? [accessor] : [...accessors, accessor] } satisfies EndsDocument);
}

/** Removes a token that was just scheduled: it is in the last note of its step, or else stays until it is due. */
export async function forgetEnd(tx: Transaction, accessor: string, token: Token): Promise<void> {
  if (token.expiresMs === undefined) return;
  const step = stepName(token);
  const ref = { collection: COLLECTION, id: noteId(step, await lastNote(tx, step)) };
  const { accessors = [] } = (await tx.get<EndsDocument>(ref)) ?? {};
  const others = accessors.filter((other) => other !== accessor);
  if (others.length === accessors.length) return;
  if (others.length === 0) tx.delete(ref);
  else tx.put(ref, { accessors: others } satisfies EndsDocument);
}

const noteId = (step: string, number: number): string =>
  `${step}${String(number).padStart(NUMBER_DIGITS, '0')}`;

/** Returns the number of the last note of a step, 0 if there is none. */
async function lastNote(view: View, step: string): Promise<number> {
  let last = 0;
  for (;;) {
    const ids = await view.list(COLLECTION, { after: noteId(step, last), limit: LISTED });
    const mine = ids.filter((id) => id.startsWith(step));
    const latest = mine.at(-1);
    if (latest !== undefined) last = Number(latest.slice(step.length));
    if (mine.length < LISTED) return last;
  }
}

/**
 * Lists the due notes, earliest first.
 * @param limit maximum number
 */
async function dueNotes(view: View, nowMs: number, limit: number): Promise<readonly string[]> {
  const ids = await view.list(COLLECTION, { limit });
  return ids.filter((id) => Number(id.slice(0, DIGITS)) * STEP_MS <= nowMs);
}

/**
 * Deletes a note.
 * @returns its accessors; none if another process was faster
 */
async function takeNote(tx: Transaction, id: string): Promise<readonly string[]> {
  const ref = { collection: COLLECTION, id };
  const note = await tx.get<EndsDocument>(ref);
  if (note === undefined) return [];
  tx.delete(ref);
  return note.accessors;
}

/** Deletes invalid tokens. They are unusable without it; it keeps the store small. */

/** Number of notes processed per transaction; a note rarely has more than some hundred tokens. */
const NOTES_AT_ONCE = 32;
/** Number of tokens after which a transaction takes no further note. */
const TOKENS_AT_ONCE = 500;

export class TokenSweep {
  readonly #store: Store;
  /** Position up to which tokens that are not due were checked. */
  #cursor = '';

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Deletes expired tokens, and some others that were used up, or have lost their parent or login method.
   * @param others number of other tokens to check; the next call continues after them
   * @returns the number of deleted tokens
   */
  async run(nowMs: number, others: number): Promise<number> {
    return (await this.#due(nowMs)) + (await this.#others(nowMs, others));
  }

  async #due(nowMs: number): Promise<number> {
    let removed = 0;
    for (;;) {
      const notes = await this.#store.read((view) => dueNotes(view, nowMs, NOTES_AT_ONCE));
      if (notes.length === 0) return removed;
      removed += await this.#store.transact((tx) => workOff(tx, notes, nowMs), { alone: true });
    }
  }

  async #others(nowMs: number, limit: number): Promise<number> {
    if (limit === 0) return 0;
    const found = await this.#store.read(async (view) => {
      const accessors = await listTokens(view, { after: this.#cursor, limit });
      return { accessors, dead: await deadOf(view, accessors, nowMs) };
    });
    const { accessors, dead } = found;
    this.#cursor = accessors.length < limit ? '' : (accessors.at(-1) ?? '');
    if (dead.length === 0) return 0;
    return this.#store.transact(
      async (tx) => {
        const stillDead = await deadOf(tx, dead, nowMs);
        for (const accessor of stillDead) await erase(tx, accessor);
        return stillDead.length;
      },
      { alone: true },
    );
  }
}

/** Processes notes; a token that was renewed is scheduled again. */
async function workOff(tx: Transaction, notes: readonly string[], nowMs: number): Promise<number> {
  let looked = 0;
  let removed = 0;
  for (const note of notes) {
    for (const accessor of await takeNote(tx, note)) {
      looked += 1;
      const token = await tokenAt(tx, accessor);
      if (token === undefined) continue;
      const [dead] = await deadOf(tx, [accessor], nowMs);
      if (dead === undefined) await noteEnd(tx, accessor, token);
      else if (await erase(tx, accessor)) removed += 1;
    }
    if (looked >= TOKENS_AT_ONCE) break;
  }
  return removed;
}

async function deadOf(view: View, accessors: readonly string[], nowMs: number): Promise<string[]> {
  const dead: string[] = [];
  for (const accessor of accessors) {
    const token = await tokenAt(view, accessor);
    if (token === undefined) continue;
    const live = isUsedUp(token) ? undefined : await liveToken(view, accessor, nowMs);
    if (live === undefined) dead.push(accessor);
  }
  return dead;
}

/**
 * Revokes a token without its children, which become orphans. All tokens are scanned without holding the write lock:
 * the transaction itself only reads the children found, and tokens created in the meantime.
 * @throws `invalid` if it does not exist
 */
export async function revokeAlone(store: Store, accessor: string): Promise<void> {
  if ((await store.read((view) => tokenAt(view, accessor))) === undefined) throw notThere();
  const { seen, issued } = await lookThrough(store, accessor);
  await store.transact(
    async (tx) => {
      const token = await tokenAt(tx, accessor);
      if (token === undefined || !(await erase(tx, accessor))) throw notThere();
      const fresh = (await listTokens(tx)).filter((other) => !seen.has(other));
      for (const child of await issuedBy(tx, accessor, [...issued, ...fresh])) {
        // Another token of the same text issued what is dead already.
        if (child.token.parentSerial !== token.serial) continue;
        const { parent: _, parentSerial: _serial, ...orphan } = child.token;
        replaceToken(tx, child.accessor, orphan satisfies Token);
      }
    },
    { alone: true },
  );
}

const notThere = () => invalid(ownWords('token to revoke not found'), { field: 'token' });

/**
 * Scans all tokens, some at a time.
 * @returns all accessors, and the children of a token
 */
async function lookThrough(store: Store, parent: string) {
  const seen = new Set<string>();
  const issued: string[] = [];
  for (let after = ''; ; ) {
    const page = await store.read(async (view) => {
      const accessors = await listTokens(view, { after, limit: PAGE_TOKENS });
      return { accessors, issued: await issuedBy(view, parent, accessors) };
    });
    const last = page.accessors.at(-1);
    if (last === undefined) return { seen, issued };
    for (const accessor of page.accessors) seen.add(accessor);
    issued.push(...page.issued.map(({ accessor }) => accessor));
    after = last;
  }
}

async function issuedBy(
  view: View,
  parent: string,
  among: readonly string[],
): Promise<readonly TokenRecord[]> {
  const found: TokenRecord[] = [];
  const pace = new Pace();
  for (const accessor of among) {
    const token = await tokenAt(view, accessor);
    if (token?.parent === parent) found.push({ accessor, token });
    await pace.step();
  }
  return found;
}
