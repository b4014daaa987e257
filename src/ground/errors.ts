/**
 * What went wrong, for programs. Each edge (exit codes, HTTP status codes) maps every kind exactly once;
 * the text is for people and is never parsed.
 *
 * - `invalid`      a value that cannot be right; trying again cannot help
 * - `unsupported`  the key type, dialect or platform cannot do this
 * - `not-found`    the named thing does not exist
 * - `denied`       wrong key or passphrase, or the token's policies do not allow it
 * - `sealed`       no key was given, so the store stays locked
 * - `conflict`     the thing's present state forbids it (deletion not allowed, a place that is not empty, …)
 * - `exists`       what is to be made is there already, and was left as it is
 * - `inauthentic`  what is to be decrypted was altered, or another key made it
 * - `corrupt`      stored bytes are damaged, or of a format that this version does not read
 * - `unavailable`  the disk, the database or the server cannot answer now; nothing was changed
 * - `unconfirmed`  the change is made, or may be, and something after that failed: to be looked at, never simply repeated
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

/** Where something is kept on the machine or in the network that the program runs in. */
export type Place = { readonly file: string } | DatabasePlace;

export interface DatabasePlace {
  /** Its address, without the password. */
  readonly database: string;
  /** What in it is meant, unless it is the whole of it. */
  readonly part?: string;
}

/** Words for those who run the program, and what everybody else reads in their stead. */
export interface Aside {
  readonly inside: string;
  readonly outside: string;
}

type Part = string | Place | Aside;

/** A text of which the places are told apart, so that others can be told it without them. Plain JSON. */
export type Text = string | readonly Part[];

/** The tag of a text with places in it: placed`${{ file }} is damaged`. */
export const placed = (
  words: TemplateStringsArray,
  ...values: readonly (Text | Place | Aside | number)[]
): Text =>
  words.flatMap((word, index) => {
    const value = values[index - 1] ?? '';
    return [...(typeof value === 'number' ? [String(value)] : [value].flat()), word];
  });

/** A place as people write it. */
export function printPlace(place: Place): string {
  if ('file' in place) return place.file;
  return place.part === undefined ? place.database : `${place.database} (${place.part})`;
}

/** @param name what stands for a place or an aside; without it, what those read who run the program. */
export const printText = (text: Text, name: (part: Place | Aside) => string = insideName): string =>
  typeof text === 'string'
    ? text
    : text.map((part) => (typeof part === 'string' ? part : name(part))).join('');

const insideName = (part: Place | Aside): string => ('inside' in part ? part.inside : printPlace(part));

const isPlace = (part: Part): part is Place => typeof part === 'object' && !('inside' in part);

export interface ErrorDetails {
  /** The parameter (wire name, e.g. `key_version`) that the error is about. */
  readonly field?: string | undefined;
  /** What to do about it, for people: one clause, lower case, no full stop. Sent only to the command's own client. */
  readonly hint?: Text | undefined;
  readonly cause?: unknown;
  /** Of `not-found`: what the path goes through is not there, and clients tell by the status, whatever they meant to do there. */
  readonly isGone?: true;
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
  readonly isGone: boolean;
  /** The file or database that the message names. */
  readonly where: Place | undefined;
  /** Message and hint as they were given, with their places told apart. */
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
  }
}

/** An error of the family, or undefined for anything else (a defect, an error of the platform). */
export function asCofferError(error: unknown): CofferError | undefined {
  return error instanceof CofferError ? error : undefined;
}

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

/** What failed after `made` was made. An error that nobody foresaw stays what it is. */
export function failedAfter(made: string, error: unknown, hint: Text): unknown {
  const known = asCofferError(error);
  if (known === undefined || known.kind === 'unconfirmed') return error;
  return unconfirmed(placed`${made}, but ${known.texts.message}`, { cause: error, hint });
}
