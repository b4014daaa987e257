/**
 * Kind of an error, for programs. Each frontend (exit codes, HTTP status codes) maps every kind exactly once; the text
 * is for people and is never parsed.
 *
 * - `invalid`      a value that cannot be right; trying again cannot help
 * - `unsupported`  the key type, dialect or platform cannot do this
 * - `not-found`    the named object does not exist
 * - `denied`       wrong key or passphrase, or the token's policies do not allow it
 * - `sealed`       no key was given, so the store stays locked
 * - `conflict`     the object's current state forbids it (deletion not allowed, a location that is not empty, …)
 * - `exists`       the object to create already exists, and was left unchanged
 * - `inauthentic`  the ciphertext was altered, or made with another key
 * - `corrupt`      stored bytes are damaged, or of a format that this version does not read
 * - `unavailable`  the disk, the database or the server cannot respond now; nothing was changed
 * - `unconfirmed`  the change was made, or may have been, and a later step failed: check the result, never simply
 *   repeat it
 * - `too-large`    over a declared limit
 */
export type ErrorKind = (typeof ERROR_KINDS)[number];

export const ERROR_KINDS = [
  'invalid',
  'unsupported',
  'not-found',
  'denied',
  'sealed',
  'conflict',
  'exists',
  'inauthentic',
  'corrupt',
  'unavailable',
  'unconfirmed',
  'too-large',
] as const;

/** Location of data on the machine or network that the program runs in. */
export type Place = { readonly file: string } | DatabasePlace;

export interface DatabasePlace {
  /** Address, without the password. */
  readonly database: string;
  /** Part of the database; absent for the whole. */
  readonly part?: string;
}

/** Internal text for operators, with its replacement for other readers. */
export interface Aside {
  readonly inside: string;
  readonly outside: string;
}

type MessagePart = string | Place | Aside;

/** Text with marked locations, so that it can be printed without them. Plain JSON. */
export type Text = string | readonly MessagePart[];

/** Template tag for a text with locations: placed`${{ file }} is damaged`. */
export const placed = (
  words: TemplateStringsArray,
  ...values: readonly (Text | Place | Aside | number)[]
): Text =>
  words.flatMap((word, index) => {
    const value = values[index - 1] ?? '';
    return [...(typeof value === 'number' ? [String(value)] : [value].flat()), word];
  });

/** Formats a location. */
export function printPlace(place: Place): string {
  if ('file' in place) return place.file;
  return place.part === undefined ? place.database : `${place.database} (${place.part})`;
}

/**
 * Prints a text.
 * @param name formats a location or internal text; default: as for operators
 */
export const printText = (text: Text, name: (part: Place | Aside) => string = insideName): string =>
  typeof text === 'string'
    ? text
    : text.map((part) => (typeof part === 'string' ? part : name(part))).join('');

const insideName = (part: Place | Aside): string => ('inside' in part ? part.inside : printPlace(part));

const isPlace = (part: MessagePart): part is Place => typeof part === 'object' && !('inside' in part);

/**
 * Properties of an error in addition to its message. Members may be undefined, so that callers pass on what they have.
 * @see docs/decisions/0279
 */
export interface ErrorDetails {
  /** Parameter (wire name, e.g. `key_version`) that the error is about. */
  readonly field?: string | undefined;
  /** Suggested action for users: one clause, lower case, no full stop. Sent only to Coffer's own client. */
  readonly hint?: Text | undefined;
  readonly cause?: unknown;
  /**
   * For `not-found`: the resource in the path does not exist, which clients recognize by the status, for any method.
   */
  readonly isGone?: true | undefined;
}

/**
 * Error class of the core. `message` is the text in `errors[]` for Vault clients, so known texts are kept to the
 * letter; friendlier words are in `hint`. Neither ever contains key material, plaintext or a passphrase.
 */
export class CofferError extends Error {
  readonly kind: ErrorKind;
  readonly field: string | undefined;
  readonly hint: string | undefined;
  readonly isGone: boolean;
  /** File or database that the message names. */
  readonly where: Place | undefined;
  /** Message and hint with their marked locations. */
  readonly texts: { readonly message: Text; readonly hint?: Text };

  constructor(kind: ErrorKind, message: Text, { field, hint, cause, isGone }: ErrorDetails = {}) {
    super(printText(message), cause === undefined ? undefined : { cause });
    this.name = 'CofferError';
    this.kind = kind;
    this.field = field;
    this.isGone = isGone === true;
    this.hint = hint === undefined ? undefined : printText(hint);
    this.where = typeof message === 'string' ? undefined : message.find(isPlace);
    this.texts = hint === undefined ? { message } : { message, hint };
    // Node prints the enumerable members of an uncaught error.
    const hidden = [
      'isGone',
      'where',
      'texts',
      ...(['field', 'hint'] as const).filter((name) => this[name] === undefined),
    ];
    for (const name of hidden) Object.defineProperty(this, name, { enumerable: false });
  }
}

/** Returns a CofferError; undefined for anything else (a defect, an error of the platform). */
export function asCofferError(error: unknown): CofferError | undefined {
  return error instanceof CofferError ? error : undefined;
}

/** Creates a handler that throws another error in place of one. */
export const throwing =
  (replaced: (error: unknown) => unknown) =>
  (error: unknown): never => {
    throw replaced(error);
  };

/** Returns the result of work; an error of it is replaced by another. */
export function failingAs<T>(replaced: (error: unknown) => unknown, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw replaced(error);
  }
}

/** Returns a CofferError, of one of the kinds if any are given; anything else is thrown. */
export function expected(error: unknown, ...kinds: readonly ErrorKind[]): CofferError {
  const known = asCofferError(error);
  if (known === undefined || (kinds.length > 0 && !kinds.includes(known.kind))) throw error;
  return known;
}

/** Creates a handler that returns a value in place of an error that `expected` returns. */
export const refusedAs =
  <T>(value: T, ...kinds: readonly ErrorKind[]) =>
  (error: unknown): T => {
    expected(error, ...kinds);
    return value;
  };

/** Returns the result of work, or another value if it throws an error that `expected` returns. */
export function unlessRefused<T, O>(work: () => T, otherwise: O, ...kinds: readonly ErrorKind[]): T | O {
  try {
    return work();
  } catch (error) {
    return refusedAs(otherwise, ...kinds)(error);
  }
}

/** Returns the same error with another hint; the original one is its cause. */
export const withOtherHint = (error: CofferError, hint: Text): CofferError =>
  new CofferError(error.kind, error.texts.message, {
    field: error.field,
    hint,
    cause: error,
    isGone: error.isGone ? true : undefined,
  });

const errorOf =
  (kind: ErrorKind) =>
  (message: Text, details?: ErrorDetails): CofferError =>
    new CofferError(kind, message, details);

export const invalid = errorOf('invalid');
export const notFound = errorOf('not-found');
export const unsupported = errorOf('unsupported');
export const conflict = errorOf('conflict');
export const exists = errorOf('exists');
export const inauthentic = errorOf('inauthentic');
export const denied = errorOf('denied');
export const sealed = errorOf('sealed');
export const corrupt = errorOf('corrupt');
export const unavailable = errorOf('unavailable');
export const unconfirmed = errorOf('unconfirmed');

/** Converts an error after `made` was done. An unexpected error is returned unchanged. */
export function failedAfter(made: string, error: unknown, hint: Text): unknown {
  const known = asCofferError(error);
  if (known === undefined || known.kind === 'unconfirmed') return error;
  return unconfirmed(placed`${made}, but ${known.texts.message}`, { cause: error, hint });
}

const words = new Set<string>();

/**
 * Declares a text of an error that contains no request data, and that operators search for in the audit log. It is
 * never hashed there, even if a client sends the same text as a value. Everything not declared like this is treated as
 * request data.
 * @see docs/decisions/0270
 * @see docs/decisions/0265
 */
export function ownWords<T extends string>(text: T): T {
  words.add(text);
  return text;
}

/** Yields the occurrences of declared texts, unsorted. */
export function* placesOfOwnWords(text: string): Generator<{ readonly start: number; readonly end: number }> {
  for (const word of words) {
    for (let start = text.indexOf(word); start !== -1; start = text.indexOf(word, start + word.length)) {
      yield { start, end: start + word.length };
    }
  }
}

/** Returns another value if looking fails, for whatever reason: the caller goes on without an answer. */
export function attempt<T>(look: () => T): T | undefined;
export function attempt<T, O>(look: () => T, otherwise: O): T | O;
export function attempt<T, O>(look: () => T, otherwise?: O): T | O | undefined {
  try {
    return look();
  } catch {
    return otherwise;
  }
}

/** Returns what work with a resource returns, and closes the resource in any case. */
export async function closing<R extends { close(): unknown } | undefined, T>(
  resource: R,
  work: (resource: R) => T | Promise<T>,
): Promise<T> {
  try {
    return await work(resource);
  } finally {
    await resource?.close();
  }
}
