/*
 * What stands repeated at an end of a text, taken away by one walk from there. A regular expression that ends in `+$` starts anew
 * at every one of the characters, so that a path of slashes costs the square of its length.
 */

/** The text without what it begins with of one character, however often it stands there. */
export function withoutFirst(text: string, character: string): string {
  let start = 0;
  while (start < text.length && text[start] === character) start += 1;
  return start === 0 ? text : text.slice(start);
}

/** The text without what it ends in of one character, however often it stands there. */
export function withoutLast(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}

/** Without the slashes at both ends. */
export const trimSlashes = (path: string): string => withoutFirst(withoutLast(path, '/'), '/');
