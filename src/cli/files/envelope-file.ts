import { MAGIC } from '../../transit/envelope/header.ts';
import { beginningOf } from './beginning.ts';

/** Whether a regular file that can be read begins as an envelope does. */
export const isEnvelopeFile = (path: string): boolean =>
  beginningOf(path, MAGIC.length)?.equals(MAGIC) ?? false;
