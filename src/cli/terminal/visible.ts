/**
 * Escapes control characters, so that no name can move the cursor, break a line, or change the order of the surrounding
 * text.
 */
export const visible = (text: string): string =>
  text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Escapes the control characters of a text that may contain newlines and tabs. JSON remains the same JSON. */
export const visibleLines = (text: string): string => text.replace(/[^\n\t]+/g, visible);

/** Whether a text has no control characters except whitespace. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
export const isPlainText = (text: string): boolean => !/[\x00-\x08\x0e-\x1f\x7f-\x9f]/.test(text);
