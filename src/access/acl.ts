import { withoutFirst, withoutLast } from '../ground/trim.ts';
import { bitOf, type Capabilities, type Capability, DENY, printCapabilities } from './capability.ts';
import { permits, type RequestParameters } from './parameter-rule.ts';
import {
  byPriority,
  isWithin,
  liesBelow,
  matches,
  mergePermissions,
  type PathRule,
  type Permissions,
  shapeOf,
  type WildcardRule,
  wildcardRule,
} from './path-rule.ts';

/** Paths whose permissions are remembered; past it the memory starts afresh. */
const REMEMBERED_PATHS = 4096;
/** Longer ones are not what programs ask for again and again, and would let one caller fill the memory. */
const LONGEST_REMEMBERED = 256;

/**
 * What the policies of one token allow, compiled: Vault's rules of precedence. Of all rules that match a path
 * exactly one counts, the most specific. An exact path comes first, then patterns by their priority; only rules with
 * the same pattern, in several policies, are united. Without a matching rule nothing is allowed.
 */
export class Acl {
  /** Everything is allowed: the policy `root`. */
  static readonly root = new Acl([], true);

  readonly isRoot: boolean;
  readonly #exact = new Map<string, Permissions>();
  readonly #wildcards: readonly WildcardRule[];
  readonly #remembered = new Map<string, Permissions | undefined>();
  readonly #rememberedLists = new Map<string, readonly Permissions[]>();

  constructor(rules: readonly PathRule[], isRoot = false) {
    this.isRoot = isRoot;
    const wildcards = new Map<string, Permissions>();
    for (const { pattern, permissions } of rules) {
      const target = shapeOf(pattern).kind === 'exact' ? this.#exact : wildcards;
      const known = target.get(pattern);
      target.set(pattern, known === undefined ? permissions : mergePermissions(known, permissions));
    }
    this.#wildcards = [...wildcards]
      .flatMap(([pattern, permissions]) => compile(pattern, permissions))
      .sort(byPriority);
  }

  /**
   * Whether a capability is granted on a path, as it is in policies: without `/v1/`, e.g. `transit/encrypt/orders`.
   * @param path for `list` a final slash is added when missing, and rules without it count where none has it. A final slash
   * changes nothing of what a path means to an operation, so a rule for the path without it that is more specific counts
   * as well, for every capability: peers let a refusal be walked around with a slash.
   * @param parameters of the request; left out, rules about them are not applied.
   * @param meant what the operation understands them as, for the values that a rule denies.
   * @param wrapTtl seconds for which a wrapped answer is asked for; 0 for an open one.
   * @see docs/decisions/0096
   */
  allows(
    path: string,
    capability: Capability,
    parameters?: RequestParameters,
    meant: () => RequestParameters = () => parameters ?? {},
    wrapTtl = 0,
  ): boolean {
    if (this.isRoot) return true;
    const given = withoutFirst(path, '/');
    const allowing = (found: Permissions | undefined): boolean =>
      found !== undefined &&
      (found.wrapping === undefined || isWithin(found.wrapping, wrapTtl)) &&
      allowedBy(found, capability, parameters, meant);
    if (capability === 'list') {
      const found = this.#findForList(withSlash(given));
      return found.length > 0 && found.every(allowing);
    }
    if (!given.endsWith('/')) return allowing(this.#find(given));
    const found = this.#rankedRule(given);
    const bare = this.#rankedRule(withoutLast(given, '/'));
    return allowing(found.permissions) && (bare.rank > found.rank || allowing(bare.permissions));
  }

  /** The capabilities on a path, sorted; `['root']`, or `['deny']` when there are none. */
  capabilities(path: string): readonly string[] {
    if (this.isRoot) return ['root'];
    return printCapabilities(inAll(this.#findForList(withoutFirst(path, '/'))));
  }

  /**
   * Whether a rule grants anything on a mount or below it. What a refusal of all that is there outranks is no grant; one that is
   * outranked by refusals of single paths is taken for one.
   * @param mount with its final slash.
   */
  reaches(mount: string): boolean {
    if (this.isRoot || isGrant(inAll(this.#findForList(mount)))) return true;
    for (const [path, permissions] of this.#exact) {
      if (path.startsWith(mount) && grants(permissions)) return true;
    }
    const segments = mount.split('/');
    for (const rule of this.#wildcards) {
      if (grants(rule.permissions)) {
        if (liesBelow(rule, mount)) return true;
      } else if (rule.open && matches(rule, mount, segments)) return false;
    }
    return false;
  }

  #find(path: string): Permissions | undefined {
    return remember(this.#remembered, path, () => this.#exact.get(path) ?? this.#firstWildcard(path));
  }

  /**
   * The rules that must all allow it: the one that counts for a list (without its final slash where no rule has that), and a refusal without the final slash that outranks it. One that
   * only grants other things says nothing about lists, as with peers.
   */
  #findForList(path: string): readonly Permissions[] {
    return remember(this.#rememberedLists, path, () => {
      const bare = path.endsWith('/') ? path.slice(0, -1) : path;
      const exact = this.#exact.get(path) ?? this.#exact.get(bare);
      if (exact !== undefined) return [exact];
      const found = this.#rankedRule(path);
      const without = this.#rankedRule(bare);
      if (without.permissions === undefined)
        return found.permissions === undefined ? [] : [found.permissions];
      if (found.permissions === undefined) return [without.permissions];
      const isRefused = without.rank < found.rank && !grants(without.permissions);
      return isRefused ? [found.permissions, without.permissions] : [found.permissions];
    });
  }

  #firstWildcard(path: string): Permissions | undefined {
    return this.#wildcards[this.#placeOfWildcard(path)]?.permissions;
  }

  /** Of the first one that matches; -1 when none does. */
  #placeOfWildcard(path: string): number {
    const segments = path.split('/');
    return this.#wildcards.findIndex((rule) => matches(rule, path, segments));
  }

  /** The rule that counts for a path, with its place among all: the lower, the more specific. */
  #rankedRule(path: string): { readonly permissions: Permissions | undefined; readonly rank: number } {
    const exact = this.#exact.get(path);
    if (exact !== undefined) return { permissions: exact, rank: -1 };
    const place = this.#placeOfWildcard(path);
    return {
      permissions: this.#wildcards[place]?.permissions,
      rank: place === -1 ? Number.POSITIVE_INFINITY : place,
    };
  }
}

/** Operations whose body or query a rule can restrict. */
const BODY_CAPABILITIES: ReadonlySet<Capability> = new Set(['create', 'read', 'update']);

function allowedBy(
  { capabilities, parameters: rule }: Permissions,
  capability: Capability,
  parameters: RequestParameters | undefined,
  meant: () => RequestParameters,
): boolean {
  if ((capabilities & bitOf(capability)) === 0) return false;
  if (parameters === undefined || rule === undefined) return true;
  return !BODY_CAPABILITIES.has(capability) || permits(rule, parameters, meant);
}

const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

const grants = ({ capabilities }: Permissions): boolean => isGrant(capabilities);

const isGrant = (capabilities: Capabilities): boolean => capabilities !== 0 && (capabilities & DENY) === 0;

/** What all of them grant; nothing where there are none. */
const inAll = ([first, ...rest]: readonly Permissions[]): Capabilities =>
  rest.reduce((mask, { capabilities }) => mask & capabilities, first?.capabilities ?? 0);

function compile(pattern: string, permissions: Permissions): WildcardRule[] {
  const shape = shapeOf(pattern);
  return shape.kind === 'exact' ? [] : [wildcardRule(shape, permissions)];
}

function remember<T>(memory: Map<string, T>, path: string, find: () => T): T {
  const known = memory.get(path);
  if (known !== undefined || memory.has(path)) return known as T;
  const found = find();
  if (path.length > LONGEST_REMEMBERED) return found;
  if (memory.size >= REMEMBERED_PATHS) memory.clear();
  memory.set(path, found);
  return found;
}
