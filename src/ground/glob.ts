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
