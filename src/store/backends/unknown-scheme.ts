import { invalid } from '../../ground/errors.ts';
import { meantText, nearest } from '../../ground/nearness.ts';
import type { BackendKind } from './backend-kind.ts';

/** Everything before `://`, if no slash precedes it. */
const BEFORE_SLASHES = /^([^/]*):\/\//;
/** Drive of a path on Windows. */
const DRIVE = /^[a-z]$/i;
/** Scheme that can be repeated in a message: it contains neither a colon nor `@`, and thus no password. */
const PLAIN = /^[a-z][a-z0-9+.-]{0,31}$/i;
/** Quotes and spaces that a file of variables may leave before a value. */
const AROUND = /^[\s"']+/;
/** The other form of an address in PostgreSQL's own programs: `host=db dbname=coffer`. */
const KEYWORDS = /^\s*\w+\s*=\s*(?:'[^']*'|\S+)\s+\w+\s*=/;
const OF_DATABASE = /(?:^|\s)(?:host|hostaddr|dbname|password|service)\s*=/;
/** Beginnings that only paths have. */
const OF_PATH = /^(?:\.\.?[\\/]|\/(?!\/)|~|[a-z]:[\\/])/i;
/** Text that may contain a password, whatever it is the address of. */
const PASSWORDS: readonly RegExp[] = [
  // ada:secret@db/keys, mysql:/ada:secret@db
  /^[^/:@]*:\/?[^/@]*@/,
  // ada:sec/ret@db:5432/keys
  /^[^/:@]*:.*@[^/@]*:\d+(?:[/?]|$)/s,
  // //ada:secret@db, postgres//ada:secret@db
  /\/\/[^/:]*:[^/@]*@/,
  // db:5432/keys?user=ada&password=secret, Server=db;Password=secret
  /(?:^|[\s?&;,"'])\w*(?:password|passwd|pwd)\s*=/i,
];

/** Returns what precedes `://`, in lower case; undefined for the path of a directory. */
export function schemeIn(text: string): string | undefined {
  const before = BEFORE_SLASHES.exec(text)?.[1];
  return before === undefined || DRIVE.test(before) ? undefined : before.toLowerCase();
}

/** URL with one slash or none, and somebody's name before the host. */
const WITHOUT_SLASHES = /^([a-z][a-z0-9+.-]*):.*@/is;

/** Whether the scheme is that of a database or nearly so, although no `://` follows it. */
function isWithoutSlashes(text: string, schemes: readonly string[]): boolean {
  const scheme = WITHOUT_SLASHES.exec(text)?.[1]?.toLowerCase();
  return scheme !== undefined && (schemes.includes(scheme) || nearest(scheme, schemes).length > 0);
}

const isOfKeywords = (text: string): boolean => KEYWORDS.test(text) && OF_DATABASE.test(text);

/** Whether a text without a scheme is the path of a directory, as far as it shows. */
const isPath = (text: string, schemes: readonly string[]): boolean =>
  OF_PATH.test(text) || !(isOfKeywords(text) || isWithoutSlashes(text, schemes) || mayHavePassword(text));

/** Whether a text may be an address with a password, of whatever kind, and thus must not be repeated. */
export const mayHavePassword = (text: string): boolean =>
  !OF_PATH.test(text) && PASSWORDS.some((form) => form.test(text));

/**
 * Refuses a location that is written like that of a database, but that no backend knows: it would become a directory,
 * with the password in its name.
 * @param field option or argument that names the location
 * @throws `invalid`, without repeating the location
 */
export function refuseUnknownScheme(text: string, kinds: readonly BackendKind[], field: string): void {
  const scheme = schemeIn(text);
  const schemes = kinds.flatMap((kind) => kind.schemes ?? []);
  if (scheme === undefined ? isPath(text, schemes) : schemes.includes(scheme)) return;
  const form = kinds.flatMap((kind) => (kind.schemes === undefined ? [] : kind.form)).join(' or ');
  const reason = PLAIN.test(scheme ?? '') ? `unknown scheme "${scheme}"` : `it is not of the form ${form}`;
  const hint = quotedHint(text, schemes) ?? hintFor(scheme ?? '', schemes) ?? otherHint(form);
  throw invalid(`invalid store location: ${reason}`, { field, hint });
}

function hintFor(scheme: string, schemes: readonly string[]): string | undefined {
  if (scheme === 'http' || scheme === 'https')
    return 'the address of a server belongs in --address or COFFER_ADDR';
  if (scheme === 'file') return 'use the path alone, without "file://"';
  const near = nearest(scheme, schemes).map((one) => `${one}://`);
  return near.length > 0 ? meantText(near) : undefined;
}

const quotedHint = (text: string, schemes: readonly string[]): string | undefined =>
  schemes.includes(schemeIn(text.replace(AROUND, '')) ?? '')
    ? 'remove the quotes and spaces around it'
    : undefined;

const otherHint = (form: string): string => `use ${form}, or the path of a directory, with ./ in front`;
