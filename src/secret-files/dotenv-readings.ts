/*
 * Where readers of `.env` files differ: in where a quoted value ends. What is one value after the other for us, some of them take for
 * a single one over several lines.
 * @see docs/decisions/0288
 */

export const ASSIGNMENT = /[ \t]*(?:export[ \t]+)?([\w.-]+)(?:[ \t]*=[ \t]*|:[ \t]+)/y;
export const NOTHING = /[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|$)/y;
export const QUOTES: ReadonlySet<string> = new Set(['"', "'", '`']);
export const BYTE_ORDER_MARK = '\ufeff';

/** Matches at an offset. @param pattern a sticky one. */
export function match(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

/** Only `"…"` has `\\` for one backslash. */
export function isEscapedBackslash(text: string, from: number, at: number, quote: string): boolean {
  if (quote !== '"') return false;
  let first = at;
  while (first > from && text[first - 1] === '\\') first--;
  return (at - first) % 2 === 1;
}

/** What ends so, and line ends, has no value yet for Node's reader, which takes the next line for it. */
const EMPTY_WITH_BLANK = /=\r*[ \t]\s*$/;

/** How some read quotes. */
interface Reading {
  /** Whether a quote ends the value that began at an offset. */
  readonly ends: (text: string, from: number, at: number) => boolean;
  /** Whether a value is taken for an unquoted one, when something follows its last quote. */
  readonly isStrict: boolean;
  readonly head: RegExp;
}

/** The names of readers that know no `NAME: value`, and take what stands before the first `=`. */
const ANY_NAME = /(?!#)[^=\n]*=[ \t]*/y;
/** Backslashes stand for themselves; one does so that stands behind another one; none does. */
const ENDINGS: readonly Reading['ends'][] = [
  () => true,
  (text, from, at) => text[at - 1] !== '\\' || isEscapedBackslash(text, from + 1, at - 1, '"'),
  (text, _from, at) => text[at - 1] !== '\\',
];
const READINGS: readonly Reading[] = ENDINGS.flatMap((ends) =>
  [true, false].flatMap((isStrict) => [ASSIGNMENT, ANY_NAME].map((head) => ({ ends, isStrict, head }))),
);

/** Where a value begins, and its line. */
interface Begin {
  readonly start: number;
  readonly lineStart: number;
}

/**
 * For each value, where one begins that goes on over it for some readers: because its quote ends later for them, or not at all (what is
 * decrypted may have one that ends it), or because they know no line that ends in a carriage return alone, look for a value that is
 * empty in the next line, or join a line that ends in a backslash with the next one.
 * @param values in the order of the text.
 */
export function begunBefore(text: string, values: readonly Begin[]): readonly (number | undefined)[] {
  const begun = values.map(({ lineStart }, index) => {
    const before = values[index - 1];
    if (before === undefined) return undefined;
    const isJoined =
      text[lineStart - 1] === '\r' || EMPTY_WITH_BLANK.test(text.slice(before.lineStart, lineStart));
    return isJoined ? before.start : undefined;
  });
  for (const reading of /["'`]/.test(text) ? READINGS : []) {
    let index = 0;
    const startsBefore = (offset: number): boolean => (values[index]?.start ?? offset) < offset;
    for (const [from, to] of quotedIn(text, reading)) {
      while (startsBefore(from + 1)) index++;
      for (; startsBefore(to); index++) begun[index] ??= from;
    }
  }
  let index = 0;
  for (const [from, to] of /["'\\]/.test(text) ? valuesOfSystemd(text) : []) {
    for (; (values[index]?.lineStart ?? to) < to; index++)
      if ((values[index]?.lineStart ?? 0) > from) begun[index] ??= from;
  }
  return begun;
}

/**
 * The values as systemd reads them (`EnvironmentFile=`): a backslash at the end of a line joins it with the next one, behind a quote that ends another one may
 * begin, and nothing behind a value is a comment.
 * @see https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html#EnvironmentFile=
 */
function* valuesOfSystemd(text: string): Generator<readonly [from: number, to: number]> {
  const head = /[ \t\r\n]*(?:[#;][^\r\n]*|[^=\r\n]*(=)?)/y;
  for (let at = 0; at < text.length; ) {
    const [whole = '', equals] = match(head, text, at) ?? [];
    at += whole.length;
    if (equals === undefined) at++;
    else {
      const from = at;
      at = endForSystemd(text, from);
      yield [from, at];
    }
  }
}

const BLANKS = /[ \t]*/y;
const BARE = /[^\\\r\n]*(?:\\[\s\S][^\\\r\n]*)*/y;
const QUOTED: Readonly<Record<string, RegExp>> = { "'": /'[^']*'/y, '"': /"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y };

/** Infinity for a quote that nothing ends. */
function endForSystemd(text: string, from: number): number {
  for (let at = from; ; ) {
    at += match(BLANKS, text, at)?.[0].length ?? 0;
    const quote = QUOTED[text[at] ?? ''];
    if (quote === undefined) return at + (match(BARE, text, at)?.[0].length ?? 0);
    const [quoted] = match(quote, text, at) ?? [];
    if (quoted === undefined) return Number.POSITIVE_INFINITY;
    at += quoted.length;
  }
}

function* quotedIn(
  text: string,
  { ends, isStrict, head: pattern }: Reading,
): Generator<readonly [from: number, to: number]> {
  let at = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  while (at < text.length) {
    const [head] = match(pattern, text, at) ?? [];
    const from = at + (head?.length ?? 0);
    const quote = text[from] ?? '';
    if (head !== undefined && QUOTES.has(quote)) {
      let to = text.indexOf(quote, from + 1);
      while (to >= 0 && !ends(text, from, to)) to = text.indexOf(quote, to + 1);
      if (to < 0) yield [from, Number.POSITIVE_INFINITY];
      else if (!isStrict || match(NOTHING, text, to + 1) !== undefined) {
        yield [from, to];
        at = to;
      }
    }
    const lineEnd = text.indexOf('\n', at);
    at = lineEnd < 0 ? text.length : lineEnd + 1;
  }
}
