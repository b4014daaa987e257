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
