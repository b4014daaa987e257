import { parseGoDuration } from '../ground/durations.ts';
import type { CofferError } from '../ground/errors.ts';
import { CAPABILITY_WORDS, type Capabilities, DENY, parseCapability } from './capability.ts';
import type { ParameterRule, ParameterValues, RuleValue } from './parameter-rule.ts';
import { isForbiddenPattern, type PathRule, type WrappingBounds } from './path-rule.ts';
import {
  type Body,
  type HclEntry,
  type HclValue,
  type Position,
  parseBody,
  policyMistake,
  syntaxError,
} from './policy-hcl.ts';

/** Parsed policy. */
export interface Policy {
  readonly rules: readonly PathRule[];
  /** Warnings for the author of a valid text. */
  readonly warnings: readonly string[];
}

/**
 * Parses a policy in Vault's HCL or JSON format.
 *
 * @throws `invalid`: `failed to parse policy: …` with the path or the line and column of the mistake
 */
export function parsePolicy(text: string): Policy {
  const rules: PathRule[] = [];
  const warnings: string[] = [];
  for (const entry of parseBody(text).entries) {
    const key = entry.keys[0] ?? '';
    if (key !== 'path' && key !== 'name')
      throw policyMistake(`invalid key "${key}" on line ${entry.at.line}`);
    if (key === 'name') continue;
    for (const [path, body] of labelledBodies(entry)) addRule(path, body, rules, warnings);
  }
  return { rules, warnings };
}

/**
 * Returns the blocks of a `path` member with their labels. HCL writes `path "a" { … }`; JSON nests, `{"path": {"a":
 * {…}}}`, and both may have a list of blocks instead of one.
 */
function labelledBodies(entry: HclEntry): [path: string, body: Body][] {
  const label = entry.keys[1];
  if (entry.keys.length > 2)
    throw syntaxError(entry.at, 'expected one pattern after path, e.g. path "transit/keys/*"');
  if (label !== undefined) return bodiesOf(entry.value, entry.at).map((body) => [label, body]);
  return bodiesOf(entry.value, entry.at)
    .flatMap((body) => body.entries)
    .flatMap((inner) => {
      if (inner.keys.length !== 1)
        throw syntaxError(inner.at, 'expected one pattern after path, e.g. path "transit/keys/*"');
      return bodiesOf(inner.value, inner.at).map((body): [string, Body] => [inner.keys[0] ?? '', body]);
    });
}

function bodiesOf(value: HclValue, at: Position): readonly Body[] {
  if (value.kind === 'body') return [value];
  if (value.kind === 'list') return value.items.flatMap((item) => bodiesOf(item, at));
  throw syntaxError(at, 'expected a block');
}

function addRule(label: string, body: Body, rules: PathRule[], warnings: string[]): void {
  const pattern = label.startsWith('/') ? label.slice(1) : label;
  if (isForbiddenPattern(pattern))
    throw policyMistake(`path "${pattern}": invalid use of wildcards ('+*' is forbidden)`);
  const permissions = permissionsOf(label, membersOf(label, body));
  if (label.includes('{{')) {
    warnings.push(`path "${label}" has a template, which is not supported, so it matches nothing`);
    return;
  }
  rules.push({ pattern, permissions });
}

/** Members of a rule. */
export const RULE_MEMBERS: ReadonlySet<string> = new Set([
  'comment',
  'policy',
  'capabilities',
  'allowed_parameters',
  'denied_parameters',
  'required_parameters',
  'min_wrapping_ttl',
  'max_wrapping_ttl',
]);

/** Conditions of Vault and OpenBao that are not supported here: ignoring them would grant more than intended. */
const FOREIGN_MEMBERS = new Set([
  'control_group',
  'expiration',
  'list_scan_response_keys_filter_path',
  'mfa_methods',
  'pagination_limit',
  'subscribe_event_types',
]);

type RuleMembers = ReadonlyMap<string, HclEntry>;

function membersOf(path: string, body: Body): RuleMembers {
  const members = new Map<string, HclEntry>();
  for (const entry of body.entries) {
    const key = entry.keys[0] ?? '';
    if (FOREIGN_MEMBERS.has(key)) throw policyMistake(`path "${path}": "${key}" is not supported here`);
    if (!RULE_MEMBERS.has(key) || entry.keys.length !== 1) {
      throw policyMistake(`path "${path}": invalid key "${key}" on line ${entry.at.line}`);
    }
    if (members.has(key))
      throw policyMistake(`path "${path}": "${key}" is given a second time on line ${entry.at.line}`);
    members.set(key, entry);
  }
  return members;
}

function permissionsOf(path: string, members: RuleMembers): PathRule['permissions'] {
  const capabilities = capabilitiesOf(path, members);
  if ((capabilities & DENY) !== 0) return { capabilities: DENY };
  const parameters: ParameterRule = {
    allowed: parameterValues(path, members.get('allowed_parameters')),
    denied: parameterValues(path, members.get('denied_parameters')),
    required: textList(path, members.get('required_parameters')),
  };
  const restricts =
    parameters.allowed.size > 0 || parameters.denied.size > 0 || parameters.required.length > 0;
  const wrapping = wrappingBounds(path, members);
  return {
    capabilities,
    parameters: restricts ? parameters : undefined,
    wrapping,
  };
}

/** Former values of `policy = "…"`, from before capabilities. */
const OLD_POLICIES: Readonly<Record<string, readonly string[]>> = {
  deny: ['deny'],
  read: ['read', 'list'],
  write: ['create', 'read', 'update', 'delete', 'list'],
  sudo: ['create', 'read', 'update', 'delete', 'list', 'sudo'],
};

function capabilitiesOf(path: string, members: RuleMembers): Capabilities {
  const words = [
    ...textList(path, members.get('capabilities')),
    ...oldCapabilities(path, members.get('policy')),
  ];
  let mask: Capabilities = 0;
  for (const word of words) {
    const bit = parseCapability(word);
    if (bit === undefined) {
      throw policyMistake(
        `path "${path}": invalid capability "${word}"`,
        `use one or more of ${CAPABILITY_WORDS.join(', ')}`,
      );
    }
    mask |= bit;
  }
  return mask;
}

function oldCapabilities(path: string, entry: HclEntry | undefined): readonly string[] {
  if (entry === undefined) return [];
  const word = scalarOf(entry.value);
  if (word === undefined) throw mustBe(path, entry, 'a quoted string: deny, read, write or sudo');
  const words =
    typeof word === 'string' && Object.hasOwn(OLD_POLICIES, word) ? OLD_POLICIES[word] : undefined;
  if (words === undefined)
    throw policyMistake(
      `path "${path}": invalid policy "${String(word)}"`,
      `use ${Object.keys(OLD_POLICIES).join(', ')}, or better "capabilities = [...]"`,
    );
  return words;
}

function textList(path: string, entry: HclEntry | undefined): readonly string[] {
  if (entry === undefined) return [];
  const items = entry.value.kind === 'list' ? entry.value.items : [entry.value];
  return items.map((item) => {
    const value = scalarOf(item);
    if (typeof value !== 'string') throw mustBe(path, entry, 'a list of quoted strings');
    return value;
  });
}

function parameterValues(path: string, entry: HclEntry | undefined): ParameterValues {
  const values = new Map<string, readonly RuleValue[]>();
  if (entry === undefined) return values;
  for (const inner of bodiesOf(entry.value, entry.at).flatMap((body) => body.entries)) {
    const name = (inner.keys[0] ?? '').toLowerCase();
    if (inner.keys.length !== 1 || inner.value.kind !== 'list')
      throw mustBe(path, entry, 'parameter names with lists of values');
    if (values.has(name))
      throw policyMistake(`path "${path}": parameter "${name}" is given twice in ${entry.keys[0]}`);
    values.set(
      name,
      inner.value.items.map((item) => ruleValue(path, entry, item)),
    );
  }
  return values;
}

function ruleValue(path: string, entry: HclEntry, value: HclValue): RuleValue {
  if (value.kind === 'scalar') return value.value;
  if (value.kind === 'list') return value.items.map((item) => ruleValue(path, entry, item));
  throw mustBe(path, entry, 'lists of strings, numbers, booleans or lists');
}

function wrappingBounds(path: string, members: RuleMembers): WrappingBounds | undefined {
  const least = wrappingTime(path, members.get('min_wrapping_ttl'));
  const most = wrappingTime(path, members.get('max_wrapping_ttl'));
  if (least === 0 && most === 0) return undefined;
  if (most !== 0 && most < least) {
    throw policyMistake(`path "${path}": max_wrapping_ttl cannot be less than min_wrapping_ttl`);
  }
  return { least: least === 0 ? undefined : least, most: most === 0 ? undefined : most };
}

/** Returns seconds; 0 if not set. */
function wrappingTime(path: string, entry: HclEntry | undefined): number {
  if (entry === undefined) return 0;
  const value = scalarOf(entry.value);
  const seconds = typeof value === 'number' ? value : parseGoDuration(String(value));
  if (!(seconds >= 0)) throw mustBe(path, entry, 'a duration such as 90 or "90s"');
  return seconds;
}

const scalarOf = (value: HclValue): string | number | boolean | null | undefined =>
  value.kind === 'scalar' ? value.value : undefined;

const mustBe = (path: string, entry: HclEntry, wanted: string): CofferError =>
  policyMistake(`path "${path}": ${entry.keys[0]} on line ${entry.at.line} must be ${wanted}`);
