import { createHash } from 'node:crypto';

/** How the things of a keyring are called. @see docs/team-format.md */

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const DIGIT_BITS = 5;
const ID_BYTES = 20;
export const ID = /^[0-9a-hjkmnp-tv-z]{32}$/;

/** What names a fact: the first 20 bytes of a hash of what it says, in 32 digits. */
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

/** An id as it is told to somebody: eight times four digits. */
export const spelled = (id: string): string => id.replace(/.{4}(?=.)/g, '$&-');

/** The id that somebody was told; undefined for what is none. */
export function unspelled(text: string): string | undefined {
  const id = text.trim().toLowerCase().replaceAll('-', '');
  return ID.test(id) ? id : undefined;
}

/** How an id is shown where it need not be typed. */
export const short = (id: string): string => id.slice(0, 8);

/** Windows takes no files of these names, whatever follows a dot. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;

/** What members and keyrings may be called. */
export const isName = (text: string): boolean =>
  /^[a-z0-9][a-z0-9-]{0,31}$/.test(text) && !RESERVED.test(text);

/** What keys may be called. */
export const isKeyName = (text: string): boolean =>
  /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/.test(text) && !RESERVED.test(text);
