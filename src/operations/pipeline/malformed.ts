import { type CofferError, invalid, ownWords } from '../../ground/errors.ts';

/**
 * Creates the error for parameters that cannot be parsed, such as truncated JSON. A protocol answers it like any other
 * `invalid` request.
 * @param cause not shown to callers, because parsers quote their input, which may be a secret
 */
export const malformed = (cause?: unknown): CofferError =>
  invalid(ownWords('the parameters of the request cannot be read'), {
    hint: 'send them in the format of the protocol',
    cause,
  });

/** Converts an error of reading parameters: frontends need not convert the platform's errors to ours. */
export const orMalformed = (error: unknown): unknown =>
  error instanceof SyntaxError ? malformed(error) : error;
