import { Chalk, type ChalkInstance } from 'chalk';
import CliTable from 'cli-table3';
import type { Table } from '../../operations/declaration/operation.ts';

interface TableStyle {
  /** Whether cells have borders; only on a terminal. */
  readonly boxed: boolean;
  readonly colour: boolean;
  /** Whether borders consist of `+`, `-` and `|`, for terminals and fonts without other characters. */
  readonly plain?: boolean;
  /** Maximum width if boxed. */
  readonly columns: number;
}

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
} as const;
const PLAIN_LINES = {
  top: '-',
  'top-mid': '+',
  'top-left': '+',
  'top-right': '+',
  bottom: '-',
  'bottom-mid': '+',
  'bottom-left': '+',
  'bottom-right': '+',
  left: '|',
  'left-mid': '+',
  mid: '-',
  'mid-mid': '+',
  right: '|',
  'right-mid': '+',
  middle: '|',
} as const;
const PADDING = 2;
/**
 * Minimum column widths in a narrow terminal. The widest columns shrink first: to the first width, and only when all
 * have reached it, to the second.
 */
const FLOORS = [16, 6] as const;

/**
 * Formats a table; in a terminal too narrow for it, each row as a list with one cell per line. It ends with a newline.
 */
export function drawTable(table: Table, style: TableStyle): string {
  const { head, rows, summary } = table;
  const chalk = new Chalk({ level: style.colour ? 1 : 0 });
  const widths = style.boxed ? widthsFor([head, ...rows], style.columns, table.whole) : undefined;
  const lines =
    widths === 'too many columns' ? recordLines(table, chalk) : gridLines(table, style, widths, chalk);
  const below = summary === undefined ? [] : [chalk.dim(summary)];
  return [...lines, ...below].map((line) => `${line.trimEnd()}\n`).join('');
}

function gridLines(
  { head, rows }: Table,
  { boxed, plain }: TableStyle,
  widths: readonly number[] | undefined,
  chalk: ChalkInstance,
): readonly string[] {
  const fitted = (cell: string, column: number): string => wrapped(cell, widths?.[column]);
  const drawn = new CliTable({
    head: head.map((title, column) => (boxed ? chalk.bold(fitted(title, column)) : title)),
    // The library would add colours by itself, even in a pipe.
    style: {
      head: [],
      border: [],
      compact: true,
      ...(boxed ? {} : { 'padding-left': 0, 'padding-right': 0 }),
    },
    chars: !boxed ? NO_LINES : plain ? PLAIN_LINES : {},
  });
  for (const row of rows) drawn.push(row.map(fitted));
  return rows.length === 0 && !boxed ? [] : drawn.toString().split('\n');
}

const recordLines = ({ head, rows }: Table, chalk: ChalkInstance): readonly string[] =>
  rows.flatMap((row) => [...row.map((cell, column) => `${chalk.bold(head[column] ?? '')}: ${cell}`), '']);

/** Returns the widths of the cells with which the table fits. */
function widthsFor(
  rows: readonly (readonly string[])[],
  columns: number,
  whole: number | undefined,
): readonly number[] | 'too many columns' {
  const natural = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => displayWidth(row[column] ?? ''))),
  );
  const widths = [...natural];
  let excess = sum(widths) + (PADDING + 1) * widths.length + 1 - columns;
  const widestFirst = natural
    .map((_, column) => column)
    .sort((a, b) => (natural[b] ?? 0) - (natural[a] ?? 0));
  // Next to a column that is never shortened, six characters would be unreadable.
  for (const floor of whole === undefined ? FLOORS : FLOORS.slice(0, 1)) {
    for (const column of widestFirst) {
      if (column === whole) continue;
      const width = widths[column] ?? 0;
      const given = Math.max(0, Math.min(excess, width - floor));
      widths[column] = width - given;
      excess -= given;
    }
  }
  return excess > 0 ? 'too many columns' : widths;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

/** Characters that take two terminal cells: those of East Asian scripts, and emoji. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}]/gu;

const displayWidth = (text: string): number => [...text].length + (text.match(WIDE)?.length ?? 0);

/** Breaks a text into lines of at most `width` cells, at any character. */
function wrapped(text: string, width: number | undefined): string {
  if (width === undefined || displayWidth(text) <= width) return text;
  const lines: string[] = [];
  let line = '';
  for (const letter of text) {
    if (displayWidth(line + letter) > width) {
      lines.push(line);
      line = '';
    }
    line += letter;
  }
  return [...lines, line].join('\n');
}
