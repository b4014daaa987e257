/*
 * Removes repeated characters at the ends of a text in linear time. A regular expression that ends in `+$` restarts at
 * every one of the characters, so that a path of slashes costs the square of its length.
 */

/** Removes all leading occurrences of a character. */
export function withoutFirst(text: string, character: string): string {
  let start = 0;
  while (start < text.length && text[start] === character) start += 1;
  return start === 0 ? text : text.slice(start);
}

/** Removes all trailing occurrences of a character. */
export function withoutLast(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}

/** Removes the slashes at both ends. */
export const trimSlashes = (path: string): string => withoutFirst(withoutLast(path, '/'), '/');
