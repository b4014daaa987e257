import type { KeyObject } from 'node:crypto';
import { sshLine } from './ssh-key.ts';

/*
 * Who may sign: OpenSSH's file of allowed signers (ssh-keygen(1), ALLOWED SIGNERS). A line has the patterns of whoever is
 * meant, options, and a public key.
 */

export interface AllowedSigner {
  readonly principals: string;
  /** As {@link signerKey} has it: lists may be long, and of their keys one is asked about. */
  readonly key: string;
  /** Patterns of namespaces; absent for all. */
  readonly namespaces?: string;
  /** In milliseconds since 1970; absent for no limit. */
  readonly validAfter?: number;
  readonly validBefore?: number;
}

/** What is asked of the file. */
export interface SignerQuestion {
  /** As {@link signerKey} has it. */
  readonly key: string;
  readonly namespace: string;
  /** When it was signed, or is verified; milliseconds since 1970. */
  readonly at: number;
}

/** A key as lines have it, for comparing. */
export const signerKey = (key: KeyObject): string => sshLine(key, '').trimEnd();

/** A line that lets nobody sign, because it can't be what it was meant to be. */
export interface BrokenLine {
  /** Absent when not even that can be read. */
  readonly principals?: string;
  /** E.g. `line 3 has an unknown option`. */
  readonly why: string;
}

export interface AllowedSigners {
  readonly signers: readonly AllowedSigner[];
  readonly broken: readonly BrokenLine[];
}

/**
 * Reads lines as OpenSSH does: what it would not understand lets nobody sign, and says nothing against other lines. Lines
 * with certificate authorities, and with keys of other kinds, are left out: no signature that is read here is theirs.
 * @see docs/decisions/0166
 */
export function parseAllowedSigners(text: string): AllowedSigners {
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

/** A word, of which the end may be quoted, and what follows it. */
const WORD = /^([^ \t\r"]*)(?:"([^"]*)")?[ \t\r]*(.*)/s;
const KEY = /^(ssh|ecdsa|sk)-[\w@.-]+[ \t]/;
const SUPPORTED = /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp\d+)[ \t]/;

function parseLine(line: string): AllowedSigner | BrokenLine | undefined {
  const [, start = '', quoted = '', behind = ''] = WORD.exec(line) ?? [];
  if (behind.startsWith('"')) return { why: 'has a quote that does not end' };
  const principals = start + quoted;
  const broken = (why: string): BrokenLine => ({ principals, why });
  if (behind === '') return broken('has no key');
  const end = KEY.test(behind) ? 0 : endOfOptions(behind);
  const options = end === undefined ? 'has a quote that does not end' : parseOptions(behind.slice(0, end));
  if (typeof options === 'string') return broken(options);
  const rest = behind.slice(end).replace(/^[ \t]+/, '');
  if (!KEY.test(rest)) return broken('has no key where one should be');
  if (options.isAuthority || !SUPPORTED.test(rest)) return undefined;
  const [name, blob = ''] = rest.split(/[ \t]+/, 2);
  return { principals, key: `${name} ${blob}`, ...options.limits };
}

/** Options end at a blank outside of quotes. @returns undefined when a quote does not end. */
function endOfOptions(text: string): number | undefined {
  let isQuoted = false;
  let at = 0;
  for (; at < text.length && (isQuoted || (text[at] !== ' ' && text[at] !== '\t')); at++) {
    if (text[at] === '\\' && text[at + 1] === '"') at++;
    else if (text[at] === '"') isQuoted = !isQuoted;
  }
  return isQuoted ? undefined : at;
}

interface Options {
  readonly isAuthority: boolean;
  readonly limits: Pick<AllowedSigner, 'namespaces' | 'validAfter' | 'validBefore'>;
}

const FLAG = /^cert-authority(?=,|$)/i;
const OPTION = /^(namespaces|valid-after|valid-before)="((?:\\"|[^"\\]|\\(?!"))*)"(?=,|$)/i;

/** @returns why they are none, instead: an option that is not known may have been meant to forbid something. */
function parseOptions(text: string): Options | string {
  const values = new Map<string, string>();
  let isAuthority = false;
  if (text.endsWith(',')) return 'has a comma with nothing behind it';
  for (let rest = text; rest !== ''; ) {
    const [flag] = FLAG.exec(rest) ?? [];
    const [option, name = '', value = ''] = OPTION.exec(rest) ?? [];
    const whole = flag ?? option ?? (rest.startsWith(',') ? '' : undefined);
    if (whole === undefined) return 'has an unknown option';
    if (flag !== undefined) isAuthority = true;
    if (option !== undefined) {
      if (values.has(name.toLowerCase())) return `has ${name.toLowerCase()} twice`;
      values.set(name.toLowerCase(), value.replaceAll('\\"', '"'));
    }
    rest = rest.slice(whole.length).replace(/^,/, '');
  }
  const times: Record<string, number> = {};
  for (const [name, member] of TIMES) {
    const given = values.get(name);
    if (given === undefined) continue;
    const time = parseSshTime(given);
    if (time === undefined) return `has ${JSON.stringify(given)} for a time`;
    times[member] = time;
  }
  const { validAfter = 0, validBefore = Number.POSITIVE_INFINITY } = times;
  if (validBefore <= validAfter) return 'ends before it begins';
  const namespaces = values.get('namespaces');
  return { isAuthority, limits: { ...(namespaces !== undefined && { namespaces }), ...times } };
}

const TIMES = [
  ['valid-after', 'validAfter'],
  ['valid-before', 'validBefore'],
] as const;

const TIME = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z|UTC)?$/i;

/**
 * `YYYYMMDD` or `YYYYMMDDHHMM[SS]`, with a `Z` or `UTC` behind it, or else the local time.
 * @returns milliseconds since 1970, or undefined for what is no time, or before that.
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

/** Whether somebody's key may sign what is asked about. */
export const maySign = (signer: AllowedSigner, identity: string, question: SignerQuestion): boolean =>
  matches(signer.principals, identity) &&
  isOf(signer, question) &&
  (signer.namespaces === undefined || matches(signer.namespaces, question.namespace));

/** What can't be understood of somebody's lines. */
export const brokenFor = (broken: readonly BrokenLine[], identity: string): readonly BrokenLine[] =>
  broken.filter(({ principals }) => principals === undefined || matches(principals, identity));

/**
 * Who may have signed, as `ssh-keygen -Y find-principals` has it: the patterns of the first line with the key. For which
 * namespace is a question for whoever verifies then.
 */
export const principalsOf = (
  signers: readonly AllowedSigner[],
  question: Omit<SignerQuestion, 'namespace'>,
): readonly string[] =>
  signers
    .find((signer) => isOf(signer, question))
    ?.principals.split(',')
    .filter((pattern) => pattern !== '') ?? [];

/** Times are whole seconds, and the last one counts (ssh-keygen(1): "at or before"). */
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

/** OpenSSH's lists of patterns: `*` and `?`, separated by commas; one with `!` in front that fits says no. */
function matches(patterns: string, text: string): boolean {
  let found = false;
  for (const pattern of patterns.split(',')) {
    const isNot = pattern.startsWith('!');
    if (!glob(isNot ? pattern.slice(1) : pattern, text)) continue;
    if (isNot) return false;
    found = true;
  }
  return found;
}

/** Without a regular expression: a pattern of many stars would let it run for ever. */
function glob(pattern: string, text: string): boolean {
  let [at, star, from] = [0, -1, 0];
  for (let position = 0; position < text.length; ) {
    const sign = pattern[at];
    if (sign === '*') {
      star = at++;
      from = position;
    } else if (sign === '?' || (sign !== undefined && sign === text[position])) {
      at++;
      position++;
    } else if (star >= 0) {
      at = star + 1;
      position = ++from;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

/** A line for one key. @param validAfter milliseconds since 1970. */
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
