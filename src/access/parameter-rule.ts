/** Value in a policy's list of allowed or denied values. */
export type RuleValue = string | number | boolean | null | readonly RuleValue[];

/** Values by lower-case parameter name; an empty list means every value, the name `*` every parameter. */
export type ParameterValues = ReadonlyMap<string, readonly RuleValue[]>;

/** Rule about the body (or query) of a request. */
export interface ParameterRule {
  /** Allowed parameters and values; empty if every parameter is allowed. */
  readonly allowed: ParameterValues;
  readonly denied: ParameterValues;
  readonly required: readonly string[];
}

export type RequestParameters = Readonly<Record<string, unknown>>;

/**
 * Whether a request's parameters satisfy a rule: every required one is present, none is denied, and all are allowed, in
 * this order. As in Vault, a request without parameters only needs the required ones.
 *
 * @param parameters parameters as sent
 * @param meant parameters as the operation interprets them: a denied value can be written in several ways
 */
export function permits(
  rule: ParameterRule,
  parameters: RequestParameters,
  meant: () => RequestParameters,
): boolean {
  if (!rule.required.every((name) => Object.hasOwn(parameters, name.toLowerCase()))) return false;
  const given = Object.entries(parameters);
  if (given.length === 0) return true;
  if (rule.denied.has('*')) return false;
  if (rule.denied.size > 0 && [...given, ...Object.entries(meant())].some(isDeniedBy(rule.denied)))
    return false;
  if (rule.allowed.size === 0) return true;
  const othersAllowed = rule.allowed.has('*');
  return given.every(([name, value]) => {
    const values = rule.allowed.get(name.toLowerCase());
    return values === undefined ? othersAllowed : values.length === 0 || contains(values, value);
  });
}

/**
 * Tests for a denied value, also inside a list, in another case and with surrounding spaces: Vault compares whole lists
 * and exact texts, which a caller could exploit where case and spaces do not matter.
 */
const isDeniedBy =
  (denied: ParameterValues) =>
  ([name, value]: readonly [string, unknown]): boolean => {
    const values = denied.get(name.toLowerCase());
    if (values === undefined) return false;
    if (values.length === 0 || contains(values, value, folded)) return true;
    return Array.isArray(value) && value.some((item: unknown) => contains(values, item, folded));
  };

const contains = (values: readonly RuleValue[], given: unknown, fold = asItIs): boolean =>
  values.some((value) => sameValue(value, given, fold));

const asItIs = (text: string): string => text;
const folded = (text: string): string => text.trim().toLowerCase();

/**
 * Compares values. A text in a rule may begin and end with `*`. A number or boolean equals its text, because parameters
 * of this API may be given either way.
 */
function sameValue(rule: RuleValue, given: unknown, fold: (text: string) => string): boolean {
  if (rule === null || given === null) return rule === given;
  if (Array.isArray(rule)) {
    return (
      Array.isArray(given) &&
      given.length === rule.length &&
      rule.every((item: RuleValue, index) => sameValue(item, given[index], fold))
    );
  }
  const text = scalarText(given);
  return text !== undefined && globMatches(fold(String(rule)), fold(text));
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  return undefined;
}

function globMatches(pattern: string, text: string): boolean {
  if (pattern.length < 2) return pattern === text;
  const open = pattern.startsWith('*');
  const close = pattern.endsWith('*');
  if (open && close) return text.includes(pattern.slice(1, -1));
  if (open) return text.endsWith(pattern.slice(1));
  if (close) return text.startsWith(pattern.slice(0, -1));
  return pattern === text;
}

/**
 * Merges two rules for the same path: all requirements apply, values are united, and "every value" includes all others.
 */
export function mergeParameterRules(a: ParameterRule, b: ParameterRule): ParameterRule {
  return {
    allowed: mergeValues(a.allowed, b.allowed),
    denied: mergeValues(a.denied, b.denied),
    required: [...new Set([...a.required, ...b.required])],
  };
}

function mergeValues(a: ParameterValues, b: ParameterValues): ParameterValues {
  const merged = new Map(a);
  for (const [name, values] of b) {
    const known = merged.get(name);
    const every = values.length === 0 || known?.length === 0;
    merged.set(name, every ? [] : [...values, ...(known ?? [])]);
  }
  return merged;
}
