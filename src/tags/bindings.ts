import { createHash } from 'node:crypto';
import { type CofferError, exists, invalid, ownWords } from '../ground/errors.ts';
import { nameTaken, refused, refuseLonger } from './names.ts';

/**
 * Key-value tags of workspaces and projects. They are stored with the workspace or project itself, in insertion order,
 * and are not part of a pool.
 * @see docs/decisions/0193
 */

/** Maximum number of own tags per workspace or project; as many again may be inherited. */
export const MOST_BINDINGS = 10;
const MAX_KEY_LENGTH = 128;
const MAX_VALUE_LENGTH = 256;
const LETTERS = /^[A-Za-z0-9_.=+\-@:]*$/;
/** Prefix that HashiCorp's service reserves for itself. */
const RESERVED_PREFIX = /^hcp?:/;

export interface Binding {
  readonly key: string;
  /** Value; empty for a key without one. */
  readonly value: string;
  /** In milliseconds since the Unix epoch. */
  readonly createdAt: number;
}

/** Tag as given by a request, not validated. */
export interface NewBinding {
  readonly key: string;
  readonly value: string;
  /** Place in the request, for errors. */
  readonly field?: string;
}

/** Effective tag of a workspace: its own, or inherited from its project. */
export interface EffectiveBinding extends Binding {
  readonly inherited: boolean;
}

const NONE: readonly Binding[] = [];

export const bindingsOf = (record: {
  readonly bindings?: readonly Binding[] | undefined;
}): readonly Binding[] => record.bindings ?? NONE;

/**
 * Validates the key of a tag.
 * @throws `invalid` naming the violated rule
 */
export function bindingKey(key: string, field?: string): string {
  if (key === '') throw refused(ownWords("Key can't be blank"), 'write the tag as KEY=VALUE or KEY', field);
  checkLetters('Key', key, MAX_KEY_LENGTH, field);
  if (RESERVED_PREFIX.test(key))
    throw refused(ownWords('Key is invalid'), `"${key}" begins with hc: or hcp:, which is reserved`, field);
  return key;
}

function checkLetters(what: 'Key' | 'Value', text: string, most: number, field: string | undefined): void {
  refuseLonger(what, text, most, field);
  if (LETTERS.test(text)) return;
  const rule = `use only the letters A-Z and a-z, digits and _ . = + - @ :, not ${JSON.stringify(text)}`;
  throw refused(`${what} is invalid`, rule, field);
}

/**
 * Adds tags, or sets new values of existing ones; in insertion order.
 * @param now milliseconds since the Unix epoch
 * @throws `invalid` for a violated rule, and for more than ten
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
      hint: `there would be ${merged.size} bindings`,
    });
  }
  return [...merged.values()];
}

/** Replaces all tags; a key that is given again keeps its creation time. */
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

/** Removes keys; unknown keys are ignored. */
export function withoutBindings(present: readonly Binding[], keys: ReadonlySet<string>): readonly Binding[] {
  return present.filter(({ key }) => !keys.has(key));
}

/**
 * Returns the effective tags of a workspace, each key once: its own, then those inherited from its project. For keys
 * that cannot be overridden, the project's value applies.
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

/**
 * Refuses overrides.
 * @throws `invalid` for a key whose value only the project determines
 */
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
    `"${broken.key}" is set by the project, and the organization does not allow overriding it`,
    at(broken.field, 'key'),
  );
}

/**
 * Computes the identifier of a tag: sixteen letters that do not change as long as the key is bound to the same
 * resource.
 */
export const bindingIdentifier = (owner: string, key: string): string =>
  createHash('sha256').update(`${owner}\n${key}`).digest('hex').slice(0, 16);

/** Creates the error for an existing reserved key, with the exact text of HashiCorp's service. */
export const keyTaken = (key: string, field?: string): CofferError =>
  exists(ownWords('Key has already been taken'), { field, hint: nameTaken('a reserved tag key', key).hint });

const at = (field: string | undefined, attribute: string): string | undefined =>
  field === undefined ? undefined : `${field}/attributes/${attribute}`;
