/**
 * Patterns for paths and names of values, like those of `.gitignore`: a single part matches at any depth, several parts
 * are relative to the top; a match includes everything below it. Within a part, `*` matches any characters and `?` one;
 * `**` matches any number of parts.
 */

/**
 * Whether a pattern covers a path.
 * @param pattern its parts; an empty first one anchors the others at the top
 */
export function covers(pattern: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return false;
  if (rest.length === 0) return first !== '' && path.some((part) => matches(first, part));
  return startsWith(first === '' ? rest : pattern, path);
}

/**
 * Whether a pattern may cover a path of which only the variable is known that `exec` makes of it: its parts joined by
 * underscores, in upper case. True also where the underscores are those of names: `DB_PASSWORD` is `db.password` as
 * well as `db_password`.
 */
export function mayCoverVariable(pattern: readonly string[], variable: string): boolean {
  const [first = '', ...rest] = pattern;
  let joined = '';
  for (const part of first === '' ? rest : pattern) {
    // `**` may stand for no part, which has no underscore.
    if (joined !== '' && !joined.endsWith('**')) joined += '_';
    joined += part === '**' ? '**' : part.toUpperCase().replace(/[^A-Z0-9_*?]/g, '_');
  }
  // A match covers everything below it anyway.
  joined = joined.replace(/_\*\*$/, '');
  if (joined === '') return false;
  const heads = rest.length === 0 ? ['', '*_'] : [''];
  return heads.some((head) => ['', '_*'].some((tail) => matches(`${head}${joined}${tail}`, variable)));
}

/**
 * Matches from the top, tracking the reachable positions: however many `**` there are, each part is processed once per
 * position.
 */
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

/** Matches one part, backtracking only to the last `*`, which is sufficient and at most quadratic. */
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
