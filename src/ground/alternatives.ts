/** Joins alternatives: `a`, `a or b`, `a, b or c`. */
export const alternatives = (texts: readonly string[]): string =>
  texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
