/** A value in a policy's list of allowed or denied values. */
export type RuleValue = string | number | boolean | null | readonly RuleValue[];

/** Values by lower-case parameter name; an empty list stands for every value, the name `*` for every parameter. */
export type ParameterValues = ReadonlyMap<string, readonly RuleValue[]>;

/** What a path rule says about the body (or query) of a request. */
export interface ParameterRule {
  /** Empty: every parameter is allowed. */
  readonly allowed: ParameterValues;
  readonly denied: ParameterValues;
  readonly required: readonly string[];
}

export type RequestParameters = Readonly<Record<string, unknown>>;

/**
 * Whether a request's parameters satisfy a rule: everything required is there, nothing denied, and everything
 * allowed, in this order. As with peers a request without parameters only needs those that are required.
 *
 * @param parameters as they were sent.
 * @param meant the same as the operation will understand them: what is denied can be spelled in several ways.
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
 * A denied value stays denied inside a list, in capitals and among spaces: peers compare whole lists and exact texts,
 * which a caller could exploit where case and spaces do not count.
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
 * A text in a rule may begin and end with `*`. A number or a truth value and its text are the same, because
 * the parameters of this API may be given either way.
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

/** Unites two rules for the same path: every requirement counts, values add up, "every value" swallows the others. */
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
