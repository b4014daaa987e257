import { type Capabilities, DENY } from './capability.ts';
import { mergeParameterRules, type ParameterRule } from './parameter-rule.ts';

/** Permissions of a path rule. */
export interface Permissions {
  readonly capabilities: Capabilities;
  readonly parameters?: ParameterRule | undefined;
  /** Present: only requests for a wrapped response are granted. */
  readonly wrapping?: WrappingBounds | undefined;
}

/** Bounds of the time to live of a wrapped response, in seconds. */
export interface WrappingBounds {
  readonly least?: number | undefined;
  readonly most?: number | undefined;
}

/**
 * Whether a time to live is within the bounds.
 * @param ttl requested for the wrapped response; 0 for none
 */
export const isWithin = ({ least = 0, most = Number.POSITIVE_INFINITY }: WrappingBounds, ttl: number) =>
  ttl > 0 && ttl >= least && ttl <= most;

/** Path rule of a policy: `path "…" { … }`. */
export interface PathRule {
  /** Pattern as written, without a leading slash; `*` at the end and `+` as a segment are wildcards. */
  readonly pattern: string;
  readonly permissions: Permissions;
}

/**
 * Type of a pattern.
 * - `exact`: the path itself;
 * - `prefix`: the pattern ended in `*`, and `text` is the part before it;
 * - `segments`: some segment is `+`; with `open`, the pattern ended in `*` as well.
 */
type PatternShape =
  | { readonly kind: 'exact'; readonly text: string }
  | { readonly kind: 'prefix'; readonly text: string }
  | { readonly kind: 'segments'; readonly text: string; readonly open: boolean };

export function shapeOf(pattern: string): PatternShape {
  const segments = pattern === '+' || pattern.startsWith('+/') || pattern.includes('/+');
  const open = pattern.endsWith('*');
  const text = open ? pattern.slice(0, -1) : pattern;
  if (segments) return { kind: 'segments', text, open };
  return { kind: open ? 'prefix' : 'exact', text };
}

/** Whether a pattern is not allowed: the meaning of `+*` is ambiguous, so Vault refuses it as well. */
export const isForbiddenPattern = (pattern: string): boolean => pattern.includes('+*');

/** Compiled wildcard pattern, with everything that determines its rank. */
export interface WildcardRule {
  readonly text: string;
  /** Split at `/`; undefined for a plain prefix. */
  readonly segments: readonly string[] | undefined;
  readonly open: boolean;
  readonly permissions: Permissions;
}

export function wildcardRule(
  shape: Exclude<PatternShape, { kind: 'exact' }>,
  permissions: Permissions,
): WildcardRule {
  return shape.kind === 'prefix'
    ? { text: shape.text, segments: undefined, open: true, permissions }
    : { text: shape.text, segments: shape.text.split('/'), open: shape.open, permissions };
}

/**
 * Sorts the rule that wins first. Of two patterns that match the same path, the winner is the one whose first wildcard
 * comes later; else the one that does not end in `*`; else the one with fewer `+` segments; else the longer; else the
 * one that sorts after the other. (The order of Vault's and OpenBao's documentation.)
 */
export function byPriority(a: WildcardRule, b: WildcardRule): number {
  return (
    firstWildcard(b) - firstWildcard(a) ||
    Number(a.open) - Number(b.open) ||
    plusCount(a) - plusCount(b) ||
    Buffer.byteLength(b.text) - Buffer.byteLength(a.text) ||
    Buffer.compare(Buffer.from(b.text), Buffer.from(a.text))
  );
}

const firstWildcard = (rule: WildcardRule): number =>
  Buffer.byteLength(rule.segments === undefined ? rule.text : rule.text.slice(0, rule.text.indexOf('+')));

const plusCount = (rule: WildcardRule): number =>
  rule.segments?.filter((segment) => segment === '+').length ?? 0;

/**
 * Whether a rule matches a path, given as a whole and split at `/`. A `+` matches any single segment, including an
 * empty one.
 */
export function matches(rule: WildcardRule, path: string, pathSegments: readonly string[]): boolean {
  const { segments } = rule;
  if (segments === undefined) return path.startsWith(rule.text);
  if (rule.open ? pathSegments.length < segments.length : pathSegments.length !== segments.length)
    return false;
  return segments.every((_, index) => takes(rule, index, pathSegments[index] ?? ''));
}

/** Whether a segment of a rule matches that of a path; true beyond the last one. */
function takes({ segments = [], open }: WildcardRule, index: number, given: string): boolean {
  const segment = segments[index];
  if (segment === undefined || segment === '+' || segment === given) return true;
  return open && index === segments.length - 1 && given.startsWith(segment);
}

/**
 * Whether a rule applies to paths below a mount.
 * @param mount with its final slash
 */
export function liesBelow(rule: WildcardRule, mount: string): boolean {
  const { segments } = rule;
  if (segments === undefined) return rule.text.startsWith(mount);
  const wanted = mount.slice(0, -1).split('/');
  if (segments.length < wanted.length && !rule.open) return false;
  return wanted.every((given, index) => takes(rule, index, given));
}

/** Merges the permissions of several policies for the same pattern. Deny overrides everything else. */
export function mergePermissions(a: Permissions, b: Permissions): Permissions {
  if (((a.capabilities | b.capabilities) & DENY) !== 0) return { capabilities: DENY };
  const parameters =
    a.parameters !== undefined && b.parameters !== undefined
      ? mergeParameterRules(a.parameters, b.parameters)
      : (a.parameters ?? b.parameters);
  const wrapping =
    a.wrapping !== undefined && b.wrapping !== undefined
      ? mergeBounds(a.wrapping, b.wrapping)
      : (a.wrapping ?? b.wrapping);
  return {
    capabilities: a.capabilities | b.capabilities,
    parameters,
    wrapping,
  };
}

/** Takes the smaller of each bound, as in Vault. */
function mergeBounds(a: WrappingBounds, b: WrappingBounds): WrappingBounds {
  const least = smaller(a.least, b.least);
  const most = smaller(a.most, b.most);
  return { least, most };
}

const smaller = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
