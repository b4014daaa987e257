import type { KeyObject } from 'node:crypto';
import { shellGlob } from '../ground/glob.ts';
import { sshLine } from './ssh-key.ts';

/*
 * OpenSSH's allowed_signers file (ssh-keygen(1), ALLOWED SIGNERS). A line has patterns of principals, options, and a
 * public key.
 */

export interface AllowedSigner {
  readonly principals: string;
  /** In the form of {@link signerKey}, not parsed: lists may be long, and only one key is searched for. */
  readonly key: string;
  /** Patterns of namespaces; absent for all. */
  readonly namespaces?: string | undefined;
  /** In milliseconds since the epoch; absent for no limit. */
  readonly validAfter?: number;
  readonly validBefore?: number;
}

/** Query for signers. */
interface SignerQuestion {
  /** In the form of {@link signerKey}. */
  readonly key: string;
  readonly namespace: string;
  /** Time of signing, or of verification, in milliseconds since the epoch. */
  readonly at: number;
}

/** Returns a key in the form of a line, for comparison. */
export const signerKey = (key: KeyObject): string => sshLine(key, '').trimEnd();

/** Malformed line, which allows no signatures. */
interface BrokenLine {
  /** Principals of the line; absent if not even they can be parsed. */
  readonly principals?: string;
  /** Reason, e.g. `line 3 has an unknown option`. */
  readonly why: string;
}

/**
 * Parses an allowed_signers file like OpenSSH. Invalid lines are skipped and do not affect other lines. Lines for
 * certificate authorities and unsupported key types are ignored.
 * @see docs/decisions/0166
 */
export function parseAllowedSigners(text: string) {
  const signers: AllowedSigner[] = [];
  const broken: BrokenLine[] = [];
  for (const [index, each] of text.split('\n').entries()) {
    const line = each.replace(/^[ \t\r]+/, '').replace(/\r$/, '');
    if (line === '' || line.startsWith('#')) continue;
    const found = parseLine(line);
    if (found === undefined) continue;
    if ('key' in found) signers.push(found);
    else broken.push({ ...found, why: `line ${index + 1} ${found.why}` });
  }
  return { signers, broken };
}

/** Word, whose end may be quoted, and the text after it. */
const WORD = /^([^ \t\r"]*)(?:"([^"]*)")?[ \t\r]*(.*)/s;
const KEY = /^(ssh|ecdsa|sk)-[\w@.-]+[ \t]/;
const SUPPORTED = /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp\d+)[ \t]/;

function parseLine(line: string): AllowedSigner | BrokenLine | undefined {
  const [, start = '', quoted = '', behind = ''] = WORD.exec(line) ?? [];
  if (behind.startsWith('"')) return { why: 'has a quote that is not closed' };
  const principals = start + quoted;
  const broken = (why: string): BrokenLine => ({ principals, why });
  if (behind === '') return broken('has no key');
  const end = KEY.test(behind) ? 0 : endOfOptions(behind);
  const options = end === undefined ? 'has a quote that is not closed' : parseOptions(behind.slice(0, end));
  if (typeof options === 'string') return broken(options);
  const rest = behind.slice(end).replace(/^[ \t]+/, '');
  if (!KEY.test(rest)) return broken('has no key after its options');
  if (options.isAuthority || !SUPPORTED.test(rest)) return undefined;
  const [name, blob = ''] = rest.split(/[ \t]+/, 2);
  return { principals, key: `${name} ${blob}`, ...options.limits };
}

/**
 * Finds the end of the options: a blank outside of quotes.
 * @returns undefined for an unterminated quote
 */
function endOfOptions(text: string): number | undefined {
  let isQuoted = false;
  let at = 0;
  for (; at < text.length && (isQuoted || (text[at] !== ' ' && text[at] !== '\t')); at++) {
    if (text[at] === '\\' && text[at + 1] === '"') at++;
    else if (text[at] === '"') isQuoted = !isQuoted;
  }
  return isQuoted ? undefined : at;
}

const VALUED = /^(?:namespaces|valid-after|valid-before)$/i;
const FILLED = /^(?:namespaces|valid-after|valid-before)="(?:\\"|[^"])*"/i;
const AUTHORITY = /^cert-authority$/i;
const FLAG = /^cert-authority(?=,|$)/i;
const OPTION = /^(namespaces|valid-after|valid-before)="((?:\\"|[^"\\]|\\(?!"))*)"(?=,|$)/i;

/**
 * Parses options.
 * @returns the reason if they are malformed: an unknown option may be a restriction
 */
function parseOptions(text: string) {
  const values = new Map<string, string>();
  let isAuthority = false;
  if (text.endsWith(',')) return 'has options that end with a comma';
  for (let rest = text; rest !== ''; ) {
    const [flag] = FLAG.exec(rest) ?? [];
    const [option, name = '', value = ''] = OPTION.exec(rest) ?? [];
    const whole = flag ?? option ?? (rest.startsWith(',') ? '' : undefined);
    if (whole === undefined) return whyNoOption(rest);
    if (flag !== undefined) isAuthority = true;
    if (option !== undefined) {
      if (values.has(name.toLowerCase())) return `has a duplicate ${name.toLowerCase()}`;
      values.set(name.toLowerCase(), value.replaceAll('\\"', '"'));
    }
    rest = rest.slice(whole.length).replace(/^,/, '');
  }
  const times: { validAfter?: number; validBefore?: number } = {};
  for (const [name, member] of TIMES) {
    const given = values.get(name);
    if (given === undefined) continue;
    const time = parseSshTime(given);
    if (time === undefined) return `has the invalid time ${JSON.stringify(given)}`;
    times[member] = time;
  }
  const { validAfter = 0, validBefore = Number.POSITIVE_INFINITY } = times;
  if (validBefore <= validAfter) return 'is never valid: its valid-before is not later than its valid-after';
  const namespaces = values.get('namespaces');
  return { isAuthority, limits: { namespaces, ...times } };
}

/** Says why the rest of the options begins with none: a known one has no value in quotes, or text behind it. */
function whyNoOption(rest: string): string {
  const [name = ''] = /^[\w@.-]*/.exec(rest) ?? [];
  if (FILLED.test(rest)) return `has text behind the value of the option ${name}`;
  if (VALUED.test(name)) return `has the option ${name} without a value in double quotes`;
  if (AUTHORITY.test(name)) return `has a value for ${name}, which takes none`;
  return name === '' ? 'has an unknown option' : `has the unknown option ${JSON.stringify(name)}`;
}

const TIMES = [
  ['valid-after', 'validAfter'],
  ['valid-before', 'validBefore'],
] as const;

const TIME = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z|UTC)?$/i;

/**
 * Parses `YYYYMMDD` or `YYYYMMDDHHMM[SS]`, followed by `Z` or `UTC`, or else in local time.
 * @returns milliseconds since the epoch; undefined if it is malformed, or before the epoch
 */
export function parseSshTime(text: string): number | undefined {
  const [whole, ...parts] = TIME.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const [year, month, day, hour, minute, second] = parts.slice(0, 6).map((part) => Number(part ?? 0));
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const clock = [hour ?? 0, minute ?? 0, second ?? 0] as const;
  const isDate = year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
  // There are leap seconds, and programs that write two of them.
  if (!isDate || clock[0] > 23 || clock[1] > 59 || clock[2] > 61) return undefined;
  const date = [year, month - 1, day] as const;
  const time = parts[6] === undefined ? new Date(...date, ...clock).getTime() : Date.UTC(...date, ...clock);
  return time > 0 ? time : undefined;
}

/** Whether the key of an identity may sign for the query. */
export const maySign = (signer: AllowedSigner, identity: string, question: SignerQuestion): boolean =>
  matches(signer.principals, identity) &&
  isOf(signer, question) &&
  (signer.namespaces === undefined || matches(signer.namespaces, question.namespace));

/** Returns the malformed lines of an identity. */
export const brokenFor = (broken: readonly BrokenLine[], identity: string): readonly BrokenLine[] =>
  broken.filter(({ principals }) => principals === undefined || matches(principals, identity));

/**
 * Returns the possible signers, like `ssh-keygen -Y find-principals`: the patterns of the first line with the key. The
 * verification checks the namespace later.
 */
export const principalsOf = (
  signers: readonly AllowedSigner[],
  question: Omit<SignerQuestion, 'namespace'>,
): readonly string[] =>
  signers
    .find((signer) => isOf(signer, question))
    ?.principals.split(',')
    .filter((pattern) => pattern !== '') ?? [];

/** Whether key and time match. Times are whole seconds, inclusive (ssh-keygen(1): "at or before"). */
function isOf(
  { key, validAfter, validBefore }: AllowedSigner,
  asked: Omit<SignerQuestion, 'namespace'>,
): boolean {
  const at = Math.floor(asked.at / 1000) * 1000;
  return (
    key === asked.key &&
    (validAfter === undefined || at >= validAfter) &&
    (validBefore === undefined || at <= validBefore)
  );
}

/**
 * Matches OpenSSH's pattern lists: `*` and `?`, separated by commas; a matching pattern with a leading `!` excludes.
 */
function matches(patterns: string, text: string): boolean {
  let found = false;
  for (const pattern of patterns.split(',')) {
    const isNot = pattern.startsWith('!');
    if (!shellGlob(isNot ? pattern.slice(1) : pattern, text)) continue;
    if (isNot) return false;
    found = true;
  }
  return found;
}

/**
 * Formats a line for one key.
 * @param validAfter milliseconds since the epoch
 */
export function allowedSignerLine(
  identity: string,
  key: KeyObject,
  validAfter: number,
  comment: string,
): string {
  const time = new Date(validAfter)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:T]/g, '');
  return `${identity} valid-after="${time}" ${sshLine(key, comment)}`;
}
