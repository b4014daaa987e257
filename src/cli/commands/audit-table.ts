import type { Table } from '../../operations/declaration/table.ts';
import type { Session } from '../session.ts';
import { localTime } from '../terminal/time-texts.ts';
import { visible } from '../terminal/visible.ts';
import { columnWidths, displayWidth, excessOf, wrapped } from '../wrap.ts';

/* Formats the requests of an audit log as a table: on a terminal one line per request, if it is wide enough. */

/** Request of an audit log, as far as it is shown. */
export interface AuditEntry {
  /** RFC 3339, UTC. */
  readonly time: string;
  /** Display name of the token, e.g. `userpass-ada`; empty without a valid token. */
  readonly who: string;
  /** AppRole role that the caller logged in with; empty for others, and in the logs of older releases. */
  readonly role: string;
  readonly accessor: string;
  /** `read`, `create`, `update`, `delete` or `list`. */
  readonly operation: string;
  readonly path: string;
  readonly remote_address: string;
  /** Status of the response; 0 if none was recorded, because the server died or the record is still to come. */
  readonly status: number;
  /** Error text of the response; empty if it succeeded. */
  readonly error: string;
}

/** Line below the requests on a terminal, where a local command is missing otherwise. */
export const SCOPE = 'Local commands are not recorded, only requests to a server.';

export const FIRST_FAILURE = 400;
/** Path of a login with a user name: `auth/userpass/login/ada`. */
const LOGIN = /^auth\/.+\/login\/([^/]+)$/;
/** Display name of every token that was created without one. */
const UNNAMED = 'token';
/** Characters of an accessor that distinguish it from others. */
export const SHORT_ACCESSOR = 8;
/** Beginning of an accessor that is recorded as a hash. */
export const HASH_PREFIX = /^hmac-sha256:/;
/** Width of results that a table may need before columns are left out; a longer result is wrapped. */
const RESULT_WIDTH = 30;
/** Returns the user name of a login's path. */
export const loginName = (path: string): string | undefined => LOGIN.exec(path)?.[1];

export function resultText({ status, error }: AuditEntry): string {
  if (status === 0) return 'no response';
  if (status < FIRST_FAILURE) return 'ok';
  // Vault's texts have several lines, the first of which counts the errors.
  const text = error.replace(/^1 error occurred:\s+\* /, '');
  return text === '' ? `status ${status}` : inOneLine(text);
}

export const inOneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');

/** Formats requests for `-o table`, `-o wide` and terminals. */
export function auditTable(entries: readonly AuditEntry[], { settings, streams }: Session): Table {
  const isWide = settings.format === 'wide';
  const { isTerminal, columns } = streams.out;
  if (isTerminal && !isWide) return { ...fittingTable(entries, columns), note: SCOPE };
  return {
    note: isTerminal ? SCOPE : undefined,
    head: [
      isTerminal ? 'Time (local)' : 'Time',
      'User',
      'Operation',
      'Path',
      'Result',
      ...(isWide ? ['Accessor', 'Address'] : []),
    ],
    rows: entries.map((entry) => [
      timeText(entry.time),
      isWide ? callerText(entry) : userText(entry),
      entry.operation,
      entry.path,
      resultText(entry),
      ...(isWide ? [entry.accessor || '-', entry.remote_address || '-'] : []),
    ]),
    whole: 3,
  };
}

/** Column of a table on a terminal. */
interface Column {
  readonly head: string;
  text(entry: AuditEntry): string;
  /** Minimum widths, the second one for the narrowest terminals; undefined if its texts are never shortened. */
  readonly least?: readonly [number, number];
}

const USER: Column = { head: 'User', text: userText, least: [14, 8] };
const OPERATION: Column = { head: 'Operation', text: ({ operation }) => operation };
const PATH: Column = { head: 'Path', text: ({ path }) => path, least: [20, 10] };
/** Operation that needs no word before its path: what is done is in the path, such as `transit/decrypt/orders`. */
const USUAL = 'update';
/** Path without a column for the operation beside it. */
const PATH_ALONE: Column = {
  ...PATH,
  text: ({ operation, path }) => (operation === USUAL ? path : `${operation} ${path}`),
};
const RESULT: Column = { head: 'Result', text: resultText, least: [6, 6] };
/** In a narrow terminal, the most frequent refusal must leave room for the path. */
const SHORT_RESULT: Column = {
  ...RESULT,
  text: (entry) => resultText(entry).replace(/^permission denied$/, 'denied'),
};

/** Result of a request that failed for a reason that is folded below it. */
const FAILED = 'failed';
/** In the narrowest terminals, a word for the result; what it leaves out is folded below the path. */
const FOLDED_RESULT: Column = {
  ...RESULT,
  text(entry) {
    const text = SHORT_RESULT.text(entry).replace(/^status (?=\d+$)/, '');
    if (displayWidth(text) <= FAILED.length) return text;
    return entry.status === 0 ? '-' : FAILED;
  },
};
/** Maximum height of a folded reason, in lines. */
const MOST_FOLDED = 4;

/** Shortens times first, then leaves out the operations, then folds results, then shortens users and paths. */
function fittingTable(entries: readonly AuditEntry[], columns: number): Table {
  const full = [{ head: 'Time (local)', text: longTime }, USER, OPERATION, PATH, RESULT];
  if (isFitting(entries, full, columns)) return tableOf(entries, full);
  const days = new Set(entries.map(({ time }) => timeText(time).slice(0, DATE_LENGTH)));
  const [day = ''] = days.size === 1 ? days : [];
  const short = day === '' ? shortTime : clockTime;
  const summary = `${day === '' ? 'Local times' : `${day}, local times`}; use -o wide for the full table`;
  const time = { head: 'Time', text: (entry: AuditEntry) => short(timeText(entry.time)) };
  const withOperation = [time, USER, OPERATION, PATH, SHORT_RESULT];
  if (isFitting(entries, withOperation, columns)) return { ...tableOf(entries, withOperation), summary };
  const unfolded = [time, USER, PATH_ALONE, SHORT_RESULT];
  const whole = tableOf(entries, unfolded);
  if (excessOf(widthsOf(whole.rows, unfolded), columns) <= 0) return { ...whole, summary };
  const least = [time, USER, PATH_ALONE, FOLDED_RESULT];
  const { head, rows } = tableOf(entries, least);
  return { head, rows: withReasons(entries, shortened(rows, least, columns), [head, columns]), summary };
}

/** Adds the reasons that have no room beside a path below it. */
function withReasons(
  entries: readonly AuditEntry[],
  rows: Rows,
  [head, columns]: readonly [head: readonly string[], columns: number],
): Rows {
  const widths = columnWidths([head, ...rows]);
  const at = head.indexOf(PATH.head);
  const width = (widths[at] ?? 0) + Math.max(0, -excessOf(widths, columns));
  return rows.flatMap((row, index) => {
    const entry = entries[index];
    const result = row.at(-1);
    if (entry === undefined || (result !== FAILED && result !== '-')) return [row];
    const lines = wrapped(visible(resultText(entry)), width, 0).split('\n');
    const shown =
      lines.length <= MOST_FOLDED
        ? lines
        : [...lines.slice(0, MOST_FOLDED - 1), lines.slice(MOST_FOLDED - 1).join(' ')];
    const below = shown.map((line) => row.map((_, column) => (column === at ? cutAtEnd(line, width) : '')));
    return [row, ...below];
  });
}

type Rows = readonly (readonly string[])[];

const tableOf = (entries: readonly AuditEntry[], shown: readonly Column[]) => ({
  head: shown.map(({ head }) => head),
  rows: entries.map((entry): readonly string[] => shown.map(({ text }) => visible(text(entry)))),
  whole: shown.indexOf(PATH),
});

function isFitting(entries: readonly AuditEntry[], shown: readonly Column[], columns: number): boolean {
  const widths = widthsOf(tableOf(entries, shown).rows, shown);
  const last = widths.length - 1;
  return excessOf([...widths.slice(0, last), Math.min(widths[last] ?? 0, RESULT_WIDTH)], columns) <= 0;
}

const widthsOf = (rows: Rows, shown: readonly Column[]): readonly number[] =>
  columnWidths([shown.map(({ head }) => head), ...rows]);

/** Shortens cells to one line: the widest column first, each down to its minimum widths. */
function shortened(rows: Rows, shown: readonly Column[], columns: number): Rows {
  const widths = [...widthsOf(rows, shown)];
  let excess = excessOf(widths, columns);
  for (const step of [0, 1] as const) {
    for (; excess > 0; excess -= 1) {
      const spare = widths.map((width, column) => width - (shown[column]?.least?.[step] ?? width));
      const most = Math.max(...spare);
      if (most <= 0) break;
      const column = spare.indexOf(most);
      widths[column] = (widths[column] ?? 0) - 1;
    }
  }
  return rows.map((row) =>
    row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return shown[column] === PATH_ALONE ? cutPath(cell, width) : cutAtEnd(cell, width);
    }),
  );
}

function cutAtEnd(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  // Every character takes a cell at least; the paths that callers send may be long.
  let cut = [...text].slice(0, width);
  while (displayWidth(cut.join('')) > width - 1) cut = cut.slice(0, -1);
  return `${cut.join('')}…`;
}

/** Word of `PATH_ALONE` before a path. */
const VERB = /^[a-z]{1,6} /;
/** Characters that a shortened name keeps at least. */
const LEAST_NAME = 5;

/**
 * The end of a path says what was done with which key: the beginning is cut, then the middle of a long name; but if a
 * word says what was done, a name that fits by itself stays whole.
 */
function cutPath(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  const [verb = ''] = VERB.exec(text) ?? [];
  const path = text.slice(verb.length);
  const slash = path.lastIndexOf('/');
  const action = path.slice(Math.max(path.lastIndexOf('/', slash - 1), 0), slash + 1);
  const name = path.slice(slash + 1);
  const rest = width - displayWidth(`${verb}…${action}`);
  if (slash < 0 || displayWidth(name) <= rest + 1 || rest < LEAST_NAME) {
    const end = endOf(path, width - displayWidth(verb) - 1);
    const part = end.slice(0, -name.length - 1).indexOf('/');
    return `${verb}…${part < 0 ? end : end.slice(part)}`;
  }
  const last = `${verb}…/${name}`;
  if (verb !== '' && displayWidth(last) <= width) return last;
  const half = cutAtEnd(name, Math.ceil(rest / 2));
  return `${verb}…${action}${half}${endOf(name, rest - displayWidth(half))}`;
}

function endOf(text: string, width: number): string {
  let end = [...text].slice(-width);
  while (displayWidth(end.join('')) > width) end = end.slice(1);
  return end.join('');
}

/**
 * Names the caller: a token without a name by its accessor, a role of AppRole by its name, a login that succeeded by the
 * user of its path.
 */
export function userText(entry: AuditEntry): string {
  const { who, accessor } = entry;
  return who === UNNAMED && accessor !== ''
    ? `${UNNAMED} ${accessor.replace(HASH_PREFIX, '').slice(0, SHORT_ACCESSOR)}`
    : callerText(entry);
}

/** Names the caller where the accessor has a column of its own. */
function callerText(entry: AuditEntry): string {
  const { who, path, status } = entry;
  const isLoggedIn = who === '' && status > 0 && status < FIRST_FAILURE;
  return nameText(entry) || (isLoggedIn ? loginName(path) : undefined) || '-';
}

const nameText = ({ who, role }: AuditEntry): string => (role === '' ? who : `${who} ${role}`);

const longTime = ({ time }: AuditEntry): string => timeText(time);

function timeText(time: string): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? time : localTime(at);
}

const DATE_LENGTH = '2026-11-27'.length;
const clockTime = (time: string): string => time.slice(DATE_LENGTH + 1);
const shortTime = (time: string): string => time.slice('2026-'.length, '2026-11-27 08:18'.length);
