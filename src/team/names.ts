import { createHash } from 'node:crypto';

/**
 * Names and IDs in a keyring.
 * @see docs/team-format.md
 */

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const DIGIT_BITS = 5;
const ID_BYTES = 20;
export const ID = /^[0-9a-hjkmnp-tv-z]{32}$/;

/** Computes the ID of a fact: the first 20 bytes of the hash of its content, in 32 digits. */
export function idOf(message: string | Uint8Array): string {
  const bytes = createHash('sha256').update(message).digest();
  let held = 0;
  let bits = 0;
  let id = '';
  for (const byte of bytes.subarray(0, ID_BYTES)) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= DIGIT_BITS) {
      bits -= DIGIT_BITS;
      id += DIGITS[(held >> bits) & 31];
    }
  }
  return id;
}

/** Formats an ID for reading aloud: eight groups of four digits. */
export const spelled = (id: string): string => id.replace(/.{4}(?=.)/g, '$&-');

/** Parses such an ID; undefined if it is malformed. */
export function unspelled(text: string): string | undefined {
  const id = text.trim().toLowerCase().replaceAll('-', '');
  return ID.test(id) ? id : undefined;
}

/** Shortens an ID for display. */
export const short = (id: string): string => id.slice(0, 8);

/** File names reserved by Windows, with any extension. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;

/** Whether a text is a valid name of a member or keyring. */
export const isName = (text: string): boolean =>
  /^[a-z0-9][a-z0-9-]{0,31}$/.test(text) && !RESERVED.test(text);

/** Whether a text is a valid key name. */
export const isKeyName = (text: string): boolean =>
  /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/.test(text) && !RESERVED.test(text);
