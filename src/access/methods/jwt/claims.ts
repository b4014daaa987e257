import { invalid, ownWords } from '../../../ground/errors.ts';
import { glob } from '../../../ground/glob.ts';
import { isObject } from '../../../ground/objects.ts';
import type { JwtSettings } from './documents.ts';

/** Checks of claims by roles, with Vault's rules of comparison. */

/** Claims of a token: plain JSON. */
export type Claims = Readonly<Record<string, unknown>>;

/**
 * Returns a claim by its top-level name, dots included, or by a JSON pointer (RFC 6901); undefined if it does not
 * exist.
 */
function claimAt(claims: Claims, name: string): unknown {
  return name.startsWith('/') ? pointedAt(claims, name) : ownMember(claims, name);
}

/** Resolves a JSON pointer; undefined if it does not exist. `null` counts as absent. */
export function pointedAt(value: unknown, pointer: string): unknown {
  let found = value;
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(found)) found = /^(?:0|[1-9]\d{0,8})$/.test(name) ? found[Number(name)] : undefined;
    else found = isObject(found) ? ownMember(found, name) : undefined;
    if (found === undefined) return undefined;
  }
  return found ?? undefined;
}

const ownMember = (object: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;

/**
 * Whether a claim has one of the values that a role requires. A single number in a token is compared by its integer
 * part; numbers in a list, rounded numbers and values of other types never match. Globs only match texts.
 * @throws `invalid` for an object
 */
function isBound(value: unknown, wanted: unknown, isGlob: boolean): boolean {
  const values = receivedValues(value);
  return listOf(wanted, 'bound').some((one) =>
    values.some((other) =>
      isGlob
        ? typeof one === 'string' && typeof other === 'string' && glob(one)(other)
        : one === other && isPlain(one),
    ),
  );
}

function receivedValues(value: unknown): readonly unknown[] {
  // Beyond 2^53, the numbers of two accounts may be parsed as the same.
  if (typeof value === 'number') return [Math.trunc(value)].filter(Number.isSafeInteger);
  return listOf(value, 'received').filter((item) => typeof item !== 'number');
}

const isPlain = (value: unknown): boolean => ['string', 'boolean', 'number'].includes(typeof value);

function listOf(value: unknown, whose: 'received' | 'bound'): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (isPlain(value)) return [value];
  throw invalid(
    `error validating claims: ${whose} claim is not a string, bool, int or list: ${printGo(value)}`,
  );
}

/**
 * Checks the bound claims.
 * @throws `invalid` unless every one has one of the required values
 */
export function checkBoundClaims(bound: Claims, claims: Claims, isGlob: boolean): void {
  for (const [name, wanted] of Object.entries(bound)) {
    const value = claimAt(claims, name);
    if (value === undefined) throw invalid(`error validating claims: claim "${name}" is missing`);
    if (!isBound(value, wanted, isGlob)) {
      throw invalid(
        `error validating claims: claim "${name}" does not match any associated bound claim values`,
      );
    }
  }
}

/**
 * Maps claims into metadata; missing ones are omitted.
 * @throws `invalid` for a claim that is not text
 */
export function mappedClaims(
  mappings: Readonly<Record<string, string>>,
  claims: Claims,
): Readonly<Record<string, string>> {
  const found: [string, string][] = [];
  for (const [name, target] of Object.entries(mappings)) {
    const value = claimAt(claims, name);
    if (value === undefined) continue;
    if (typeof value !== 'string') throw invalid(`error converting claim '${name}' to string`);
    found.push([target, value]);
  }
  return Object.fromEntries(found);
}

/**
 * Checks the claim that lists groups, like Vault and OpenBao do: names, in a list or alone.
 * @throws `invalid` for a missing claim, and for anything but names
 */
export function checkGroups(name: string, claims: Claims): void {
  const value = claimAt(claims, name);
  if (value === undefined) throw invalid(`failed to fetch groups: "${name}" claim not found in token`);
  if (isObject(value)) throw invalid(`"${name}" claim could not be converted to string list`);
  const other = [value].flat().find((item) => typeof item !== 'string');
  if (other === undefined) return;
  throw invalid(`value ${printGo(other)} in groups claim could not be parsed as string`);
}

/**
 * Resolves policy names with claims in them, such as `team-{{.department}}`.
 * @throws `invalid` for a claim that is not text, and for anything else between the braces
 */
export function templatedPolicies(templates: readonly string[], claims: Claims): readonly string[] {
  return templates.map((template, index) => {
    const filled = template.replaceAll(PLACEHOLDER, (whole, path: string) => {
      const value = pointedAt(claims, path.replaceAll('.', '/'));
      return typeof value === 'string' ? value : whole;
    });
    if (!filled.includes('{{') && !filled.includes('}}')) return filled;
    throw invalid(`failed to template policy [${index}]: the claim is not a string`);
  });
}

const PLACEHOLDER = /\{\{\s*((?:\.\w+)+)\s*\}\}/g;

/** Limits for values in messages, in characters and levels: the client knows the rest. */
const MOST_SHOWN = 200;
const MOST_LEVELS = 8;

/** Prints a JSON value like Go's `%v`, which Vault's messages use; truncates long ones. */
export function printGo(value: unknown): string {
  const whole = printLevel(value, MOST_LEVELS);
  return whole.length > MOST_SHOWN ? `${whole.slice(0, MOST_SHOWN)}…` : whole;
}

function printLevel(value: unknown, levels: number): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'object' && levels === 0) return '…';
  if (Array.isArray(value)) return `[${value.map((item) => printLevel(item, levels - 1)).join(' ')}]`;
  if (!isObject(value)) return String(value);
  const members = Object.keys(value).sort();
  return `map[${members.map((name) => `${name}:${printLevel(value[name], levels - 1)}`).join(' ')}]`;
}

/** Default clock skew, and lifetime of a token without an expiration time, in seconds. */
const SKEW = 60;
const LEEWAY = 150;

/** Returns the seconds of a setting: 0 means the default, negative means none. */
const leewayOf = (setting: number, usual: number): number => (setting === 0 ? usual : Math.max(setting, 0));

/**
 * Checks `iat`, `nbf` and `exp` like Vault: one of them is enough, and substitutes for missing ones.
 * @throws `invalid` with Vault's messages
 */
export function checkTimes(claims: Claims, settings: JwtSettings, nowMs: number): void {
  const [iat, nbf, exp] = [secondsIn(claims, 'iat'), secondsIn(claims, 'nbf'), secondsIn(claims, 'exp')];
  if (iat === 0 && nbf === 0 && exp === 0) {
    throw invalidToken(
      ownWords('no issued at (iat), not before (nbf), or expiration time (exp) claims in token'),
    );
  }
  const end = exp === 0 ? Math.max(iat, nbf) + leewayOf(settings.expiration_leeway, LEEWAY) : exp;
  const start = nbf !== 0 ? nbf : iat !== 0 ? iat : end - leewayOf(settings.not_before_leeway, LEEWAY);
  const skew = leewayOf(settings.clock_skew_leeway, SKEW);
  const now = nowMs / 1000;
  if (now + skew < start) throw invalidToken(ownWords('invalid not before (nbf) claim: token not yet valid'));
  if (now - skew > end) throw invalidToken(ownWords('invalid expiration time (exp) claim: token is expired'));
  if (now + skew < iat)
    throw invalidToken(ownWords('invalid issued at (iat) claim: token issued in the future'));
}

/** Maximum time in Vault's 64 bits. */
const LAST = 2 ** 62;

/** Returns whole seconds since the epoch; 0 if the claim is missing. */
function secondsIn(claims: Claims, name: string): number {
  const value = pointedAt(claims, `/${name}`) ?? 0;
  if (typeof value !== 'number' || Math.abs(value) > LAST) {
    throw invalidToken(ownWords('go-jose/go-jose/jwt: expected number value to unmarshal NumericDate'));
  }
  return Math.trunc(value);
}

/** Creates the error for an invalid token, with Vault's message. */
export const invalidToken = (reason: string) => invalid(`${ownWords('error validating token: ')}${reason}`);
