import { asCofferError, CofferError } from '../ground/errors.ts';

/** Adds a hint to the error of an input that is too large, locally or for a server. */
export const hinting = (hint: string, work: Promise<number>): Promise<number> =>
  work.catch((error: unknown) => {
    const known = asCofferError(error);
    throw known?.kind === 'too-large' ? new CofferError(known.kind, known.texts.message, { hint }) : error;
  });
