/** When which token is to be looked at, so that clearing away costs as much as there is to clear away: to open every token would take seconds where there are 100,000. */

import type { Transaction, View } from '../store/store.ts';
import type { Token } from './token.ts';

/** Each has tokens of about the same end. */
const COLLECTION = 'access/token-ends';

interface EndsDocument {
  readonly accessors: readonly string[];
}

/** The shortest time that tokens are put together for. */
const STEP_MS = 10 * 60 * 1000;
/** A token is looked at after its end by this part of its life at most. */
const LATE_BY = 8;
/** Tokens in a note: it is written anew with each of them. */
const NOTE_TOKENS = 512;
/** There are no more notes of one end. */
const NUMBER_DIGITS = 6;
/** The year 10000 is further off than so many digits of steps. */
const DIGITS = 10;
/** Notes that are listed in one go. */
const LISTED = 100;

/** When a token is looked at that ends then; a whole number of steps, and no sooner than it ends. */
function stepOf({ createdMs, expiresMs = 0 }: Token): number {
  const life = Math.max(1, (expiresMs - createdMs) / STEP_MS);
  const together = 2 ** Math.max(0, Math.ceil(Math.log2(life / LATE_BY)));
  return Math.ceil(expiresMs / STEP_MS / together) * together;
}

const stepName = (token: Token): string => `${String(stepOf(token)).padStart(DIGITS, '0')}-`;

/** Notes that tokens are to be looked at when they end; one that never ends is not. */
export async function noteEnd(tx: Transaction, accessor: string, token: Token): Promise<void> {
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

/** Takes back what was just noted: it is in the last note of that end, or stays until its time has come. */
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

/** The number of the last note of an end, 0 if there is none. */
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

/** Notes of tokens whose time has come, the earliest first. @param limit how many, at most. */
export async function dueNotes(view: View, nowMs: number, limit: number): Promise<readonly string[]> {
  const ids = await view.list(COLLECTION, { limit });
  return ids.filter((id) => Number(id.slice(0, DIGITS)) * STEP_MS <= nowMs);
}

/** Takes a note away. @returns the accessors in it, none when somebody else was quicker. */
export async function takeNote(tx: Transaction, id: string): Promise<readonly string[]> {
  const ref = { collection: COLLECTION, id };
  const note = await tx.get<EndsDocument>(ref);
  if (note === undefined) return [];
  tx.delete(ref);
  return note.accessors;
}
