import { decodeBase64 } from '../../ground/base64.ts';
import { printTime } from '../../ground/clock.ts';
import { CofferError } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import type { CliShape } from '../../operations/declaration/operation.ts';
import {
  type Cell,
  type EmptyList,
  exactText,
  type Table,
  timeCell,
} from '../../operations/declaration/table.ts';
import type { ListDocument } from '../../operations/json-api/pages.ts';
import type { Session } from '../session.ts';
import type { OutputFormat } from '../settings.ts';
import { isRead } from '../terminal/streams.ts';
import { ageText, durationText } from '../terminal/time-texts.ts';
import { isPlainText, visible, visibleLines } from '../terminal/visible.ts';
import { withPermission } from '../with-permission.ts';
import { type OutPlace, writeOutFile } from './out-file.ts';

/** Output format of an operation's result, as declared. */
export type OutputShape = Pick<
  CliShape<unknown>,
  'result' | 'lines' | 'table' | 'forTerminal' | 'details' | 'empty'
> & {
  /** Description of the result, for the message that the file of `--out` has it. */
  readonly written?: string;
};

/** Destination and form of results. */
export interface Destination {
  /** File of `--out`; undefined for standard output. */
  readonly file: OutPlace | undefined;
  /** Whether a result that is base64 in the API remains base64. */
  readonly keepBase64: boolean;
}

const STANDARD_OUTPUT: Destination = { file: undefined, keepBase64: true };

/**
 * Prints the result of an operation; nothing if it is undefined.
 * @returns false if the reader of the output is gone, so that only the exit code remains
 */
export async function printResult(
  session: Session,
  data: unknown,
  shape: OutputShape,
  destination = STANDARD_OUTPUT,
): Promise<boolean> {
  if (data === undefined) return true;
  const isForPerson =
    isToTerminal(session, destination) &&
    (isTable(formatFor(session, shape, destination)) || session.settings.format === undefined);
  if (isForPerson && shape.empty !== undefined && isEmptyList(data, shape)) {
    session.say(emptyText(session, shape.empty));
    return true;
  }
  const text = await rendered(session, data, shape, destination);
  if (destination.file === undefined) return isRead(() => session.streams.out.write(text));
  await writeOutFile(destination.file, text);
  sayWritten(session, shape, destination.file);
  return true;
}

/**
 * Prints the outcome of a command for programs, only with `-o json`.
 * @returns as `printResult`
 */
export const printDocument = async (session: Session, data: unknown): Promise<boolean> =>
  session.settings.format !== 'json' || printResult(session, data, {});

/**
 * Returns the requested format; by default a table on a terminal, unless there is only one value, and lines otherwise,
 * which a script can use without parsing: the ciphertext alone, one name per line, or members with a tab before their
 * values.
 */
export function formatFor(session: Session, shape: OutputShape, destination: Destination): OutputFormat {
  const isForPerson = isToTerminal(session, destination);
  const hasTable = shape.table !== undefined || shape.forTerminal !== undefined || shape.result === undefined;
  return session.settings.format ?? (isForPerson && hasTable ? 'table' : 'raw');
}

/** Whether a terminal shows the result in brief. Scripts find all fields, under the names that they have always had. */
export const isBrief = ({ streams, settings: { format } }: Session): boolean =>
  streams.out.isTerminal && (format === undefined || format === 'table');

const isTable = (format: OutputFormat): boolean => format === 'table' || format === 'wide';

/** Whether there is nothing to list, on any page. */
function isEmptyList(data: unknown, shape: OutputShape): boolean {
  const { meta } = (data ?? {}) as Partial<ListDocument<unknown>>;
  if (meta !== undefined && meta.pagination['total-count'] > 0) return false;
  return (shape.table?.(data) ?? plainTable(data, shape)).rows.length === 0;
}

/** Formats the message of an empty list; the command works where this one was run. */
function emptyText(session: Session, { what, create }: EmptyList): string {
  if (create === undefined) return `No ${what} found.`;
  return `No ${what} yet. Create one: ${[create, ...session.placeOptions()].join(' ')}`;
}

/** Says on a terminal, which shows nothing else of the result, that the file of `--out` has it now. */
function sayWritten(session: Session, { result, written }: OutputShape, to: OutPlace): void {
  const { format } = session.settings;
  const isValue = result !== undefined && result.as !== 'lines' && (format === undefined || format === 'raw');
  const what = written ?? `the ${isValue ? inWords(result.member) : 'result'}`;
  session.remark(`Wrote ${what} to ${to.path}.`);
}

/** Warns that there was no result: no file was written. */
export const warnOfNoResult = (session: Session, to: OutPlace): void =>
  session.warn(`this command has no result, so ${to.path} was not written`);

const isToTerminal = ({ streams }: Session, { file }: Destination): boolean =>
  file === undefined && streams.out.isTerminal;

async function rendered(
  session: Session,
  data: unknown,
  shape: OutputShape,
  destination: Destination,
): Promise<string | Buffer> {
  const terminal = isToTerminal(session, destination);
  const format = formatFor(session, shape, destination);
  if (format === 'json') return jsonText(data, terminal);
  if (isTable(format)) {
    const wide = format === 'wide';
    // Of a list, a table has the same columns in a pipe.
    const isAskedList = shape.result?.as === 'lines' && shape.table === undefined;
    const tables =
      (terminal || wide || isAskedList) && shape.forTerminal !== undefined
        ? await shape.forTerminal(data, {
            runner: await withPermission(session, await session.runner()),
            wide,
          })
        : [
            shape.table?.(data) ??
              (terminal && !wide ? detailsTable(data, shape) : undefined) ??
              plainTable(data, shape, terminal),
          ];
    const texts = tables.map((table) => tableText(session, table, terminal, wide));
    return (await Promise.all(texts)).join('');
  }
  if (shape.result?.as === 'base64' && !destination.keepBase64) {
    const bytes = decodeBase64(cellText(memberOf(data, shape.result.member)));
    return terminal && session.settings.format === undefined ? forTerminal(bytes) : bytes;
  }
  const text = rawLines(data, shape)
    .map((line) => (line.endsWith('\n') ? line : `${line}\n`))
    .join('');
  return terminal && session.settings.format === undefined ? visibleLines(text) : text;
}

/** Returns the bytes of a result that is one value. */
export function resultBytes(data: unknown, { member, as }: NonNullable<OutputShape['result']>): Buffer {
  const text = cellText(memberOf(data, member));
  return as === 'base64' ? decodeBase64(text) : Buffer.from(text);
}

/** Returns the lines of a text result for `-o raw`. */
export function rawLines(data: unknown, shape: OutputShape): readonly string[] {
  if (shape.lines !== undefined) return shape.lines(data);
  if (shape.result === undefined) return plainRows((shape.table?.(data) ?? memberTable(data, false)).rows);
  const value = memberOf(data, shape.result.member);
  if (shape.result.as !== 'lines') return [cellText(value)];
  return Array.isArray(value) ? value.map(String) : [];
}

/** Formats JSON, indented for users, on one line for programs. */
export const jsonText = (data: unknown, indented: boolean): string =>
  indented ? visibleLines(`${JSON.stringify(data, undefined, 2)}\n`) : `${JSON.stringify(data)}\n`;

/** Formats one line per row, separated by tabs, as `cut`, `awk` and `sort` expect. */
const plainRows = (rows: Table['rows']): readonly string[] =>
  rows.map((row) => row.map((cell) => visible(exactText(cell))).join('\t'));

/**
 * Formats decrypted bytes for a terminal. Bytes that are not text could contain any escape sequence.
 * @throws `invalid` for such bytes
 */
function forTerminal(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes) || !isPlainText(text)) throw binaryRefused();
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

export const binaryRefused = (): CofferError =>
  new CofferError('invalid', 'refusing to write binary data to a terminal', {
    hint: 'use --out FILE, a pipe, --base64, or -o raw',
  });

const memberOf = (data: unknown, member: string): unknown =>
  typeof data === 'object' && data !== null ? (data as Readonly<Record<string, unknown>>)[member] : undefined;

/** Returns a table; a list has one row per value, as without `-o`. */
/** @param isForPerson whether numbers that are times and durations are shown as such */
function plainTable(data: unknown, { result }: OutputShape, isForPerson = false): Table {
  const values = result?.as === 'lines' ? memberOf(data, result.member) : undefined;
  if (result === undefined || !Array.isArray(values)) return memberTable(data, isForPerson);
  return { head: [result.member], rows: values.map((value) => [String(value)]) };
}

const memberTable = (data: unknown, isForPerson: boolean): Table => ({
  head: ['Field', 'Value'],
  rows:
    typeof data === 'object' && data !== null
      ? Object.entries(data).flatMap(([name, value]) =>
          value === undefined
            ? []
            : [[name, isForPerson ? personsCell(name, value) : timeCell(cellText(value))]],
        )
      : [[cellText(data)]],
});

/** Names of members that are Unix times, or durations, in seconds. */
const UNIX_TIME = /(?:^|_)time(?:_utc)?$/;
const SECONDS = /(?:^|_)(?:ttl|duration|period)$/;

/** Formats a member for a person: a Unix time as a time, seconds with the larger unit beside them. */
function personsCell(name: string, value: unknown): Cell {
  if (isTimes(value)) {
    const times = Object.entries(value).map(([key, seconds]) => `${key}: ${printTime(seconds * MS)}`);
    return times.join(', ');
  }
  if (typeof value !== 'number' || value < 1) return timeCell(cellText(value));
  if (UNIX_TIME.test(name)) return { time: printTime(value * MS) };
  return SECONDS.test(name) ? `${value} (${durationText(value * MS)})` : String(value);
}

/** Words in the names of members, where a terminal has others. */
const WORDS: Readonly<Record<string, string>> = {
  ca: 'CA',
  cidrs: 'CIDRs',
  id: 'ID',
  ids: 'IDs',
  ip: 'IP',
  jwks: 'JWKS',
  jwt: 'JWT',
  num: '',
  ocsp: 'OCSP',
  oidc: 'OIDC',
  pem: 'PEM',
  pubkeys: 'public keys',
  ttl: 'TTL',
  url: 'URL',
  uris: 'URIs',
};

/** Returns the name of a member in words, e.g. `secret ID` of `secret_id`. */
const inWords = (name: string): string =>
  name
    .split('_')
    .map((word) => (Object.hasOwn(WORDS, word) ? WORDS[word] : word))
    .filter((word) => word !== '')
    .join(' ');

/** Returns a table of an object for a person; undefined if none is declared, or nothing is set. */
function detailsTable(data: unknown, { details }: OutputShape): Table | undefined {
  if (details === undefined || !isObject(data)) return undefined;
  const { labels = {}, unset = {}, whenUnset = {} } = details;
  const rows = Object.entries(data).flatMap(([name, value]): Cell[][] => {
    const words = inWords(name);
    const label = labels[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
    const isUnset = value === unset[name] || value === 0 || UNSET.has(cellText(value));
    const cell = isUnset ? whenUnset[name] : plainCell(name, value);
    return cell === undefined || label === '' ? [] : [[label, cell]];
  });
  return rows.length === 0 ? undefined : { head: ['', ''], rows, summary: 'More: -o wide' };
}

/** Texts of values that are empty. */
const UNSET: ReadonlySet<string> = new Set(['', '[]', '{}']);

/** Formats a member in words: lists with commas, durations and times, yes and no. */
function plainCell(name: string, value: unknown): Cell {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(firstLine).join(', ');
  if (isObject(value) && !isTimes(value))
    return Object.entries(value)
      .map(([key, member]) => `${key}: ${firstLine(member)}`)
      .join(', ');
  if (typeof value === 'string') return timeCell(firstLine(value));
  return typeof value === 'number' && SECONDS.test(name)
    ? durationText(value * MS)
    : personsCell(name, value);
}

/** Returns the first line of a text of several, such as a certificate. */
function firstLine(value: unknown): string {
  const [first = '', ...others] = cellText(value).trim().split('\n');
  return others.length === 0 ? first : `${first} …`;
}

const MS = 1000;

/** Least number that is taken for a Unix time in seconds: in 2001. */
const LEAST_TIME = 1e9;

/** Whether a value is an object with Unix times alone, such as those of the versions of a key. */
const isTimes = (value: unknown): value is Readonly<Record<string, number>> =>
  isObject(value) &&
  Object.keys(value).length > 0 &&
  Object.values(value).every((seconds) => typeof seconds === 'number' && seconds >= LEAST_TIME);

const cellText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

async function tableText(session: Session, table: Table, terminal: boolean, wide: boolean): Promise<string> {
  const { drawTable } = await import('../terminal/table.ts');
  const now = Date.now();
  const text = (cell: Cell): string =>
    typeof cell === 'string' || wide || !terminal ? exactText(cell) : ageText(cell.time, now);
  const shown = {
    head: table.head.map(visible),
    rows: table.rows.map((row) => row.map((cell) => visible(text(cell)))),
    whole: table.whole,
    lesser: table.lesser,
    summary: table.summary === undefined ? undefined : visible(table.summary),
    note: table.note,
  };
  return drawTable(shown, {
    boxed: terminal,
    colour: terminal && session.colour,
    plain: session.settings.plainLines,
    columns: session.streams.out.columns,
    wide,
  });
}
