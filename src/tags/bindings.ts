import { createHash } from 'node:crypto';
import { type CofferError, exists, invalid } from '../ground/errors.ts';
import { ownWords } from '../ground/own-words.ts';
import { nameTaken } from './names.ts';

/**
 * Tags of the form key=value, of workspaces and projects. They lie with the workspace or project itself, in the order in which they
 * came, and are in no pool.
 * @see docs/decisions/0193
 */

/** How many one workspace or project may have of its own; as many again may be inherited. */
export const MOST_BINDINGS = 10;
const MAX_KEY_LENGTH = 128;
const MAX_VALUE_LENGTH = 256;
const LETTERS = /^[A-Za-z0-9_.=+\-@:]*$/;
/** The service that clients know keeps them to itself. */
const RESERVED_PREFIX = /^hcp?:/;

export interface Binding {
  readonly key: string;
  /** Empty for a key without a value. */
  readonly value: string;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
}

/** As a request gives it: not checked. */
export interface NewBinding {
  readonly key: string;
  readonly value: string;
  /** Where it stands in the request, for errors. */
  readonly field?: string;
}

/** What holds for a workspace: its own, or what it has from its project. */
export interface EffectiveBinding extends Binding {
  readonly inherited: boolean;
}

const NONE: readonly Binding[] = [];

export const bindingsOf = (record: { readonly bindings?: readonly Binding[] }): readonly Binding[] =>
  record.bindings ?? NONE;

/** The key of a tag as a request gives it, checked. @throws `invalid` saying which rule is broken. */
export function bindingKey(key: string, field?: string): string {
  if (key === '') throw refused(ownWords("Key can't be blank"), 'give a key', field);
  checkLetters('Key', key, MAX_KEY_LENGTH, field);
  if (RESERVED_PREFIX.test(key))
    throw refused(ownWords('Key is invalid'), 'keys can not begin with hc: or hcp:', field);
  return key;
}

function checkLetters(what: 'Key' | 'Value', text: string, most: number, field: string | undefined): void {
  if (text.length > most) {
    throw refused(`${what} is too long (maximum is ${most} characters)`, `it has ${text.length}`, field);
  }
  if (LETTERS.test(text)) return;
  const rule = 'it can have letters, numbers and _ . = + - @ :';
  throw refused(`${what} is invalid`, rule, field);
}

/**
 * The bindings after new ones were added, and values given to those that are there; in the order in which they came.
 * @param now milliseconds since the Unix epoch.
 * @throws `invalid` for what breaks a rule, and for more than ten.
 */
export function withBindings(
  present: readonly Binding[],
  added: readonly NewBinding[],
  now: number,
): readonly Binding[] {
  const merged = new Map(present.map((binding) => [binding.key, binding]));
  const given = new Map<string, string>();
  for (const { key, value, field } of added) {
    bindingKey(key, at(field, 'key'));
    checkLetters('Value', value, MAX_VALUE_LENGTH, at(field, 'value'));
    const before = given.get(key);
    if (before !== undefined && before !== value) {
      throw exists(ownWords('Key has already been taken'), {
        field: at(field, 'key'),
        hint: `"${key}" is given twice, with two values`,
      });
    }
    given.set(key, value);
    const known = merged.get(key);
    if (known?.value !== value) merged.set(key, { key, value, createdAt: known?.createdAt ?? now });
  }
  if (merged.size > MOST_BINDINGS) {
    throw invalid(`Tag bindings cannot exceed ${MOST_BINDINGS} bindings per resource`, {
      field: added[0]?.field?.replace(/\/\d+$/, ''),
      hint: `there would be ${merged.size}`,
    });
  }
  return [...merged.values()];
}

/** The same with nothing left of what was there, but for the time of creation of a key that is given again. */
export function replacedBindings(
  present: readonly Binding[],
  wanted: readonly NewBinding[],
  now: number,
): readonly Binding[] {
  const since = new Map(present.map(({ key, createdAt }) => [key, createdAt]));
  return withBindings(NONE, wanted, now).map((binding) => ({
    ...binding,
    createdAt: since.get(binding.key) ?? now,
  }));
}

/** Without those keys; a key that nobody has is passed over. */
export function withoutBindings(present: readonly Binding[], keys: ReadonlySet<string>): readonly Binding[] {
  return present.filter(({ key }) => !keys.has(key));
}

/**
 * What holds for a workspace, each key once: what it has itself, then what only its project has. Of keys that can't be overridden the
 * project's value holds.
 */
export function effectiveBindings(
  own: readonly Binding[],
  ofProject: readonly Binding[],
  fixedKeys: ReadonlySet<string>,
): readonly EffectiveBinding[] {
  if (ofProject.length === 0) return own.map((binding) => ({ ...binding, inherited: false }));
  const fixed = new Set(ofProject.map(({ key }) => key).filter((key) => fixedKeys.has(key)));
  const kept = own.filter(({ key }) => !fixed.has(key));
  const keys = new Set(kept.map(({ key }) => key));
  return [
    ...kept.map((binding) => ({ ...binding, inherited: false })),
    ...ofProject.filter(({ key }) => !keys.has(key)).map((binding) => ({ ...binding, inherited: true })),
  ];
}

/** @throws `invalid` for a key whose value the project decides alone. */
export function refuseOverrides(
  wanted: readonly NewBinding[],
  ofProject: readonly Binding[],
  fixedKeys: ReadonlySet<string>,
): void {
  const fixed = new Map(ofProject.map(({ key, value }) => [key, value]));
  const broken = wanted.find(
    ({ key, value }) => fixedKeys.has(key) && fixed.has(key) && fixed.get(key) !== value,
  );
  if (broken === undefined) return;
  throw refused(
    ownWords('Key is reserved and cannot be overridden'),
    `"${broken.key}" is set by the project, and the organization does not let workspaces change it`,
    at(broken.field, 'key'),
  );
}

/** Sixteen letters that stay the same for as long as a key is bound to the same thing. */
export const bindingIdentifier = (owner: string, key: string): string =>
  createHash('sha256').update(`${owner}\n${key}`).digest('hex').slice(0, 16);

/** What is said, to the letter of the service that clients know, when a reserved key is there already. */
export const keyTaken = (key: string, field?: string): CofferError =>
  exists(ownWords('Key has already been taken'), { field, hint: nameTaken('a reserved tag key', key).hint });

const at = (field: string | undefined, attribute: string): string | undefined =>
  field === undefined ? undefined : `${field}/attributes/${attribute}`;

const refused = (message: string, hint: string, field: string | undefined): CofferError =>
  invalid(message, { field, hint });
