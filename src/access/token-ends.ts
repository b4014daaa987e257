/**
 * Index of the times at which tokens must be checked, so that the cost of a sweep depends on the number of expired
 * tokens: opening every token would take seconds with 100,000 of them.
 */

import type { Transaction, View } from '../store/store.ts';
import type { Token } from './token.ts';

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
export async function dueNotes(view: View, nowMs: number, limit: number): Promise<readonly string[]> {
  const ids = await view.list(COLLECTION, { limit });
  return ids.filter((id) => Number(id.slice(0, DIGITS)) * STEP_MS <= nowMs);
}

/**
 * Deletes a note.
 * @returns its accessors; none if another process was faster
 */
export async function takeNote(tx: Transaction, id: string): Promise<readonly string[]> {
  const ref = { collection: COLLECTION, id };
  const note = await tx.get<EndsDocument>(ref);
  if (note === undefined) return [];
  tx.delete(ref);
  return note.accessors;
}
