/** Quotes a text for any POSIX shell, and for fish. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Quotes a word for a POSIX shell if necessary. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoted(text));
