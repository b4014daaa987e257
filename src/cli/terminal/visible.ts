/**
 * A text in which control characters can be seen, so that no name moves the cursor, breaks a line, or turns the order of
 * what stands around it.
 */
export const visible = (text: string): string =>
  text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The same for a text that may have several lines, with tabs in them. JSON stays the same JSON. */
export const visibleLines = (text: string): string => text.replace(/[^\n\t]+/g, visible);

/** No control characters but white space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const isPlainText = (text: string): boolean => !/[\x00-\x08\x0e-\x1f\x7f-\x9f]/.test(text);
