/** What is refused of the title of a test, after those of the groups around it; undefined when it says what is true. */
export function weaknessOf(title: string, groups: readonly string[]): string | undefined {
  if (/^(?:still|also|too|again|and|or|so|does so)\b/i.test(title)) return 'leans on the test before it';
  if (/^undefined\b|\[object \w+\]/.test(title)) return 'shows a case that has no name';
  const words = [...groups, title]
    .join(' ')
    .split(/\s+/)
    .filter((word) => /[\p{L}\d]/u.test(word));
  return words.length < 3 ? 'has fewer than three words' : undefined;
}

/** A title in the source that has nothing but places for values: what they show is no sentence. */
export const BARE_TEMPLATE =
  /(?:\b(?:it|test|describe)|\))\(\s*(['"`])(?:%[sdifjoO#$%]|\$\{[^}]*\}|\$[\w.]+|[^\w'"`\n])+\1,\s*(?:async )?\(/g;
