/** Characters that take two terminal cells: those of East Asian scripts, and emoji. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}]/gu;

/** Returns the number of terminal cells that a text takes. */
export const displayWidth = (text: string): number => [...text].length + (text.match(WIDE)?.length ?? 0);

/** Returns the width of each column, in terminal cells: that of its widest text. */
export function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, text] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, displayWidth(text));
  }
  return widths;
}

/** Cells that every column of a table takes besides its text, and every table. */
const CELL_BORDER = 3;
const TABLE_BORDER = 1;

/** Returns by how many cells a table with these widths is too wide; negative if there is room. */
export const excessOf = (widths: readonly number[], columns: number): number =>
  widths.reduce((total, width) => total + width + CELL_BORDER, TABLE_BORDER) - columns;

/** Wraps a text at its spaces. A word longer than a line gets a line of its own. */
export const wrapped = (text: string, width: number, indent: number): string =>
  filled(text.split(' '), width - indent)
    .map((line) => ' '.repeat(indent) + line)
    .join('\n');

/**
 * Parts of a message that are not broken: words, and commands, which would be run too early if they were pasted in two
 * lines. A command is in quotation marks or alone in parentheses, or is the rest of the message after a colon; or it is
 * the value of a parameter.
 */
const PARTS =
  /\(?"(?:coffer|git|ssh-keygen|openssl|chmod|chown|ls|cmd|age|export|unset|printf|sudo) [^"]*"\S*|\(?'eval [^']*'\S*|\(coffer [^()"]*\)\S*|\w{1,40}="\$\([^()]*\)"\S*|\S+/g;
const BEFORE_LAST_COMMAND = /: +(?=(?:coffer|git|export|cd) )/g;
/** Command in place of an argument. Other parentheses and quotation marks are those of the message. */
const SUBSTITUTION = /\$\([^()"]*\)/g;

/** Returns a message in two parts: up to the command that is the rest of it, and that command, if there is one. */
function lastCommandOf(text: string): readonly [before: string, ...command: string[]] {
  const colon = [...text.matchAll(BEFORE_LAST_COMMAND)].at(-1);
  if (colon === undefined) return [text];
  const command = text.slice(colon.index + colon[0].length);
  return /["()]/.test(command.replace(SUBSTITUTION, '')) ? [text] : [text.slice(0, colon.index + 1), command];
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

const CONTINUED = ' \\';
/** Indent of the further lines of a command. */
const FURTHER = '  ';

/**
 * Breaks a command at spaces, where a shell reads a backslash at the end of a line as nothing. Quoted text is not
 * broken, nor is a command with a here-document, whose lines are input.
 */
export function brokenCommand(command: string, width: number): string {
  const isFitting = command.split('\n').every((line) => displayWidth(line) <= width);
  if (isFitting || command.includes('<<')) return command;
  let done = '';
  let line = '';
  let word = '';
  let quote = '';
  const endWord = (): void => {
    const isTooLong = displayWidth(line) + displayWidth(word) + CONTINUED.length > width;
    if (line.trim() !== '' && isTooLong && word !== '') {
      done += `${line.trimEnd()}${CONTINUED}\n`;
      line = FURTHER;
    }
    line += word;
    word = '';
  };
  let isEscaped = false;
  for (const character of command) {
    const isPlain = quote === '' && !isEscaped;
    if (isPlain && character === ' ') {
      endWord();
      line += character;
    } else if (isPlain && character === '\n') {
      endWord();
      done += `${line}\n`;
      line = '';
    } else {
      word += character;
      if (character === quote && !isEscaped) quote = '';
      else if (isPlain && (character === '"' || character === "'")) quote = character;
    }
    isEscaped = character === '\\' && !isEscaped && quote !== "'";
  }
  endWord();
  return done + line;
}
