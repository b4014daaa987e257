import { CIPHERTEXT } from '../parse/operation-spec.ts';
import { beginningOf } from './beginning.ts';

/** Maximum length of the beginning of a file by which a ciphertext is recognized, in bytes. */
const BEGINNING = 64;

/** Whether a file has a ciphertext of `transit encrypt`. */
export const isCiphertext = (path: string): boolean =>
  CIPHERTEXT.test(beginningOf(path, BEGINNING)?.toString('latin1') ?? '');
