import { Chalk } from 'chalk';
import CliTable from 'cli-table3';
import type { Table } from '../../operations/operation.ts';

export interface TableStyle {
  /** Lines around the cells; off a terminal there are none. */
  readonly boxed: boolean;
  readonly colour: boolean;
  /** Width that must not be exceeded when boxed. */
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
/** Between rows there are no lines: they double the height and say nothing. */
const NO_LINES_BETWEEN_ROWS = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' } as const;
const MIN_COLUMN = 6;
const PADDING = 2;

/** Draws a table. It ends in a newline. */
export function drawTable(table: Table, style: TableStyle): string {
  const chalk = new Chalk({ level: style.colour ? 1 : 0 });
  const widths = style.boxed ? columnWidths(table, style.columns) : undefined;
  const drawn = new CliTable({
    head: table.head.map((title) => (style.boxed ? chalk.bold(title) : title)),
    // The library would colour by itself, even in a pipe.
    style: {
      head: [],
      border: [],
      compact: true,
      ...(style.boxed ? {} : { 'padding-left': 0, 'padding-right': 0 }),
    },
    chars: style.boxed ? NO_LINES_BETWEEN_ROWS : NO_LINES,
    ...(widths === undefined ? {} : { colWidths: widths, wordWrap: true, wrapOnWordBoundary: false }),
  });
  for (const row of table.rows) drawn.push([...row]);
  const text = drawn
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
  const summary = table.summary === undefined ? '' : `${chalk.dim(table.summary)}\n`;
  return `${text}\n${summary}`;
}

/** Widths with which the table fits, taken from the widest columns first; undefined when it fits as it is. */
function columnWidths(table: Table, columns: number): number[] | undefined {
  const widths = table.head.map((title, column) =>
    Math.max(title.length, ...table.rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = widths.length + 1;
  const room = columns - lines - PADDING * widths.length;
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  if (excess <= 0) return undefined;
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= MIN_COLUMN) break;
    widths[widest] = width - 1;
    excess -= 1;
  }
  return widths.map((width) => width + PADDING);
}
