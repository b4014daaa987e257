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
const PARTS = /\(?"coffer [^"]*"\S*|\S+/g;
const BEFORE_THE_LAST = ': ';

/** Returns a message in two parts: up to the command that is the rest of it, and that command, if there is one. */
function lastCommandOf(text: string): readonly [before: string, ...command: string[]] {
  const at = text.lastIndexOf(`${BEFORE_THE_LAST}coffer `);
  if (at === -1) return [text];
  const command = text.slice(at + BEFORE_THE_LAST.length);
  return /["()]/.test(command) ? [text] : [text.slice(0, at + 1), command];
}

/** Wraps a message at its spaces, except those in commands. A part longer than a line gets a line of its own. */
export function wrappedMessage(text: string, width: number): string {
  const [before, ...command] = lastCommandOf(text);
  return filled([...(before.match(PARTS) ?? []), ...command], width).join('\n');
}

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
