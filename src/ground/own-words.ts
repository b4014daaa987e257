const words = new Set<string>();

/**
 * Words of a refusal that hold nothing of what was sent, and that people look for in the audit trail. They are never hashed
 * there, whoever sends the same words as a value. Whatever is not declared so is taken for what a caller sent.
 * @see docs/decisions/0270
 * @see docs/decisions/0265
 */
export function ownWords<T extends string>(text: T): T {
  words.add(text);
  return text;
}

/** Where words of ours stand in a text, in no order. */
export function* placesOfOwnWords(text: string): Generator<{ readonly start: number; readonly end: number }> {
  for (const word of words) {
    for (let start = text.indexOf(word); start !== -1; start = text.indexOf(word, start + word.length)) {
      yield { start, end: start + word.length };
    }
  }
}
