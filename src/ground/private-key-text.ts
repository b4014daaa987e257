import { invalid } from './errors.ts';

/** Private keys as text: PEM and its relatives, identities of age, files of PuTTY. */
const PRIVATE_KEY = /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY|\bAGE-SECRET-KEY-|^PuTTY-User-Key-File-/im;
/** Member of a JSON Web Key that only private ones have. */
const PRIVATE_MEMBER = /"(?:d|k|priv)"\s*:\s*"/;

/** Whether a text contains a private key, possibly among public ones or other text. */
export const hasPrivateKey = (text: string): boolean =>
  PRIVATE_KEY.test(text) || (text.includes('"kty"') && PRIVATE_MEMBER.test(text));

/**
 * Refuses a private key where only a public one is expected: it would be sent, stored or shown unprotected.
 * @param field parameter with the text
 * @throws `invalid`, without repeating the text
 */
export function refusePrivateKey(text: string, field: string): void {
  if (hasPrivateKey(text))
    throw invalid(`${field} contains a private key`, { field, hint: 'use only the public key' });
}

/**
 * Returns the check of a parameter on the command line, before anything is sent.
 * @param expected what belongs there
 */
export const withoutPrivateKey =
  (expected: string) =>
  (text: string): void => {
    if (hasPrivateKey(text)) throw invalid('this contains a private key', { hint: `use only ${expected}` });
  };
