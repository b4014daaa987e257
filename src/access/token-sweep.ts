import { invalid, ownWords } from '../ground/errors.ts';
import { Pace } from '../ground/pace.ts';
import type { Store, Transaction, View } from '../store/store.ts';
import { isUsedUp, type Token, type TokenRecord } from './token.ts';
import {
  dueNotes,
  erase,
  listTokens,
  liveToken,
  noteEnd,
  PAGE_TOKENS,
  replaceToken,
  takeNote,
  tokenAt,
} from './token-documents.ts';

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
