import { CofferError } from './errors.ts';

/**
 * Decodes standard, padded base64 by the rules of Go's `encoding/base64.StdEncoding`, which every Vault client was
 * tested with: CR and LF anywhere are skipped, padding is required, the URL alphabet is refused, non-zero trailing bits
 * are accepted, the empty string is zero bytes. `Buffer.from(x, 'base64')` alone accepts far more, so a typing error
 * would go unnoticed.
 *
 * @throws `invalid` with Go's text, `illegal base64 data at input byte N` (N counts from 0 over the raw text, newlines
 * included)
 */
export function decodeBase64(text: string, field?: string): Buffer {
  const bytes = decodedOneLine(text);
  if (bytes !== undefined) return bytes;
  const bad = firstIllegalByte(text);
  if (bad !== undefined) {
    throw new CofferError('invalid', `illegal base64 data at input byte ${bad}`, {
      field,
      hint: 'use standard base64 with padding',
    });
  }
  return Buffer.from(text.replace(/[\r\n]/g, ''), 'base64');
}

/**
 * Characters that Node's decoder would treat like their low byte. Testing costs nothing for strings with one byte per
 * character.
 */
const WIDE = /[\u0100-\uffff]/;
const hasUrlAlphabet = (text: string): boolean => text.includes('-') || text.includes('_');

/**
 * Decodes the common case: one valid line. Node's decoder skips unknown characters, so a text that yields the number of
 * bytes expected from its length had nothing to skip. Many times faster than checking each character here.
 */
function decodedOneLine(text: string): Buffer | undefined {
  const byteCount = bytesOfOneLine(text);
  if (byteCount === undefined) return undefined;
  const bytes = Buffer.allocUnsafe(byteCount);
  return bytes.write(text, 'base64') === byteCount ? bytes : undefined;
}

/** Returns the decoded length of one line of standard base64; undefined if it certainly is not one. */
function bytesOfOneLine(text: string): number | undefined {
  if (text.length % 4 !== 0 || hasUrlAlphabet(text) || WIDE.test(text)) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}

const LENT_BYTES = 128 * 1024;
/** Lengths for which the view is cached: creating one takes as long as decoding that many bytes. */
const KEPT_VIEWS = 1024;

class LentBuffer {
  readonly #memory = Buffer.allocUnsafeSlow(LENT_BYTES);
  readonly #views: Buffer[] = [];

  /** Returns a view of the first `length` bytes. */
  first(length: number): Buffer {
    if (length >= KEPT_VIEWS) return this.#memory.subarray(0, length);
    const known = this.#views[length];
    if (known !== undefined) return known;
    // Without holes, so that the list stays a plain array.
    for (let next = this.#views.length; next <= length; next++)
      this.#views.push(this.#memory.subarray(0, next));
    return this.first(length);
  }
}

let spare: LentBuffer | undefined;

/**
 * Decodes into a borrowed buffer, for callers that need the bytes only briefly, such as for hashing; it is overwritten
 * when `use` returns. Allocating memory for long inputs costs more than decoding and hashing them.
 * @param use must be done with the bytes when it returns
 * @param decode decodes anything that is not one plain line, or throws
 */
export function lendDecoded<T>(
  text: string,
  use: (bytes: Buffer) => T,
  decode: (text: string) => Buffer = decodeBase64,
): T {
  const byteCount = bytesOfOneLine(text);
  if (byteCount === undefined || byteCount > LENT_BYTES) return use(decode(text));
  const lent = spare ?? new LentBuffer();
  spare = undefined;
  const bytes = lent.first(byteCount);
  try {
    return bytes.write(text, 'base64') === byteCount ? use(bytes) : use(decode(text));
  } finally {
    // Buffer's own `fill` also accepts texts, and takes long to check its argument.
    Uint8Array.prototype.fill.call(bytes, 0);
    spare = lent;
  }
}

const isNewline = (code: number): boolean => code === 0x0a || code === 0x0d;
const PAD = 0x3d;

function isAlphabet(code: number): boolean {
  return (
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2b ||
    code === 0x2f
  );
}

/** Scans like Go's decoder; returns the position of its error, or undefined if it would accept the text. */
function firstIllegalByte(text: string): number | undefined {
  let inGroup = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isNewline(code)) continue;
    if (isAlphabet(code)) {
      inGroup = (inGroup + 1) % 4;
      continue;
    }
    if (code !== PAD || inGroup < 2) return i;
    let next = skipNewlines(text, i + 1);
    if (inGroup === 2) {
      if (next === text.length) return text.length;
      if (text.charCodeAt(next) !== PAD) return next - 1;
      next = skipNewlines(text, next + 1);
    }
    return next === text.length ? undefined : next;
  }
  return inGroup === 0 ? undefined : text.length - inGroup;
}

function skipNewlines(text: string, from: number): number {
  let i = from;
  while (i < text.length && isNewline(text.charCodeAt(i))) i++;
  return i;
}

/** Encodes standard base64 with padding, on one line. */
export const encodeBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
