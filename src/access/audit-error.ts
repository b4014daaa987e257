import { placesOfOwnWords } from '../ground/errors.ts';
import type { JsonObject } from '../ground/objects.ts';
import { Occurrences } from '../ground/occurrences.ts';

const MAX_LENGTH = 2048;
/**
 * Minimum length of a value that is replaced anywhere; shorter ones are parts of other words, and only replaced within
 * quotes.
 */
const LEAST_REPEATED = 4;
/**
 * Minimum length of a prefix that counts as a value, because errors truncate long values. This length rules out
 * coincidence.
 */
const LEAST_BEGINNING = 16;

/** Selects the sent values that an error may repeat, and how to hide them. */
interface Hiding {
  readonly sent: JsonObject;
  /** Whether the parameter is known to the operation, so that its errors can repeat it, and is hidden in the record. */
  isHidden(name: string, value: unknown): boolean;
  /** Whether a member name within a value is known to the operation, and not data itself. */
  isName(name: string): boolean;
  /** Whether a value equals the name of a parameter of the operation. */
  isParameter(value: string): boolean;
  hash(value: string): string;
}

/**
 * Replaces each sent value in an error text by its hash. All values are searched in the original text at once: a
 * replacement is never searched again, and the cost is linear in the size of the request. Coffer's own words are not
 * replaced.
 */
export function hiddenError(error: string, hiding: Hiding): string {
  const isCut = error.length > MAX_LENGTH;
  const text = error.slice(0, MAX_LENGTH);
  const occurrences = new Occurrences(text);
  const values = new Map<string, string>();
  for (const value of textsIn(hiding)) {
    if (hiding.isParameter(value)) continue;
    mark(occurrences, value);
    if (!QUOTED_OTHERWISE.test(value)) continue;
    const quoted = JSON.stringify(value).slice(1, -1);
    if (mark(occurrences, quoted)) values.set(quoted, value);
  }
  // The last characters of a text that is cut are left out: they may begin a secret, too short to be recognized.
  const end = isCut ? MAX_LENGTH - LEAST_BEGINNING : text.length;
  const own = maskOf(text);
  let shown = '';
  let done = 0;
  const showUpTo = (to: number): void => {
    shown += text.slice(done, Math.min(to, end));
    done = to;
  };
  for (const found of occurrences.marked()) {
    const piece = text.slice(found.start, found.end);
    const isShort = piece.startsWith('"') && piece.length < LEAST_REPEATED + 2 && piece.endsWith('"');
    const [from, to] = isShort ? [found.start + 1, found.end - 1] : [found.start, found.end];
    const value = text.slice(from, to);
    for (const [start, behind] of unmasked(own, from, to)) {
      if (start >= end) break;
      showUpTo(start);
      shown += hiding.hash(values.get(value) ?? value);
      done = behind;
    }
  }
  showUpTo(text.length);
  return shown.slice(0, MAX_LENGTH);
}

/** JSON encodes them differently. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const QUOTED_OTHERWISE = /["\\\u0000-\u001f\ud800-\udfff]/;

const mark = (occurrences: Occurrences, written: string): boolean =>
  written.length >= LEAST_REPEATED
    ? occurrences.mark(written, LEAST_BEGINNING)
    : occurrences.mark(`"${written}"`);

/** Yields all texts and numbers of the request, at any depth. */
function* textsIn({ sent, isHidden, isName }: Hiding): Generator<string> {
  const waiting: unknown[] = [];
  for (const name of Object.keys(sent)) if (isHidden(name, sent[name])) waiting.push(sent[name]);
  for (let value = waiting.pop(); waiting.length > 0 || value !== undefined; value = waiting.pop()) {
    if (typeof value === 'object' && value !== null) {
      if (!Array.isArray(value)) yield* Object.keys(value).filter((name) => !isName(name));
      for (const inner of Object.values(value)) waiting.push(inner);
    } else if (value !== undefined && value !== null && typeof value !== 'boolean') {
      const text = String(value);
      if (text !== '') yield text;
    }
  }
}

function maskOf(text: string): Uint8Array {
  const mask = new Uint8Array(text.length);
  for (const { start, end } of placesOfOwnWords(text)) mask.fill(1, start, end);
  return mask;
}

/** Yields the parts of a range that are not Coffer's own words. */
function* unmasked(mask: Uint8Array, from: number, to: number): Generator<readonly [number, number]> {
  for (let at = from; at < to; ) {
    if (mask[at] === 1) {
      at += 1;
      continue;
    }
    const next = mask.indexOf(1, at);
    const end = next === -1 || next > to ? to : next;
    yield [at, end];
    at = end;
  }
}
