import type { Lookahead } from '../ports.ts';

/** Distinguishes age files from Coffer's own envelopes by their first bytes, without loading the age code. */

/** First line of every version of the format, up to the version. */
const FAMILY = 'age-encryption.org/';
export const BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----';
/** Maximum white space before the first line and after the last, in bytes. */
export const MAX_BLANK_BYTES = 4096;

/** Whether a source is an age file of any version; reads only as far as needed. */
export const isAge = async (source: Lookahead): Promise<boolean> =>
  (await source.peek(FAMILY.length)).toString('latin1') === FAMILY || isArmored(source);

/** Whether a source is an armored age file; waits for no more bytes than needed. */
export async function isArmored(source: Lookahead): Promise<boolean> {
  for (let bytes = BEGIN.length; bytes <= MAX_BLANK_BYTES + BEGIN.length; bytes += BEGIN.length) {
    const start = await source.peek(bytes);
    const text = start.toString('latin1').trimStart();
    if (text.length >= BEGIN.length) return text.startsWith(BEGIN);
    if (!BEGIN.startsWith(text) || start.length < bytes) return false;
  }
  return false;
}
