import { Chalk, type ChalkInstance } from 'chalk';
import CliTable from 'cli-table3';
import type { Table } from '../../operations/declaration/table.ts';
import { columnWidths, displayWidth, excessOf } from '../wrap.ts';

/** Table whose cells are texts as they are shown. */
interface DrawnTable extends Table {
  readonly rows: readonly (readonly string[])[];
}

interface TableStyle {
  /** Whether cells have borders; only on a terminal. */
  readonly boxed: boolean;
  readonly colour: boolean;
  /** Whether borders consist of `+`, `-` and `|`, for terminals and fonts without other characters. */
  readonly plain?: boolean;
  /** Maximum width if boxed. */
  readonly columns: number;
  /** Whether every column is shown, with cells of a few lines at most. */
  readonly wide?: boolean;
}

/** Places of the characters with which the library draws lines. */
const PLACES = [
  ...['top', 'top-mid', 'top-left', 'top-right'],
  ...['bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
  ...['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'],
];

const NO_LINES = {
  ...Object.fromEntries(PLACES.map((place) => [place, ''])),
  ...{ left: '', middle: '  ', right: '' },
};

const PLAIN_LINES = {
  ...Object.fromEntries(PLACES.map((place) => [place, place.includes('-') ? '+' : '-'])),
  ...{ left: '|', middle: '|', right: '|' },
};

/** Characters of the library within a row. */
const LINES = { left: '│', middle: '│', right: '│' } as const;
/**
 * Length up to which a word is only broken if no column can be left out instead: half of the terminal's width, within
 * these limits. The longest are the shortened public keys of a team, and UUIDs.
 */
const SHORT_WORD = { least: 24, most: 40 } as const;
/** Maximum height of a row, in lines; if one would be higher, columns are left out. */
const MAX_LINES = 3;
/**
 * Rows up to which the library draws a table. Its time grows with the square of the rows, and it passes them as arguments
 * of a function, for which a stack has room up to some number only. Of a longer table it draws the frame.
 */
const MOST_LIBRARY_ROWS = 100;
/**
 * Minimum column widths in a narrow terminal. The widest columns shrink first: to the first width, and only when all
 * have reached it, to the second.
 */
const FLOORS = [16, 6] as const;

/**
 * Formats a table. In a terminal too narrow for it, the lesser columns are left out and cells are wrapped; if even that
 * does not suffice, each row is a list with one cell per line, and of names only a list. It ends with a newline.
 * @see docs/decisions/0291
 */
export function drawTable(table: DrawnTable, style: TableStyle): string {
  const { summary, note } = table;
  const chalk = new Chalk({ level: style.colour ? 1 : 0 });
  const [shown, widths] = style.boxed ? fittingTable(table, style) : [table, undefined];
  const lines =
    widths !== 'too many columns'
      ? gridLines(shown, style, widths, chalk)
      : shown.head.length === 1
        ? nameLines(shown, chalk)
        : recordLines(shown, chalk);
  const below = [summary, note].filter((line) => line !== undefined).map((line) => chalk.dim(line));
  return [...lines, ...below].map((line) => `${line.trimEnd()}\n`).join('');
}

type Widths = readonly number[] | 'too many columns';

/** Leaves out columns one by one: empty ones until the table fits, then lesser ones until it is easy to read. */
function fittingTable(table: DrawnTable, style: TableStyle): readonly [DrawnTable, Widths] {
  const { columns, wide = false } = style;
  const [next, ...rest] = wide ? [] : (table.lesser ?? []);
  const cells = [table.head, ...table.rows];
  const empty = wide || excessOf(columnWidths(cells), columns) <= 0 ? undefined : emptyColumnIn(table);
  if (empty !== undefined) {
    const lesser = table.lesser?.filter((column) => column !== empty);
    return fittingTable(withoutColumn({ ...table, lesser }, empty), style);
  }
  const widths = widthsFor(cells, columns, table.whole);
  const shortWord = Math.min(Math.max(Math.floor(columns / 2), SHORT_WORD.least), SHORT_WORD.most);
  const isGood = widths !== 'too many columns' && isReadable(table, widths, shortWord);
  if (wide && !isGood) return [table, 'too many columns'];
  if (isGood || next === undefined) return [table, widths];
  return fittingTable(withoutColumn({ ...table, lesser: rest }, next), style);
}

/** Returns a column in which every row is empty. */
function emptyColumnIn({ rows, head, whole }: DrawnTable): number | undefined {
  const isEmpty = (column: number): boolean =>
    column !== whole && rows.length > 0 && rows.every((row) => (row[column] ?? '') === '');
  const column = head.findIndex((_, index) => isEmpty(index));
  return column === -1 ? undefined : column;
}

function withoutColumn(table: DrawnTable, column: number): DrawnTable {
  const others = <T>(cells: readonly T[]): readonly T[] => cells.filter((_, index) => index !== column);
  const shifted = (index: number): number => (index > column ? index - 1 : index);
  return {
    ...table,
    head: others(table.head),
    rows: table.rows.map(others),
    whole: table.whole === undefined ? undefined : shifted(table.whole),
    lesser: table.lesser?.map(shifted),
  };
}

/** Whether no row is too high, no short word is broken, and no cell of a lesser column or of the head is wrapped. */
function isReadable(
  { head, rows, lesser = [] }: DrawnTable,
  widths: readonly number[],
  shortWord: number,
): boolean {
  const lines = (cell: string, column: number): number =>
    cellWrapped(cell, widths[column]).split('\n').length;
  return (
    head.every((title, column) => lines(title, column) === 1) &&
    rows.every((row) =>
      row.every(
        (cell, column) =>
          lines(cell, column) <= (lesser.includes(column) ? 1 : MAX_LINES) &&
          !breaksShortWord(cell, widths[column], shortWord),
      ),
    )
  );
}

const breaksShortWord = (cell: string, width = 0, shortWord: number): boolean =>
  cell
    .split(' ')
    .map(displayWidth)
    .some((length) => length > width && length <= shortWord);

function gridLines(
  { head, rows }: DrawnTable,
  style: TableStyle,
  widths: readonly number[] | undefined,
  chalk: ChalkInstance,
): readonly string[] {
  const { boxed } = style;
  if (rows.length === 0 && !boxed) return [];
  const fitted = (cell: string, column: number): string => cellWrapped(cell, widths?.[column]);
  const isUntitled = boxed && head.every((title) => title === '');
  const titles = isUntitled ? [] : boxed ? head.map(fitted) : head;
  const boldTitles = boxed ? titles.map((title) => chalk.bold(title)) : titles;
  const cells = rows.map((row) => row.map(fitted));
  if (rows.length <= MOST_LIBRARY_ROWS) return drawn(style, boldTitles, cells);
  const lines = cells.flatMap(inLines);
  // The library draws no column without width.
  const least = boxed ? 0 : 1;
  const used = columnWidths([...inLines(titles), ...lines]).map((width) => Math.max(width, least));
  const frame = drawn(style, boldTitles, [used.map((width) => ' '.repeat(width))]);
  const blank = frame.length - (boxed ? 2 : 1);
  return [
    ...frame.slice(0, blank),
    ...lines.map((texts) => drawnLine(texts, used, style)),
    ...frame.slice(blank + 1),
  ];
}

/** Returns the lines of a row, each with the texts of all cells. */
function inLines(row: readonly string[]): readonly (readonly string[])[] {
  const cells = row.map((cell) => cell.split('\n'));
  const height = Math.max(...cells.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) => cells.map((cell) => cell[line] ?? ''));
}

/** Draws a line of a row as the library does. */
function drawnLine(
  texts: readonly string[],
  widths: readonly number[],
  { boxed, plain }: TableStyle,
): string {
  const padded = texts.map((text, column) => text + ' '.repeat((widths[column] ?? 0) - displayWidth(text)));
  const { left, middle, right } = !boxed ? NO_LINES : plain ? PLAIN_LINES : LINES;
  const margin = boxed ? ' ' : '';
  return left + margin + padded.join(margin + middle + margin) + margin + right;
}

/** Draws a table with the library, which colours nothing here. */
function drawn(
  { boxed, plain }: TableStyle,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const table = new CliTable({
    head: [...head],
    // The library would add colours by itself, even in a pipe.
    style: {
      head: [],
      border: [],
      compact: true,
      ...(boxed ? {} : { 'padding-left': 0, 'padding-right': 0 }),
    },
    chars: !boxed ? NO_LINES : plain ? PLAIN_LINES : {},
  });
  for (const row of rows) table.push([...row]);
  return table.toString().split('\n');
}

const recordLines = ({ head, rows }: DrawnTable, chalk: ChalkInstance): readonly string[] =>
  rows.flatMap((row) => [...row.map((cell, column) => `${chalk.bold(head[column] ?? '')}: ${cell}`), '']);

/** Returns the cells of the only column that is left, whose values are copied, each on a line of its own. */
const nameLines = ({ head, rows }: DrawnTable, chalk: ChalkInstance): readonly string[] => [
  chalk.bold(head[0] ?? ''),
  ...rows.map(([cell = '']) => cell),
];

/** Returns the widths of the cells with which the table fits. */
function widthsFor(rows: readonly (readonly string[])[], columns: number, whole: number | undefined): Widths {
  const natural = columnWidths(rows);
  const widths = [...natural];
  let excess = excessOf(natural, columns);
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

/** Breaks a text into lines of at most `width` cells: at spaces, and within words that are longer than a line. */
function cellWrapped(text: string, width: number | undefined): string {
  if (width === undefined || displayWidth(text) <= width) return text;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= )/)) {
    if (line !== '' && displayWidth(line + word.trimEnd()) > width && displayWidth(word.trimEnd()) <= width) {
      lines.push(line.trimEnd());
      line = '';
    }
    for (const letter of word) {
      if (displayWidth(line + letter) > width) {
        if (letter === ' ') continue;
        lines.push(line);
        line = '';
      }
      line += letter;
    }
  }
  return [...lines, line].join('\n');
}
