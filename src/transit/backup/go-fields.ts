import { decodeBase64 } from '../../ground/base64.ts';
import { type CofferError, failingAs, invalid } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { withoutLast } from '../../ground/trim.ts';
import type { GoObject, GoValue } from './go-json.ts';

/** Go's zero value of `time.Time`. */
export const GO_ZERO_TIME = '0001-01-01T00:00:00Z';

const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Parses a time as Go's `time.Time` does in JSON: RFC 3339 with a zone, at most nanoseconds.
 * @returns the text as Go would print it (same zone, no trailing zeros in the fraction); undefined if it is malformed
 */
export function canonicalGoTime(text: string): string | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = '', zone = ''] =
    match;
  const calendar = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const parsed = new Date(`${calendar}Z`);
  // Date carries what is out of range over into the next unit; then the text no longer agrees.
  if (Number.isNaN(parsed.getTime()) || !parsed.toISOString().startsWith(calendar)) return undefined;
  const nanoseconds = withoutLast(fraction.slice(0, 9), '0');
  const canonicalZone = zone === '+00:00' || zone === '-00:00' ? 'Z' : zone;
  return calendar + (nanoseconds === '' ? '' : `.${nanoseconds}`) + canonicalZone;
}

/**
 * Members of a JSON object as a Go struct reads them: names are case-insensitive, the last duplicate wins, missing and
 * `null` mean the zero value, unknown members are ignored. Errors name the path of a wrong value in the document, never
 * its content, which may be a key.
 */
export class GoFields {
  readonly path: string;
  readonly #members = new Map<string, GoValue>();

  private constructor(object: GoObject, path: string) {
    this.path = path;
    for (const [name, value] of Object.entries(object)) this.#members.set(name.toLowerCase(), value);
  }

  /**
   * Wraps a value.
   * @throws `invalid` if it is not an object
   */
  static of(value: GoValue | undefined, path: string): GoFields {
    if (!isObject(value)) throw misfit(path, 'an object');
    return new GoFields(value, path);
  }

  /** Whether the member is present, even as `null`. */
  has(name: string): boolean {
    return this.#members.has(name.toLowerCase());
  }

  text(name: string): string {
    return this.#textOrAbsent(name) ?? '';
  }

  flag(name: string): boolean {
    return (
      this.#typed(name, 'true or false', (value) => (typeof value === 'boolean' ? value : undefined)) ?? false
    );
  }

  /** Reads an integer of at most 53 bits. */
  integer(name: string): number {
    const value = this.big(name) ?? 0n;
    if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER)) {
      throw misfit(this.#pathOf(name), 'a whole number of at most 53 bits');
    }
    return Number(value);
  }

  /** Reads an integer of any size. */
  big(name: string): bigint | undefined {
    return this.#typed(name, 'a whole number', (value) => (typeof value === 'bigint' ? value : undefined));
  }

  /** Reads an integer, or a text where Go would have a number. */
  integerOrText(name: string): number | string {
    return typeof this.#members.get(name.toLowerCase()) === 'string' ? this.text(name) : this.integer(name);
  }

  /** Reads base64 text; empty is the same as absent. The caller owns the bytes. */
  bytes(name: string): Buffer | undefined {
    const text = this.text(name);
    return text === '' ? undefined : decoded(text, this.#pathOf(name));
  }

  /** Reads a time, in the text that Go would print. */
  time(name: string): string {
    const text = this.#textOrAbsent(name);
    if (text === undefined) return GO_ZERO_TIME;
    const time = canonicalGoTime(text);
    if (time === undefined) throw misfit(this.#pathOf(name), 'a time in the form of RFC 3339');
    return time;
  }

  /** Reads an object, or a text where Go would have one. */
  objectOrText(name: string): GoFields | string | undefined {
    return typeof this.#members.get(name.toLowerCase()) === 'string' ? this.text(name) : this.object(name);
  }

  object(name: string): GoFields | undefined {
    const value = this.#members.get(name.toLowerCase());
    return value === undefined || value === null ? undefined : GoFields.of(value, this.#pathOf(name));
  }

  /** Returns the members of an object whose names are data and case-sensitive. */
  entries(name: string): readonly (readonly [string, GoValue])[] {
    const value = this.#typed(name, 'an object', (member) => (isObject(member) ? member : undefined));
    return value === undefined ? [] : Object.entries(value);
  }

  list(name: string): readonly GoValue[] | undefined {
    return this.#typed(name, 'an array', (value) =>
      Array.isArray(value) ? (value as GoValue[]) : undefined,
    );
  }

  /** Reads a list of base64 texts. */
  bytesList(name: string): readonly Buffer[] | undefined {
    return this.list(name)?.map((value, index) => {
      const path = `${this.#pathOf(name)}.${index}`;
      if (typeof value !== 'string') throw misfit(path, 'base64');
      return decoded(value, path);
    });
  }

  /** Reads a list of integers of any size. */
  bigList(name: string): readonly bigint[] {
    return (this.list(name) ?? []).map((value, index) => {
      if (typeof value !== 'bigint') throw misfit(`${this.#pathOf(name)}.${index}`, 'a whole number');
      return value;
    });
  }

  #textOrAbsent(name: string): string | undefined {
    return this.#typed(name, 'a string', (value) => (typeof value === 'string' ? value : undefined));
  }

  #pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  #typed<T>(name: string, wanted: string, as: (value: GoValue) => T | undefined): T | undefined {
    const value = this.#members.get(name.toLowerCase());
    if (value === undefined || value === null) return undefined;
    const typed = as(value);
    if (typed === undefined) throw misfit(this.#pathOf(name), wanted);
    return typed;
  }
}

const decoded = (text: string, path: string): Buffer =>
  failingAs(
    () => misfit(path, 'base64'),
    () => decodeBase64(text),
  );

const misfit = (path: string, wanted: string): CofferError =>
  invalid(`backup cannot be read: ${path === '' ? 'the document' : path} is not ${wanted}`, {
    field: 'backup',
    hint: 'use the unchanged output of "coffer transit backup NAME"',
  });
