/** Regular expressions of JavaScript, read into trees: as much of their syntax as stands in our source. */

/** Characters by their codes, from and up to and including. */
export type Range = readonly [number, number];

export type Tree =
  | { readonly kind: 'characters'; readonly ranges: readonly Range[] }
  | { readonly kind: 'sequence'; readonly parts: readonly Tree[] }
  | { readonly kind: 'choice'; readonly parts: readonly Tree[] }
  | { readonly kind: 'repeat'; readonly body: Tree; readonly least: number; readonly most: number }
  /** The beginning of the text or a line; anything else that consumes nothing and may fail. */
  | { readonly kind: 'begin' | 'condition' }
  | { readonly kind: 'look'; readonly body: Tree; readonly isBehind: boolean }
  /** A group again. */
  | { readonly kind: 'again'; readonly group: string };

export const LAST = 0x10ffff;
const DIGITS: readonly Range[] = [[0x30, 0x39]];
const WORDS: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const SPACES: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_ENDS: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];
const CONTROLS: readonly Range[] = [
  [0, 0x1f],
  [0x7f, 0x9f],
];

/** All other characters. */
export function others(ranges: readonly Range[]): readonly Range[] {
  const found: Range[] = [];
  let from = 0;
  for (const [low, high] of [...ranges].sort(([a], [b]) => a - b)) {
    if (low > from) found.push([from, low - 1]);
    from = Math.max(from, high + 1);
  }
  return from > LAST ? found : [...found, [from, LAST]];
}

const CLASSES: Readonly<Record<string, readonly Range[]>> = {
  d: DIGITS,
  D: others(DIGITS),
  w: WORDS,
  W: others(WORDS),
  s: SPACES,
  S: others(SPACES),
};
const LETTERS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, v: 11, f: 12, 0: 0 };
/** Of scripts more than is in them: who takes more goes more ways. */
const WIDE: readonly Range[] = [[0x80, LAST]];
const PROPERTIES: Readonly<Record<string, readonly Range[]>> = {
  Cc: CONTROLS,
  Cs: [[0xd800, 0xdfff]],
  L: [[0x41, 0x5a], [0x61, 0x7a], ...WIDE],
  N: [[0x30, 0x39], ...WIDE],
  Zl: [[0x2028, 0x2028]],
  Zp: [[0x2029, 0x2029]],
  'Script=Han': WIDE,
  'Script=Hangul': WIDE,
  'Script=Hiragana': WIDE,
  'Script=Katakana': WIDE,
  Emoji_Presentation: WIDE,
};

export interface Parsed {
  readonly tree: Tree;
  /** The groups that can be asked for again, by number and by name. */
  readonly groups: ReadonlyMap<string, Tree>;
}

/** @throws for syntax that nothing of ours has used yet. */
export function parseExpression(source: string, flags: string): Parsed {
  return new Parser(source, flags).parse();
}

class Parser {
  readonly #source: string;
  readonly #flags: string;
  readonly #groups = new Map<string, Tree>();
  #count = 0;
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags;
  }

  parse(): Parsed {
    const tree = this.#choice();
    if (this.#at < this.#source.length) throw this.#unknown();
    return { tree, groups: this.#groups };
  }

  #unknown(): Error {
    return new Error(
      `test/costs/syntax.ts does not know yet what stands at ${this.#at} of /${this.#source}/${this.#flags}`,
    );
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #takeMatch(pattern: RegExp): RegExpExecArray | undefined {
    const found = new RegExp(pattern.source, 'y');
    found.lastIndex = this.#at;
    const match = found.exec(this.#source) ?? undefined;
    this.#at += match?.[0].length ?? 0;
    return match;
  }

  #choice(): Tree {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'choice', parts };
  }

  #sequence(): Tree {
    const parts: Tree[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] ?? '')) {
      parts.push(this.#repeated(this.#atom()));
    }
    return { kind: 'sequence', parts };
  }

  #repeated(body: Tree): Tree {
    const counts = this.#takeMatch(/\*|\+|\?|\{(\d+)(,(\d*))?\}/);
    if (counts === undefined) return body;
    this.#take('?');
    const [sign = '', least = '', comma, most] = counts;
    if (!sign.startsWith('{')) {
      return {
        kind: 'repeat',
        body,
        least: sign === '+' ? 1 : 0,
        most: sign === '?' ? 1 : Number.POSITIVE_INFINITY,
      };
    }
    const end = comma === undefined ? Number(least) : most === '' ? Number.POSITIVE_INFINITY : Number(most);
    return { kind: 'repeat', body, least: Number(least), most: end };
  }

  #atom(): Tree {
    const look = this.#takeMatch(/\(\?(<?)[=!]/);
    if (look !== undefined) return { kind: 'look', body: this.#inside(), isBehind: look[1] === '<' };
    if (this.#take('(?:')) return this.#inside();
    const group = this.#takeMatch(/\((?:\?<(\w+)>)?/);
    if (group !== undefined) {
      const number = ++this.#count;
      const body = this.#inside();
      this.#groups.set(String(number), body);
      if (group[1] !== undefined) this.#groups.set(group[1], body);
      return body;
    }
    if (this.#take('[')) return { kind: 'characters', ranges: this.#anyCase(this.#class()) };
    if (this.#take('.'))
      return { kind: 'characters', ranges: this.#flags.includes('s') ? [[0, LAST]] : others(LINE_ENDS) };
    if (this.#take('^')) return { kind: 'begin' };
    if (this.#take('$') || this.#take('\\b') || this.#take('\\B')) return { kind: 'condition' };
    const again = this.#takeMatch(/\\(?:k<(\w+)>|([1-9]))/);
    if (again !== undefined) return { kind: 'again', group: again[1] ?? again[2] ?? '' };
    return { kind: 'characters', ranges: this.#anyCase(this.#one()) };
  }

  #inside(): Tree {
    const body = this.#choice();
    if (!this.#take(')')) throw this.#unknown();
    return body;
  }

  #class(): readonly Range[] {
    const isOthers = this.#take('^');
    const found: Range[] = [];
    while (!this.#take(']')) {
      const low = this.#one();
      const isRange =
        this.#source[this.#at] === '-' && this.#source[this.#at + 1] !== ']' && low.length === 1;
      if (!isRange) {
        found.push(...low);
        continue;
      }
      this.#at += 1;
      const high = this.#one();
      found.push([low[0]?.[0] ?? 0, high[0]?.[1] ?? LAST]);
    }
    return isOthers ? others(found) : found;
  }

  /** A character, or a class in one escape. */
  #one(): readonly Range[] {
    if (this.#take('\\')) return this.#escaped();
    const code = this.#source.codePointAt(this.#at) ?? 0;
    if (this.#at >= this.#source.length) throw this.#unknown();
    this.#at += code > 0xffff ? 2 : 1;
    return [[code, code]];
  }

  #escaped(): readonly Range[] {
    const coded = this.#takeMatch(/x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\}/);
    if (coded !== undefined) {
      const code = Number.parseInt(coded[1] ?? coded[2] ?? coded[3] ?? '', 16);
      return [[code, code]];
    }
    const property = this.#takeMatch(/(p|P)\{([\w=]+)\}/);
    if (property !== undefined) {
      const ranges = PROPERTIES[property[2] ?? ''];
      if (ranges === undefined) throw this.#unknown();
      return property[1] === 'p' ? ranges : others(ranges);
    }
    const letter = this.#source[this.#at] ?? '';
    this.#at += 1;
    const named = CLASSES[letter];
    if (named !== undefined) return named;
    const code = LETTERS[letter] ?? letter.charCodeAt(0);
    if (LETTERS[letter] === undefined && /[A-Za-z1-9]/.test(letter)) throw this.#unknown();
    return [[code, code]];
  }

  #anyCase(ranges: readonly Range[]): readonly Range[] {
    if (!this.#flags.includes('i')) return ranges;
    const shifted = (low: number, high: number, by: number) =>
      ranges.flatMap(([from, to]): Range[] => {
        const [start, end] = [Math.max(from, low), Math.min(to, high)];
        return start > end ? [] : [[start + by, end + by]];
      });
    return [...ranges, ...shifted(0x41, 0x5a, 32), ...shifted(0x61, 0x7a, -32)];
  }
}
