import { type CofferError, invalid } from '../ground/errors.ts';

/** Position in a text; both count from 1, columns in UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export type HclToken = { readonly at: Position } & (
  | { readonly kind: 'identifier' | 'text'; readonly value: string }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'symbol'; readonly value: '{' | '}' | '[' | ']' | '=' | ':' | ',' }
  | { readonly kind: 'end' }
);

const MAX_MISTAKE_LENGTH = 300;

/** Creates the error for a policy. Quoted text may be of any length, so the message is truncated. */
export const policyMistake = (message: string, hint?: string): CofferError =>
  invalid(`failed to parse policy: ${message.slice(0, MAX_MISTAKE_LENGTH)}`, { field: 'policy', hint });

/** Creates the error for a position in the text. */
export const syntaxError = (at: Position, message: string): CofferError =>
  policyMistake(`line ${at.line}, column ${at.column}: ${message}`);

const SYMBOLS = new Set('{}[]=:,');
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
/** Number of hexadecimal digits that follow. */
const NUMERIC_ESCAPES: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };
const MAX_CODE_POINT = 0x10ffff;
const HEX = /^[0-9A-Fa-f]+$/;
const IDENTIFIER_START = /[A-Za-z_]/;
const IDENTIFIER_PART = /[A-Za-z0-9_.-]/;
const NUMBER_PART = /[0-9A-Za-z.+-]/;
const NUMBER = /^-?(?:0x[0-9A-Fa-f]+|(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/;

/**
 * Splits the text of a policy into tokens: the lexical syntax that HCL (version 1) and JSON share. Linear time: each
 * character is read once or twice.
 */
export class Lexer {
  readonly #text: string;
  #index = 0;
  #line = 1;
  #lineStart = 0;

  constructor(text: string) {
    this.#text = text.startsWith('\ufeff') ? text.slice(1) : text;
  }

  /**
   * Returns the next token.
   * @throws `invalid` with line and column
   */
  next(): HclToken {
    this.#skipBlanks();
    const at = this.#position();
    const char = this.#peek();
    if (char === '') return { kind: 'end', at };
    if (SYMBOLS.has(char)) {
      this.#index += 1;
      return { kind: 'symbol', value: char as '{', at };
    }
    if (char === '"') return { kind: 'text', value: this.#readText(at), at };
    if (IDENTIFIER_START.test(char)) return { kind: 'identifier', value: this.#take(IDENTIFIER_PART), at };
    if (char === '-' || (char >= '0' && char <= '9'))
      return { kind: 'number', value: this.#readNumber(at), at };
    if (char === '<') throw syntaxError(at, 'here-documents are not supported; use a quoted string');
    throw syntaxError(at, `unexpected character ${JSON.stringify(char)}`);
  }

  #peek(offset = 0): string {
    return this.#text.charAt(this.#index + offset);
  }

  #position(): Position {
    return { line: this.#line, column: this.#index - this.#lineStart + 1 };
  }

  #take(part: RegExp): string {
    const start = this.#index;
    while (this.#peek() !== '' && part.test(this.#peek())) this.#index += 1;
    return this.#text.slice(start, this.#index);
  }

  #skipBlanks(): void {
    for (let char = this.#peek(); char !== ''; char = this.#peek()) {
      if (char === '#' || (char === '/' && this.#peek(1) === '/')) this.#skipLine();
      else if (char === '/' && this.#peek(1) === '*') this.#skipBlockComment();
      else if (char === ' ' || char === '\t' || char === '\r' || char === '\n') this.#advance();
      else return;
    }
  }

  #advance(): void {
    if (this.#peek() === '\n') {
      this.#line += 1;
      this.#lineStart = this.#index + 1;
    }
    this.#index += 1;
  }

  #skipLine(): void {
    const end = this.#text.indexOf('\n', this.#index);
    this.#index = end < 0 ? this.#text.length : end;
  }

  #skipBlockComment(): void {
    const at = this.#position();
    const end = this.#text.indexOf('*/', this.#index + 2);
    if (end < 0) throw syntaxError(at, 'comment not terminated');
    while (this.#index < end + 2) this.#advance();
  }

  #readText(at: Position): string {
    this.#index += 1;
    let value = '';
    for (;;) {
      const start = this.#index;
      while (isPlain(this.#text.charCodeAt(this.#index))) this.#index += 1;
      value += this.#text.slice(start, this.#index);
      const char = this.#peek();
      if (char === '"') {
        this.#index += 1;
        return value;
      }
      if (char !== '\\') throw syntaxError(at, 'string not closed on its line');
      value += this.#readEscape();
    }
  }

  #readEscape(): string {
    const at = this.#position();
    const letter = this.#peek(1);
    const simple = Object.hasOwn(SIMPLE_ESCAPES, letter) ? SIMPLE_ESCAPES[letter] : undefined;
    if (simple !== undefined) {
      this.#index += 2;
      return simple;
    }
    const digits = Object.hasOwn(NUMERIC_ESCAPES, letter) ? (NUMERIC_ESCAPES[letter] ?? 0) : 0;
    const hex = this.#text.slice(this.#index + 2, this.#index + 2 + digits);
    if (
      digits === 0 ||
      hex.length !== digits ||
      !HEX.test(hex) ||
      Number.parseInt(hex, 16) > MAX_CODE_POINT
    ) {
      throw syntaxError(at, 'unknown escape in a string');
    }
    this.#index += 2 + digits;
    return digits === 4
      ? String.fromCharCode(Number.parseInt(hex, 16))
      : String.fromCodePoint(Number.parseInt(hex, 16));
  }

  #readNumber(at: Position): number {
    const text = this.#take(NUMBER_PART);
    const value = NUMBER.test(text) ? Number(text.replace(/^-(0x.*)$/i, '$1')) : Number.NaN;
    if (!Number.isFinite(value)) throw syntaxError(at, `${JSON.stringify(text)} is not a number`);
    return /^-0x/i.test(text) ? -value : value;
  }
}

/** Whether a character is neither a control character, a quote, a backslash, nor the end of the text. */
const isPlain = (code: number): boolean => code >= 0x20 && code !== 0x22 && code !== 0x5c;
