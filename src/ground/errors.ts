/**
 * What went wrong, for programs. Each edge (exit codes, HTTP status codes) maps every kind exactly once;
 * the text is for people and is never parsed.
 *
 * - `invalid`      a value that cannot be right; trying again cannot help
 * - `unsupported`  the key type, dialect or platform cannot do this
 * - `not-found`    the named thing does not exist
 * - `denied`       wrong key or passphrase, or the token's policies do not allow it
 * - `sealed`       no key was given, so the store stays locked
 * - `conflict`     the thing's present state forbids it (exists already, deletion not allowed, …)
 * - `corrupt`      stored bytes are damaged, or of a format that this version does not read
 * - `unavailable`  the disk, the database or the server cannot answer now
 * - `too-large`    over a declared limit
 */
export type ErrorKind =
  | 'invalid'
  | 'unsupported'
  | 'not-found'
  | 'denied'
  | 'sealed'
  | 'conflict'
  | 'corrupt'
  | 'unavailable'
  | 'too-large';

export interface ErrorDetails {
  /** The parameter (wire name, e.g. `key_version`) that the error is about. */
  readonly field?: string;
  /** What to do about it, for people: one clause, lower case, no full stop. Sent only to the command's own client. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/**
 * The one error class of the core.
 * `message` is the text that programs of the Vault family see in `errors[]`, so where
 * such a text is known it is kept to the letter; friendlier words go to `hint`.
 * Neither ever contains key material, plaintext or a passphrase.
 */
export class CofferError extends Error {
  readonly kind: ErrorKind;
  readonly field: string | undefined;
  readonly hint: string | undefined;

  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'CofferError';
    this.kind = kind;
    this.field = details.field;
    this.hint = details.hint;
  }
}

/** An error of the family, or undefined for anything else (a defect, an error of the platform). */
export function asCofferError(error: unknown): CofferError | undefined {
  return error instanceof CofferError ? error : undefined;
}

export const invalid = (message: string, details?: ErrorDetails): CofferError =>
  new CofferError('invalid', message, details);

export const notFound = (message: string, details?: ErrorDetails): CofferError =>
  new CofferError('not-found', message, details);

export const unsupported = (message: string, details?: ErrorDetails): CofferError =>
  new CofferError('unsupported', message, details);

export const conflict = (message: string, details?: ErrorDetails): CofferError =>
  new CofferError('conflict', message, details);

export const denied = (message: string, details?: ErrorDetails): CofferError =>
  new CofferError('denied', message, details);

export const sealed = (message: string, details?: ErrorDetails): CofferError =>
  new CofferError('sealed', message, details);

export const corrupt = (message: string, details?: ErrorDetails): CofferError =>
  new CofferError('corrupt', message, details);

export const unavailable = (message: string, details?: ErrorDetails): CofferError =>
  new CofferError('unavailable', message, details);
