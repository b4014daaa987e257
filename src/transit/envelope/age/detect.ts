import type { Lookahead } from '../lookahead.ts';

/** Telling files of age from our own envelopes by how they begin; nothing else of age is loaded for it. */

/** What the first line of every version begins with. */
const FAMILY = 'age-encryption.org/';
export const BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----';
/** White space may stand before the first line and after the last. */
export const MAX_BLANK_BYTES = 4096;

/** Whether a source holds a file of age, of any version; it is read no further than that. */
export const isAge = async (source: Lookahead): Promise<boolean> =>
  (await source.peek(FAMILY.length)).toString('latin1') === FAMILY || isArmored(source);

/** Whether it holds one as text. No more is waited for than is needed to tell. */
export async function isArmored(source: Lookahead): Promise<boolean> {
  for (let bytes = BEGIN.length; bytes <= MAX_BLANK_BYTES + BEGIN.length; bytes += BEGIN.length) {
    const start = await source.peek(bytes);
    const text = start.toString('latin1').trimStart();
    if (text.length >= BEGIN.length) return text.startsWith(BEGIN);
    if (!BEGIN.startsWith(text) || start.length < bytes) return false;
  }
  return false;
}
