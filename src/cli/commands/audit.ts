import { parseGoDuration } from '../../ground/durations.ts';
import { attempt, type CofferError, invalid } from '../../ground/errors.ts';
import { meantText, nearest } from '../../ground/nearness.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import { KEY_NAME } from '../../transit/key-document.ts';
import { argument, type OwnCommand, switching, taking } from '../command.ts';
import { openInFile } from '../files/in-file.ts';
import { announceStandardInput } from '../files/input.ts';
import { type JsonItem, LineCutter } from '../files/json-items.ts';
import { printResult } from '../files/output.ts';
import { type Given, numberOption, textOption } from '../given.ts';
import type { Session } from '../session.ts';
import { chunksOf } from '../terminal/streams.ts';
import {
  type AuditEntry,
  auditTable,
  FIRST_FAILURE,
  HASH_PREFIX,
  inOneLine,
  loginName,
  resultText,
  SCOPE,
  SHORT_ACCESSOR,
  userText,
} from './audit-table.ts';

/* Reads the audit log of a server: who did what, and when. Needs neither store nor server. */

const SINCE = 'since';
const UNTIL = 'until';
const USER = 'user';
const PATH = 'path';
const FAILED = 'failed';
const LAST = 'last';
const ALL = 'all';
const DEFAULT_LAST = 200;
/** Status of a read that found nothing. */
const NOT_FOUND = 404;
/** Path on which commands ask what their token may do, before they look up names and details by themselves. */
const OWN_QUESTIONS = 'sys/capabilities-self';
const TIME_HINT =
  'use a duration such as 2h or 7d, "today", "yesterday", or a time such as 22:00 or 2026-11-26T22:00';

export const show: OwnCommand = {
  arguments: [argument('FILE', 'Audit log of a server; "-" reads standard input.', { offers: 'file' })],
  options: [
    taking(
      SINCE,
      'TIME',
      'Only requests since TIME: 2h or 7d (ago), today, yesterday, 22:00 (the most recent), or 2026-11-26T22:00.',
    ),
    taking(UNTIL, 'TIME', 'Only requests before TIME, in the same forms as with --since.'),
    taking(
      USER,
      'NAME',
      'Only requests of this user or token (name or accessor, as listed by this command), and attempts to log in with this name.',
    ),
    taking(PATH, 'PREFIX', 'Only requests whose path begins with PREFIX, e.g. transit/decrypt/.'),
    switching(FAILED, 'Only requests that failed or were denied.'),
    taking(LAST, 'N', 'Only the last N requests that match the other options (0: all).', {
      fallback: String(DEFAULT_LAST),
    }),
    switching(
      ALL,
      `Also list requests to ${OWN_QUESTIONS}, which coffer commands send by themselves, and, with --failed, ` +
        'the reads that found nothing. On a terminal, neither is listed without this option or --path.',
    ),
  ],
  details:
    'Reads a file that "coffer serve --audit-log FILE" wrote: one line per request, oldest first. Times are local, ' +
    'with -o json in UTC. On a narrow terminal, columns are left out and paths are shortened; -o wide also shows accessors ' +
    'and addresses. A request whose response is not recorded has no result: the server exited, or is still processing it.',
  examples: [
    ['coffer audit show audit.log --since yesterday', 'Show the requests since yesterday and their callers'],
    ['coffer audit show audit.log --user ada --path transit/decrypt/', "Show ada's requests to decrypt"],
    [
      'coffer audit show audit.log --failed --last 20',
      'Show the last 20 requests that failed or were denied',
    ],
    ['zcat audit.log.2.gz | coffer audit show -', 'Show an older, compressed audit log'],
  ],
  async run(session, { arguments: [file = '-'], options }) {
    const { settings, streams } = session;
    if (session.isTokenGiven)
      session.warn(
        `--token does not select requests; to list the requests of a token, use --${USER} ACCESSOR`,
      );
    const isForPerson = streams.out.isTerminal && (settings.format ?? 'table') === 'table';
    const isOmitted = isForPerson && !options.has(ALL) && !options.has(PATH);
    const users = new AuditUsers(textOption(options, USER));
    const asked = filterOf(options, users, Date.now());
    const prefix = textOption(options, PATH) ?? '';
    let isPathFound = false;
    const isBelow = ({ path }: AuditEntry): boolean => {
      const isMatch = path.startsWith(prefix);
      isPathFound ||= isMatch;
      return isMatch;
    };
    let emptyReads = 0;
    const isEmptyRead = (entry: AuditEntry): boolean => {
      const isOne = isOmitted && options.has(FAILED) && foundNothing(entry);
      if (isOne) emptyReads += 1;
      return isOne;
    };
    const matches = (entry: AuditEntry): boolean =>
      isBelow(entry) && !(isOmitted && isOwnQuestion(entry)) && asked(entry) && !isEmptyRead(entry);
    const last = numberOption(options, LAST, /^\d{1,9}$/, 'use an integer of at least 0') ?? DEFAULT_LAST;
    const most = last === 0 ? Number.POSITIVE_INFINITY : last;
    const collected = await collect(linesOf(bytesOf(session, file)), matches, users, most);
    const { shown, read, unreadable, leftOut } = collected;
    if (unreadable > 0 && read === 0) throw noLog(file);
    if (unreadable > 0)
      session.warn(
        unreadable === 1 ? '1 line is not an audit record' : `${unreadable} lines are not audit records`,
      );
    if (leftOut > 0) session.remark(`Earlier requests left out: ${leftOut} (use --${LAST} 0 to show all).`);
    if (emptyReads > 0)
      session.remark(`Reads that found nothing, left out: ${emptyReads} (use --${ALL} to show them).`);
    const log = file === '-' ? 'standard input' : file;
    const isUserMissing = read > 0 && users.sayIfMissing(session, log);
    if (read > 0 && !isPathFound)
      session.say(
        `No path in ${log} begins with "${prefix}": paths begin with the mount, e.g. ${pathLike(prefix)}`,
      );
    // That was said already.
    if (isForPerson && (isUserMissing || !isPathFound)) return session.remark(SCOPE);
    await printResult(session, shown, {
      table: () => auditTable(shown, session),
      lines: () =>
        shown.map((entry) =>
          [entry.time, entry.who || '-', entry.operation, inOneLine(entry.path), resultText(entry)].join(
            '\t',
          ),
        ),
      empty: { what: 'requests' },
    });
    if (shown.length === 0 && isForPerson) session.remark(SCOPE);
  },
};

const noLog = (file: string): CofferError =>
  invalid(`${file === '-' ? 'the input' : file} is not an audit log`, {
    hint: 'use the file that "coffer serve --audit-log FILE" writes',
  });

/** Number of requests in memory before those that are not shown are dropped. */
const TRIM_FROM = 10_000;

/**
 * Collects the requests that match, in the order of their records.
 * @param lines lines; undefined for one that was too long to be read
 * @returns requests, and the number of lines that are records, also of requests that do not match
 */
async function collect(
  lines: AsyncIterable<string | undefined>,
  matches: (entry: AuditEntry) => boolean,
  users: AuditUsers,
  most: number,
) {
  // By their IDs; of a request that modifies, the response replaces the record before it.
  let entries = new Map<string, AuditEntry>();
  let trimAt = TRIM_FROM;
  let [read, unreadable, leftOut] = [0, 0, 0];
  // Drops entries that do not match, and the oldest of the rest.
  const trim = (): void => {
    const matching = [...entries].filter(([, entry]) => matches(entry));
    const surplus = Math.max(0, matching.length - most);
    leftOut += surplus;
    entries = new Map(matching.slice(surplus));
  };
  for await (const line of lines) {
    const record = line === undefined ? undefined : recordIn(line);
    if (record === undefined) {
      unreadable += 1;
      continue;
    }
    read += 1;
    users.see(record.entry);
    if (entries.size >= trimAt) {
      trim();
      trimAt = Math.max(TRIM_FROM, 2 * entries.size);
    }
    entries.set(record.id, record.entry);
  }
  trim();
  return { shown: [...entries.values()], read, unreadable, leftOut };
}

/** Returns the request of a line; undefined if it is not an audit record. */
function recordIn(line: string): { readonly id: string; readonly entry: AuditEntry } | undefined {
  const record: unknown = attempt(() => JSON.parse(line));
  if (!isObject(record) || typeof record['time'] !== 'string' || !isObject(record['request']))
    return undefined;
  const { request } = record;
  const auth = objectIn(record, 'auth');
  const status = objectIn(record, 'response')['status'];
  const entry: AuditEntry = {
    time: record['time'],
    who: textIn(auth, 'display_name'),
    role: textIn(objectIn(auth, 'metadata'), 'role_name'),
    accessor: textIn(auth, 'accessor'),
    operation: textIn(request as JsonObject, 'operation'),
    path: textIn(request as JsonObject, 'path'),
    remote_address: textIn(request as JsonObject, 'remote_address'),
    status: typeof status === 'number' ? status : 0,
    error: textIn(record, 'error'),
  };
  return { id: textIn(request as JsonObject, 'id'), entry };
}

const objectIn = (record: JsonObject, member: string): JsonObject => {
  const value = record[member];
  return isObject(value) ? value : {};
};

const textIn = (record: JsonObject, member: string): string => {
  const value = record[member];
  return typeof value === 'string' ? value : '';
};

/** Returns the filter that the options describe. */
function filterOf(
  options: Given['options'],
  users: AuditUsers,
  nowMs: number,
): (entry: AuditEntry) => boolean {
  const since = timeOption(options, SINCE, nowMs) ?? Number.NEGATIVE_INFINITY;
  const until = timeOption(options, UNTIL, nowMs) ?? Number.POSITIVE_INFINITY;
  const onlyFailed = options.has(FAILED);
  return (entry) => {
    const ms = Date.parse(entry.time);
    if (ms < since || ms >= until) return false;
    if (onlyFailed && entry.status < FIRST_FAILURE) return false;
    return users.accepts(entry);
  };
}

/** Whether a request is one that a command sent by itself, and that tells nothing about its user. */
const isOwnQuestion = ({ path, status }: AuditEntry): boolean =>
  path === OWN_QUESTIONS && status < FIRST_FAILURE;

/** Whether it asked for something that does not exist, as many commands do before they create it. */
const foundNothing = ({ operation, status }: AuditEntry): boolean =>
  status === NOT_FOUND && (operation === 'read' || operation === 'list');

/**
 * Returns a point in time, in milliseconds since the Unix epoch.
 * @throws `invalid` if it cannot be understood
 */
function timeOption(options: Given['options'], flag: string, nowMs: number): number | undefined {
  const text = textOption(options, flag);
  if (text === undefined) return undefined;
  const midnight = new Date(nowMs);
  midnight.setHours(0, 0, 0, 0);
  if (text === 'today') return midnight.getTime();
  if (text === 'yesterday') return midnight.setDate(midnight.getDate() - 1);
  if (/^(?:\d+[a-z]+)+$/.test(text)) {
    const seconds = parseGoDuration(text);
    if (seconds > 0) return nowMs - seconds * 1000;
  }
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours !== undefined) return lastTime(nowMs, Number(hours), Number(minutes));
  // A date alone would be midnight in UTC.
  const ms = /^\d{4}-\d\d-\d\d/.test(text)
    ? Date.parse(text.length === 10 ? `${text}T00:00` : text)
    : Number.NaN;
  if (Number.isNaN(ms)) throw invalid(`invalid time "${text}"`, { field: `--${flag}`, hint: TIME_HINT });
  return ms;
}

/** Returns when it was last this time of the day, in local time: today, or yesterday if it is later than now. */
function lastTime(nowMs: number, hours: number, minutes: number): number {
  const at = new Date(nowMs);
  at.setHours(hours, minutes, 0, 0);
  return at.getTime() <= nowMs ? at.getTime() : at.setDate(at.getDate() - 1);
}

/** Maximum length of a line: several times a record of the largest request. */
const MOST_LINE_BYTES = 2 ** 28;

/** Reads a file, or standard input, piece by piece: an audit log may be larger than memory. */
async function* bytesOf(session: Session, file: string): AsyncGenerator<Buffer> {
  if (file === '-') {
    announceStandardInput(session);
    return yield* chunksOf(session.streams.in);
  }
  const input = openInFile(file, 'FILE');
  try {
    yield* chunksOf(input);
  } finally {
    input.close();
  }
}

/**
 * Yields the lines that are not empty; undefined for a line that is too long for a record, which is not kept in memory.
 */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string | undefined> {
  const cutter = new LineCutter(MOST_LINE_BYTES);
  for await (const chunk of chunks) yield* textsOf(cutter.push(chunk));
  yield* textsOf(cutter.end());
}

function* textsOf(lines: Iterable<JsonItem>): Generator<string | undefined> {
  for (const line of lines) {
    const text = 'bytes' in line ? line.bytes.toString().trim() : undefined;
    if (text !== '') yield text;
  }
}

/** Names of an audit log that are kept to find one that is near to a mistyped one. */
const MOST_NAMES = 10_000;

/** Display name of the tokens of all AppRole roles. */
const APPROLE = 'approle';
const ROLES_UNNAMED =
  'older releases of Coffer did not record the roles of AppRole logins: use --user approle or --user ACCESSOR';

/** Users of an audit log, of which one may be asked for by any name that a table shows. */
class AuditUsers {
  readonly #asked: string | undefined;
  readonly #names = new Set<string>();
  #isFound = false;

  /**
   * Creates it.
   * @param asked name of a user or token; undefined to accept all
   */
  constructor(asked: string | undefined) {
    this.#asked = asked;
  }

  /** Takes note of a request, whether it is shown or not. */
  see(entry: AuditEntry): void {
    if (this.#asked === undefined || this.#isFound) return;
    this.#isFound = this.accepts(entry);
    if (this.#names.size >= MOST_NAMES) return;
    // The display name of a login begins with the name of its method.
    const names = [
      entry.who,
      entry.who.replace(/^[^-]*-/, ''),
      entry.role,
      userText(entry),
      loginName(entry.path) ?? '',
    ];
    for (const name of names) if (name !== '' && name !== '-') this.#names.add(name);
  }

  /** Whether a request is of the user. */
  accepts(entry: AuditEntry): boolean {
    const asked = this.#asked;
    const { who, role, accessor, path } = entry;
    if (
      asked === undefined ||
      who === asked ||
      role === asked ||
      accessor === asked ||
      userText(entry) === asked
    )
      return true;
    const bare = accessor.replace(HASH_PREFIX, '');
    if (asked.length >= SHORT_ACCESSOR && bare.startsWith(asked)) return true;
    // A login itself has no token yet.
    return who.endsWith(`-${asked}`) || loginName(path)?.toLowerCase() === asked.toLowerCase();
  }

  /**
   * Says that the log has no request of the user, which an empty result alone would not tell from one whose requests
   * the other options exclude.
   * @param log the log in messages
   * @returns whether that is so
   */
  sayIfMissing(session: Session, log: string): boolean {
    if (this.#asked === undefined || this.#isFound) return false;
    const near = nearest(this.#asked, [...this.#names]);
    const ofRoles = this.#names.has(APPROLE) ? ` (${ROLES_UNNAMED})` : '';
    const meant = near.length === 0 ? ofRoles : ` (${meantText(near)})`;
    session.say(`No requests of user "${this.#asked}" in ${log}${meant}`);
    return true;
  }
}

/** First words of paths below the mount of keys. */
const OF_KEYS = /^(?:en|de)crypt$|^(?:sign|verify|hmac|rewrap|keys|datakey|backup|restore|export)$/;

/** Returns a path as it is logged, for a word that is only a part of one. */
function pathLike(word: string): string {
  if (OF_KEYS.test(word)) return `transit/${word}/`;
  return `transit/keys/${KEY_NAME.test(word) ? word : 'orders'}`;
}
