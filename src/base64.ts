import { CofferError } from './errors.ts';

/**
 * Decodes standard, padded base64 by the rules of Go's `encoding/base64.StdEncoding`, on which every
 * client of the Vault family was tested: CR and LF anywhere are skipped, padding is required, the URL
 * alphabet is refused, non-zero trailing bits are accepted, the empty string is zero bytes.
 * `Buffer.from(x, 'base64')` alone accepts far more, so a typing error would go unnoticed.
 *
 * @throws `invalid` with Go's text, `illegal base64 data at input byte N` (N counts from 0 over the raw
 * text, newlines included).
 */
export function decodeBase64(text: string, field?: string): Buffer {
  // The common case first: Node's decoder, and a look at whether it left anything out.
  const bytes = Buffer.from(text, 'base64');
  if (isTakenWhole(text, bytes.length)) return bytes;
  const bad = firstIllegalByte(text);
  if (bad !== undefined) {
    throw new CofferError('invalid', `illegal base64 data at input byte ${bad}`, {
      ...(field === undefined ? {} : { field }),
      hint: 'give standard base64 with padding',
    });
  }
  return Buffer.from(text.replace(/[\r\n]/g, ''), 'base64');
}

/**
 * Whether a decoder that skips what it doesn't know took every character of `text`, and all were of the standard
 * alphabet: it knows the URL alphabet too, and takes characters above U+00FF for their low byte.
 * Much faster than a regular expression on long texts.
 */
function isTakenWhole(text: string, decodedBytes: number): boolean {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (
    decodedBytes === (text.length / 4) * 3 - padding &&
    !text.includes('-') &&
    !text.includes('_') &&
    Buffer.byteLength(text) === text.length
  );
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

/** Walks as Go's decoder does; the position of its complaint, or undefined when it would accept. */
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

/** Standard base64 with padding, on one line. */
export const encodeBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
