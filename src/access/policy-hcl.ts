import { invalid } from '../ground/errors.ts';
import { type HclToken, Lexer, type Position, syntaxError } from './hcl-lexer.ts';

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
