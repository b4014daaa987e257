/** A text with another last character, whatever the last one is: a fixed one in its place is the same text in one of some thirty cases. */
export function mistyped(text: string): string {
  const other = text.toLowerCase().endsWith('q') ? 'p' : 'q';
  return text.slice(0, -1) + (text === text.toUpperCase() ? other.toUpperCase() : other);
}
