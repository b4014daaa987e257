/**
 * Patterns for paths and for names of values, as `.gitignore` has them: one part alone means that part at any depth, several are
 * counted from the top; what matches covers all below it. In a part, `*` stands for any characters and `?` for one; `**` stands for any
 * number of parts.
 */

/** @param pattern its parts; an empty one at the beginning says that the others are counted from the top. */
export function covers(pattern: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return false;
  if (rest.length === 0) return first !== '' && path.some((part) => matches(first, part));
  return startsWith(first === '' ? rest : pattern, path);
}

/** Keeps to the positions that can be reached: however many `**` there are, each part is looked at once for each position. */
function startsWith(pattern: readonly string[], path: readonly string[]): boolean {
  let reached = new Set([0]);
  for (const part of pattern) {
    const next = new Set<number>();
    for (const at of reached) {
      if (part === '**') for (let later = at; later <= path.length; later++) next.add(later);
      else if (at < path.length && matches(part, path[at] ?? '')) next.add(at + 1);
    }
    reached = next;
  }
  return reached.size > 0;
}

/** Goes back to the last `*` alone, which is enough, and never more than the lengths multiplied. */
function matches(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let starAt = 0;
  let index = 0;
  while (index < text.length) {
    if (pattern[at] === '*') {
      star = at++;
      starAt = index;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[index])) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++starAt;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
