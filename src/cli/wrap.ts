/** Characters that take two terminal cells: those of East Asian scripts, and emoji. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}]/gu;

/** Returns the number of terminal cells that a text takes. */
export const displayWidth = (text: string): number => [...text].length + (text.match(WIDE)?.length ?? 0);

/** Wraps a text at its spaces. A word longer than a line gets a line of its own. */
export const wrapped = (text: string, width: number, indent: number): string =>
  filled(text.split(' '), width - indent)
    .map((line) => ' '.repeat(indent) + line)
    .join('\n');

/**
 * Parts of a message that are not broken: words, and commands, which would be run too early if they were pasted in two
 * lines. A command is quoted, or is the rest of the message after a colon, which then has no quotes and parentheses.
 */
const PARTS = /\(?"coffer [^"]*"\S*|(?<=: )coffer [^"()]*$|\S+/g;

/** Wraps a message at its spaces, except those in commands. A part longer than a line gets a line of its own. */
export const wrappedMessage = (text: string, width: number): string =>
  filled(text.match(PARTS) ?? [], width).join('\n');

function filled(parts: readonly string[], width: number): string[] {
  const lines: string[] = [];
  let line: string | undefined;
  for (const part of parts) {
    if (line === undefined) line = part;
    else if (displayWidth(line) + 1 + displayWidth(part) <= width) line += ` ${part}`;
    else {
      lines.push(line);
      line = part;
    }
  }
  return line === undefined ? lines : [...lines, line];
}
