import { withoutFirst, withoutLast } from '../ground/trim.ts';
import { BIT_OF, type Capabilities, type Capability, DENY, printCapabilities } from './capability.ts';
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

/** Maximum number of cached paths; when it is reached, the cache is cleared. */
const REMEMBERED_PATHS = 4096;
/**
 * Maximum length of a cached path: programs do not repeat longer ones, and a single caller could fill the memory with
 * them.
 */
const LONGEST_REMEMBERED = 256;

/**
 * Compiled permissions of one token, with Vault's rules of precedence. Of all rules that match a path exactly one
 * applies, the most specific. An exact path comes first, then patterns by their priority; only rules with the same
 * pattern, from several policies, are merged. Without a matching rule nothing is allowed.
 */
export class Acl {
  /** Allows everything: the policy `root`. */
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
   * Whether a capability is granted on a path, written as in policies: without `/v1/`, e.g. `transit/encrypt/orders`.
   * @param path for `list` a final slash is added if missing, and rules without it apply if no rule has it. A final
   * slash has no meaning for operations, so a more specific rule for the path without it applies as well, for every
   * capability: in Vault, a slash circumvents a deny rule.
   * @param parameters parameters of the request; undefined to ignore rules about them
   * @param meant parameters as the operation interprets them, for the values that a rule denies
   * @param wrapTtl requested response wrapping, in seconds; 0 for none
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
    const given = path.startsWith('/') ? withoutFirst(path, '/') : path;
    const allowing = (found: Permissions | undefined): boolean => {
      if (found === undefined || (found.capabilities & BIT_OF[capability]) === 0) return false;
      const { wrapping, parameters: rule } = found;
      if (wrapping !== undefined && !isWithin(wrapping, wrapTtl)) return false;
      if (parameters === undefined || rule === undefined) return true;
      return !BODY_CAPABILITIES.has(capability) || permits(rule, parameters, meant);
    };
    if (capability === 'list') {
      const found = this.#findForList(withSlash(given));
      return found.length > 0 && found.every(allowing);
    }
    if (!given.endsWith('/')) return allowing(this.#remembered.get(given) ?? this.#find(given));
    const found = this.#rankedRule(given);
    const bare = this.#rankedRule(withoutLast(given, '/'));
    return allowing(found.permissions) && (bare.rank > found.rank || allowing(bare.permissions));
  }

  /** Returns the capabilities on a path, sorted; `['root']`, or `['deny']` if there are none. */
  capabilities(path: string): readonly string[] {
    if (this.isRoot) return ['root'];
    return printCapabilities(inAll(this.#findForList(withoutFirst(path, '/'))));
  }

  /**
   * Whether a rule grants anything on a mount or below it. A rule that is outranked by a deny rule for everything there
   * does not count; one that is outranked only by deny rules of single paths does.
   * @param mount with its final slash
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
   * Returns the rules that must all allow a list: the one that applies to it (without its final slash if no rule has
   * that), and a deny rule without the final slash that outranks it. A rule that only grants other capabilities does
   * not restrict lists, as in Vault.
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

  /** Returns the position of the first wildcard rule that matches; -1 if there is none. */
  #placeOfWildcard(path: string): number {
    const segments = path.split('/');
    return this.#wildcards.findIndex((rule) => matches(rule, path, segments));
  }

  /** Returns the rule that applies to a path, with its rank among all rules: lower is more specific. */
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

const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

const grants = ({ capabilities }: Permissions): boolean => isGrant(capabilities);

const isGrant = (capabilities: Capabilities): boolean => capabilities !== 0 && (capabilities & DENY) === 0;

/** Returns the capabilities that all rules grant; none if the list is empty. */
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
