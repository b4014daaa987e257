/** A paragraph, terms with what they mean, or lines that are shown as they are. */
export type Block =
  | string
  | { readonly terms: readonly (readonly [term: string, meaning: string])[] }
  | { readonly lines: readonly string[] };

/** What a format is, in short: `coffer help NAME`, and a page of section 5 of the manual. */
export interface Topic {
  /** What `coffer help` is asked for: `secrets-format`. */
  readonly name: string;
  /** The page of the manual, without its section: `coffer-secrets`. */
  readonly page: string;
  readonly summary: string;
  /** Commands and groups that work with it, by their first words. */
  readonly commands: readonly string[];
  readonly parts: readonly { readonly heading: string; readonly blocks: readonly Block[] }[];
}

const INDENT = 2;
/** Longer lines are hard to read, however wide the terminal is. */
export const MOST_COLUMNS = 100;

/** A topic for people at a terminal of so many columns. */
export function topicText({ summary, parts }: Topic, columns: number): string {
  const width = Math.min(columns, MOST_COLUMNS);
  const sections = parts.map(({ heading, blocks }) =>
    [`${heading}:`, blocks.map((block) => blockText(block, width)).join('\n\n')].join('\n'),
  );
  return `${[wrapped(`${summary}.`, width, 0), ...sections].join('\n\n')}\n`;
}

function blockText(block: Block, width: number): string {
  if (typeof block === 'string') return wrapped(block, width, INDENT);
  if ('lines' in block) return block.lines.map((line) => `${' '.repeat(2 * INDENT)}${line}`).join('\n');
  return block.terms
    .map(([term, meaning]) => `${' '.repeat(INDENT)}${term}\n${wrapped(meaning, width, 3 * INDENT)}`)
    .join('\n');
}

/** Breaks a text at its spaces. A word that is wider than a line gets one of its own. */
export function wrapped(text: string, width: number, indent: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => ' '.repeat(indent) + each).join('\n');
}
