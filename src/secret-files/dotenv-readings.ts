/*
 * Differences between readers of `.env` files: where a quoted value ends. Several values here may be a single one over
 * several lines for some readers.
 * @see docs/decisions/0288
 */

export const ASSIGNMENT = /[ \t]*(?:export[ \t]+)?([\w.-]+)(?:[ \t]*=[ \t]*|:[ \t]+)/y;
export const NOTHING = /[ \t]*(?:#[^\r\n]*)?(?=[\r\n]|$)/y;
export const QUOTES: ReadonlySet<string> = new Set(['"', "'", '`']);
export const BYTE_ORDER_MARK = '\ufeff';

/**
 * Matches at an offset.
 * @param pattern sticky pattern
 */
export function match(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

/** Whether a backslash is itself escaped: `\\` only means one backslash in `"…"`. */
export function isEscapedBackslash(text: string, from: number, at: number, quote: string): boolean {
  if (quote !== '"') return false;
  let first = at;
  while (first > from && text[first - 1] === '\\') first--;
  return (at - first) % 2 === 1;
}

/** End of a line whose value is still empty for Node's parser, which takes the next line as the value. */
const EMPTY_WITH_BLANK = /=\r*[ \t]\s*$/;

/** Interpretation of quotes by some readers. */
interface Reading {
  /** Whether a quote ends the value that began at an offset. */
  readonly ends: (text: string, from: number, at: number) => boolean;
  /** Whether a value counts as unquoted if anything follows its last quote. */
  readonly isStrict: boolean;
  readonly head: RegExp;
}

/** Name for readers without the `NAME: value` form: everything before the first `=`. */
const ANY_NAME = /(?!#)[^=\n]*=[ \t]*/y;
/** Rules for backslashes: none escapes; one escapes unless it is itself escaped; every one escapes. */
const ENDINGS: readonly Reading['ends'][] = [
  () => true,
  (text, from, at) => text[at - 1] !== '\\' || isEscapedBackslash(text, from + 1, at - 1, '"'),
  (text, _from, at) => text[at - 1] !== '\\',
];
const READINGS: readonly Reading[] = ENDINGS.flatMap((ends) =>
  [true, false].flatMap((isStrict) => [ASSIGNMENT, ANY_NAME].map((head) => ({ ends, isStrict, head }))),
);

/** Start of a value, and of its line. */
interface Begin {
  readonly start: number;
  readonly lineStart: number;
}

/**
 * Returns, for each value, the start of an earlier value that includes it for some readers: because its quote ends
 * later for them, or never (a decrypted value may contain a quote that ends it), or because they do not treat a lone
 * carriage return as a line end, look for an empty value on the next line, or join a line that ends in a backslash with
 * the next one.
 * @param values in the order of the text
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
 * Yields the values as read by systemd (`EnvironmentFile=`): a backslash at the end of a line joins it with the next
 * one, a quoted part may follow another one, and there are no comments after a value.
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

/** Returns the end of a value; infinity for an unterminated quote. */
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
