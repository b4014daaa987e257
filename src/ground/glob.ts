/**
 * Creates a test whether a whole text matches a pattern; `*` matches any number of characters, including none, and
 * nothing else is special.
 */
export function glob(pattern: string): (text: string) => boolean {
  const [front = '', ...rest] = pattern.split('*');
  const back = rest.pop();
  if (back === undefined) return (text) => text === pattern;
  return (text) => {
    const end = text.length - back.length;
    if (end < front.length || !text.startsWith(front) || !text.endsWith(back)) return false;
    let at = front.length;
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found === -1 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

/**
 * Whether a whole text matches a pattern in which `?` is any character as well, as in file names of a shell.
 * Backtracks only to the last `*`, which is sufficient and at most quadratic: a regular expression could take
 * exponential time for many stars.
 */
export function shellGlob(pattern: string, text: string): boolean {
  let [at, star, from] = [0, -1, 0];
  for (let position = 0; position < text.length; ) {
    const sign = pattern[at];
    if (sign === '*') {
      star = at++;
      from = position;
    } else if (sign === '?' || (sign !== undefined && sign === text[position])) {
      at++;
      position++;
    } else if (star >= 0) {
      at = star + 1;
      position = ++from;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
