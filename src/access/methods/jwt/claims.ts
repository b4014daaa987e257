/** What roles ask of claims, and how the family compares them. */

import { invalid } from '../../../ground/errors.ts';
import { glob } from '../../../ground/glob.ts';
import { isObject } from '../../../ground/objects.ts';

/** The claims of a token: plain JSON. */
export type Claims = Readonly<Record<string, unknown>>;

/** A claim by its name at the top, dots and all, or by a JSON pointer (RFC 6901); undefined for one that is not there. */
export function claimAt(claims: Claims, name: string): unknown {
  return name.startsWith('/') ? pointedAt(claims, name) : ownMember(claims, name);
}

/** What a JSON pointer leads to; undefined where it leads to nothing. `null` counts as nothing. */
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
 * Whether a claim has one of the values that a role asks for. A number that stands alone in a token counts by its whole part; one in a
 * list there, one that was rounded when it was read, and values of another kind, never match. Of a glob only texts do.
 * @throws `invalid` for an object.
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
  // Beyond 2^53 the numbers of two accounts may be read as one.
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

/** @throws `invalid` unless every claim that a role binds has one of its values. */
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

/** The metadata that claims are mapped into; those that are missing are left out. @throws `invalid` for one that is no text. */
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
 * Policies whose names have claims in them, as `team-{{.department}}`.
 * @throws `invalid` for a claim that is no text, and for anything else between the braces.
 */
export function templatedPolicies(templates: readonly string[], claims: Claims): readonly string[] {
  return templates.map((template, index) => {
    const filled = template.replaceAll(PLACEHOLDER, (whole, path: string) => {
      const value = pointedAt(claims, path.replaceAll('.', '/'));
      return typeof value === 'string' ? value : whole;
    });
    if (!filled.includes('{{') && !filled.includes('}}')) return filled;
    throw invalid(`failed to template policy [${index}]: a claim that it names is no text`);
  });
}

const PLACEHOLDER = /\{\{\s*((?:\.\w+)+)\s*\}\}/g;

/** What is shown of a value in a message, in characters and in levels: whoever wrote it knows the rest. */
const MOST_SHOWN = 200;
const MOST_LEVELS = 8;

/** A value of JSON as Go's `%v` prints it, in which the family's messages have it; long ones are cut. */
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
