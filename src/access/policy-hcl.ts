import { type CofferError, invalid } from '../ground/errors.ts';

/** Position in a text; both count from 1, columns in UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

type HclToken = { readonly at: Position } & (
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
class Lexer {
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

/** Member of a body: `key = value`, or a block `key "label" { … }`, whose label is the second key. */
export interface HclEntry {
  readonly keys: readonly string[];
  readonly value: HclValue;
  readonly at: Position;
}

export interface Body {
  readonly kind: 'body';
  readonly entries: readonly HclEntry[];
}

export type HclValue =
  | Body
  | { readonly kind: 'list'; readonly items: readonly HclValue[] }
  | { readonly kind: 'scalar'; readonly value: string | number | boolean | null };

const MAX_POLICY_LENGTH = 1_048_576;
const MAX_DEPTH = 16;
/** Maximum length of a piece of the policy that an error quotes, in characters. */
const MAX_SHOWN = 40;

/**
 * Parses the text of a policy into its members, in order and with duplicates. Supports both formats of Vault: HCL
 * (version 1, without here-documents and interpolation) and JSON, distinguished by the first character. Time and memory
 * are linear in the text.
 *
 * @throws `invalid` with line and column of the first mistake
 * @see docs/decisions/0052
 */
export function parseBody(text: string): Body {
  if (text.length > MAX_POLICY_LENGTH) {
    throw invalid(`failed to parse policy: it is longer than ${MAX_POLICY_LENGTH} characters`, {
      field: 'policy',
    });
  }
  return new HclParser(text).parse();
}

class HclParser {
  readonly #lexer: Lexer;
  #token: HclToken;
  #depth = 0;

  constructor(text: string) {
    this.#lexer = new Lexer(text);
    this.#token = this.#lexer.next();
  }

  parse(): Body {
    const body = this.#isSymbol('{')
      ? this.#jsonObject()
      : { kind: 'body' as const, entries: this.#entries() };
    if (this.#token.kind !== 'end') throw this.#unexpected('the end');
    return body;
  }

  #advance(): void {
    this.#token = this.#lexer.next();
  }

  #isSymbol(symbol: string): boolean {
    return this.#token.kind === 'symbol' && this.#token.value === symbol;
  }

  #skipSymbol(symbol: string): boolean {
    const found = this.#isSymbol(symbol);
    if (found) this.#advance();
    return found;
  }

  #expectSymbol(symbol: string): void {
    if (!this.#skipSymbol(symbol)) throw this.#unexpected(JSON.stringify(symbol));
  }

  #unexpected(wanted: string): Error {
    return syntaxError(this.#token.at, `expected ${wanted}, found ${printToken(this.#token)}`);
  }

  /** Runs `read` one nesting level deeper. */
  #nested<T>(read: () => T): T {
    if (this.#depth >= MAX_DEPTH)
      throw syntaxError(this.#token.at, `blocks and lists are nested deeper than ${MAX_DEPTH} levels`);
    this.#depth += 1;
    const result = read();
    this.#depth -= 1;
    return result;
  }

  /** Reads HCL members up to a closing brace or the end; commas between them are optional. */
  #entries(): HclEntry[] {
    const entries: HclEntry[] = [];
    while (this.#token.kind === 'identifier' || this.#token.kind === 'text') {
      entries.push(this.#entry());
      this.#skipSymbol(',');
    }
    return entries;
  }

  #entry(): HclEntry {
    const { at } = this.#token;
    const keys: string[] = [];
    while (this.#token.kind === 'identifier' || this.#token.kind === 'text') {
      keys.push(this.#token.value);
      this.#advance();
    }
    if (this.#isSymbol('{')) return { keys, value: this.#block(), at };
    if (keys.length > 1) throw this.#unexpected('"{"');
    if (!this.#skipSymbol('=')) throw this.#unexpected(`"=" or "{" after ${shown(keys[0] ?? '')}`);
    return { keys, value: this.#value(), at };
  }

  #block(): Body {
    return this.#nested(() => {
      this.#expectSymbol('{');
      const entries = this.#entries();
      this.#expectSymbol('}');
      return { kind: 'body', entries };
    });
  }

  #value(): HclValue {
    if (this.#isSymbol('{')) return this.#block();
    if (this.#isSymbol('[')) return this.#list(() => this.#value(), true);
    return this.#scalar();
  }

  #list(item: () => HclValue, trailingComma: boolean): HclValue {
    return this.#nested(() => {
      this.#expectSymbol('[');
      const items: HclValue[] = [];
      while (!this.#isSymbol(']')) {
        items.push(item());
        if (!this.#skipSymbol(',')) break;
        if (!trailingComma && this.#isSymbol(']')) throw this.#unexpected('a value');
      }
      this.#expectSymbol(']');
      return { kind: 'list', items };
    });
  }

  #scalar(): HclValue {
    const token = this.#token;
    if (token.kind === 'text' || token.kind === 'number') {
      this.#advance();
      return { kind: 'scalar', value: token.value };
    }
    const word = token.kind === 'identifier' ? token.value : undefined;
    if (word === 'true' || word === 'false' || word === 'null') {
      this.#advance();
      return { kind: 'scalar', value: word === 'null' ? null : word === 'true' };
    }
    throw this.#unexpected('a quoted string, a number, true, false, "[" or "{"');
  }

  #jsonObject(): Body {
    return this.#nested(() => {
      this.#expectSymbol('{');
      const entries: HclEntry[] = [];
      if (this.#skipSymbol('}')) return { kind: 'body', entries };
      do entries.push(this.#jsonMember());
      while (this.#skipSymbol(','));
      this.#expectSymbol('}');
      return { kind: 'body', entries };
    });
  }

  #jsonMember(): HclEntry {
    const token = this.#token;
    if (token.kind !== 'text') throw this.#unexpected('a quoted name');
    this.#advance();
    this.#expectSymbol(':');
    return { keys: [token.value], value: this.#jsonValue(), at: token.at };
  }

  #jsonValue(): HclValue {
    if (this.#isSymbol('{')) return this.#jsonObject();
    if (this.#isSymbol('[')) return this.#list(() => this.#jsonValue(), false);
    return this.#scalar();
  }
}

function printToken(token: HclToken): string {
  if (token.kind === 'end') return 'the end of the policy';
  return JSON.stringify(shown(String(token.value)));
}

const shown = (text: string): string => text.slice(0, MAX_SHOWN);
