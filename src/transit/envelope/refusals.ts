import { type CofferError, corrupt, inauthentic } from '../../ground/errors.ts';

/** Errors of envelopes. The messages reveal nothing about the data. */

const BRING_BACK = 'get a fresh copy of the file';

export const NOT_AN_ENVELOPE = 'this is not a Coffer envelope';

export const notAnEnvelope = (): CofferError =>
  corrupt(NOT_AN_ENVELOPE, {
    hint: 'use a file written by "coffer transit envelope encrypt" or age',
  });

export const unknownFormat = (what: string): CofferError =>
  corrupt(`this envelope has ${what}, which this version of Coffer does not support`, {
    hint: 'install a newer Coffer',
  });

export const damaged = (how: string, hint = BRING_BACK): CofferError =>
  inauthentic(`the envelope is damaged: ${how}`, { hint });

export const truncated = (): CofferError =>
  inauthentic('the envelope is truncated: its end is missing', { hint: BRING_BACK });

export const trailing = (): CofferError => damaged('it has extra data after its end');

export const changedChunk = (index: number): CofferError =>
  damaged(`chunk ${index} was changed or moved, or is from another file`);

/**
 * Creates the error for a last chunk that does not open: a truncated one cannot be distinguished from one that was
 * changed.
 */
export const brokenEnd = (): CofferError =>
  damaged('its end is missing or was changed, or data was added after it');
