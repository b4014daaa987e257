/** Deletes invalid tokens. They are unusable without it; it keeps the store small. */

import type { Store, Transaction, View } from '../store/store.ts';
import { isUsedUp } from './token.ts';
import { erase, listTokens, liveToken, tokenAt } from './token-documents.ts';
import { dueNotes, noteEnd, takeNote } from './token-ends.ts';

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
