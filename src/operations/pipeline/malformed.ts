import { type CofferError, invalid } from '../../ground/errors.ts';
import { ownWords } from '../../ground/own-words.ts';

/**
 * The refusal of a request whose parameters can't be read: they are no JSON, or end in the middle. A protocol answers it as a
 * mistake of the caller, like all that is `invalid`.
 * @param cause kept from callers, because parsers quote what they can't read, and that may be a secret.
 */
export const malformed = (cause?: unknown): CofferError =>
  invalid(ownWords('the parameters of the request cannot be read'), {
    hint: 'send them in the format of the protocol',
    cause,
  });

/** What a failed attempt to read parameters comes to: who parses them need not turn the platform's errors into ours. */
export const orMalformed = (error: unknown): unknown =>
  error instanceof SyntaxError ? malformed(error) : error;
