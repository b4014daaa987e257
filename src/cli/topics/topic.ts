import { brokenCommand, displayWidth, wrapped } from '../wrap.ts';

/** Block of a topic: a paragraph, terms with their meanings, or literal lines. */
export type Block =
  | string
  | { readonly terms: readonly (readonly [term: string, meaning: string])[] }
  | { readonly lines: readonly string[] };

/** Short description of a format or a task: `coffer help NAME`, and a manual page. */
export interface Topic {
  /** Name for `coffer help`: `secrets-format`. */
  readonly name: string;
  /** Name of the manual page, without its section: `coffer-secrets`. */
  readonly page: string;
  /** Section of the manual: 5 for a format (default), 7 for a task. */
  readonly section?: 5 | 7;
  readonly summary: string;
  /** Commands and groups that use it, by their first words. */
  readonly commands: readonly string[];
  readonly parts: readonly { readonly heading: string; readonly blocks: readonly Block[] }[];
}

const INDENT = 2;
/** Maximum line length in columns: longer lines are hard to read, even on a wide terminal. */
export const MOST_COLUMNS = 100;

/**
 * Formats a topic for a terminal of the given number of columns.
 * @param isExact whether literal lines may not be wider; a pipe gets them as they are written
 */
export function topicText({ summary, parts }: Topic, columns: number, isExact = false): string {
  const width = Math.min(columns, MOST_COLUMNS);
  const sections = parts.map(({ heading, blocks }) =>
    [`${heading}:`, blocks.map((block) => blockText(block, width, isExact)).join('\n\n')].join('\n'),
  );
  return `${[wrapped(`${summary}.`, width, 0), ...sections].join('\n\n')}\n`;
}

function blockText(block: Block, width: number, isExact: boolean): string {
  if (typeof block === 'string') return wrapped(block, width, INDENT);
  if ('lines' in block) return literalLines(block.lines, width, isExact);
  return block.terms
    .map(([term, meaning]) => `${' '.repeat(INDENT)}${term}\n${wrapped(meaning, width, 3 * INDENT)}`)
    .join('\n');
}

/** Columns from which on literal lines are printed as they are written, except on a terminal that they do not fit. */
const USUAL_COLUMNS = 80;
/** Begins the comment of a literal line. */
const COMMENT = '  # ';
const COMMAND = /^(?:[A-Z_]+=\S+ )?(?:coffer|git) /;

/** Indents literal lines. On a narrow terminal, comments are above their lines, and what does not fit is broken. */
function literalLines(lines: readonly string[], columns: number, isExact: boolean): string {
  const width = columns - 2 * INDENT;
  const isNarrow = (isExact || columns < USUAL_COLUMNS) && lines.some((line) => displayWidth(line) > width);
  const printed = isNarrow ? lines.flatMap((line) => narrowLines(line, width)) : lines;
  return printed.map((line) => `${' '.repeat(2 * INDENT)}${line}`).join('\n');
}

function narrowLines(line: string, width: number): string[] {
  const at = line.indexOf(COMMENT);
  const text = at < 0 ? line : line.slice(0, at).trimEnd();
  const above = at < 0 ? [] : commentLines(line.slice(at).trim(), width);
  if (displayWidth(text) <= width) return [...above, text];
  if (COMMAND.test(text)) return [...above, ...brokenCommand(text, width).split('\n')];
  const own = text.length - text.trimStart().length;
  const [first = '', ...further] = wrapped(text.trimStart(), width - 2 * INDENT, own).split('\n');
  return [...above, first, ...further.map((rest) => `${' '.repeat(2 * INDENT)}${rest}`)];
}

/** Breaks a comment at its spaces; each of its lines is one. */
const commentLines = (comment: string, width: number): string[] =>
  wrapped(comment.slice('# '.length), width - '# '.length, 0)
    .split('\n')
    .map((text) => `# ${text}`);
