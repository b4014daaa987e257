import { invalid, ownWords } from '../ground/errors.ts';
import { glob } from '../ground/glob.ts';
import { type DocumentRef, deleteIfThere, type Store, type View } from '../store/store.ts';
import { boundNetworks } from './login/networks.ts';
import { NO_TEXTS } from './login/token-settings.ts';
import { DEFAULT, policyName } from './policies.ts';
import { isKindRule, type KindRule } from './token.ts';

/**
 * New token role, in API terms: settings and policies of the tokens created with it, independent of the creator's
 * policies. Times in seconds, 0 for "not set".
 */
const NEW_SETTINGS = {
  allowed_policies: NO_TEXTS,
  allowed_policies_glob: NO_TEXTS,
  disallowed_policies: NO_TEXTS,
  disallowed_policies_glob: NO_TEXTS,
  /** Stored for compatibility; has no effect, because there are no entities. */
  allowed_entity_aliases: NO_TEXTS,
  orphan: false,
  renewable: true,
  /** Suffix of the tokens' path, for finding them. */
  path_suffix: '',
  token_period: 0,
  token_explicit_max_ttl: 0,
  token_bound_cidrs: NO_TEXTS,
  token_no_default_policy: false,
  /** 0: unlimited. */
  token_num_uses: 0,
};
/** Older names of three settings, returned to clients that use them. */
const OLDER_NAMES = { period: 0, explicit_max_ttl: 0, bound_cidrs: NO_TEXTS };

export interface TokenRole extends Readonly<typeof NEW_SETTINGS & typeof OLDER_NAMES> {
  readonly token_type: KindRule;
  /** Stored for compatibility; has no effect, because there are no entities. Absent if empty. */
  readonly alias_metadata?: Readonly<Record<string, string>> | undefined;
}

const NEW_ROLE: TokenRole = { ...NEW_SETTINGS, token_type: 'default-service', ...OLDER_NAMES };

/** Change of a role, with the token type as given. */
type TokenRoleChange = Omit<Partial<TokenRole>, 'token_type'> & { readonly token_type?: string };

const COLLECTION = 'access/token-roles';
const refOf = (name: string): DocumentRef => ({ collection: COLLECTION, id: name });

/** Reads a role; undefined if it does not exist. */
export const roleIn = (view: View, name: string): Promise<TokenRole | undefined> =>
  view.get<TokenRole>(refOf(name));

/**
 * Token roles of a store.
 * @see docs/decisions/0171
 */
export class TokenRoles {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  list(): Promise<string[]> {
    return this.#store.read((view) => view.list(COLLECTION));
  }

  read(name: string): Promise<TokenRole | undefined> {
    return this.#store.read((view) => roleIn(view, name));
  }

  /**
   * Creates or changes a role; absent members stay unchanged.
   * @throws `invalid` with Vault's messages
   */
  async write(name: string, change: TokenRoleChange): Promise<void> {
    await this.#store.transact(async (tx) => {
      tx.put(refOf(name), changedRole((await roleIn(tx, name)) ?? NEW_ROLE, change));
    });
  }

  /** Deletes a role; its tokens stay valid. Succeeds if it does not exist. */
  async delete(name: string): Promise<void> {
    await this.#store.transact((tx) => deleteIfThere(tx, refOf(name)));
  }
}

const PATH_SUFFIX = /^\w[\w.-]+\w$/;

function changedRole(before: TokenRole, { token_type: type, ...change }: TokenRoleChange): TokenRole {
  const role = { ...changedNames(before, change), token_type: kindRule(type ?? before.token_type) };
  const suffix = role.path_suffix;
  if (suffix !== '' && !PATH_SUFFIX.test(suffix)) {
    throw invalid(ownWords('given role path suffix contains invalid characters; must match \\w[\\w-.]+\\w'), {
      field: 'path_suffix',
    });
  }
  if (suffix.includes('..')) {
    throw invalid(ownWords('error registering path suffix: ".." is not allowed'), { field: 'path_suffix' });
  }
  if (role.token_num_uses < 0) {
    throw invalid(ownWords("'token_num_uses' cannot be negative"), { field: 'token_num_uses' });
  }
  if (role.token_type === 'batch') checkBatchRole(role);
  const { alias_metadata: metadata = {}, ...rest } = role;
  const lower = (names: readonly string[]) => distinct(names.map(policyName).filter((name) => name !== ''));
  return {
    ...rest,
    alias_metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    allowed_policies: lower(role.allowed_policies),
    allowed_policies_glob: lower(role.allowed_policies_glob),
    disallowed_policies: lower(role.disallowed_policies),
    disallowed_policies_glob: lower(role.disallowed_policies_glob),
    token_bound_cidrs: boundNetworks(role.token_bound_cidrs, 'token_bound_cidrs'),
  };
}

/** Copies older names to the newer ones, unless those are given as well. */
function changedNames(before: TokenRole, change: Partial<Omit<TokenRole, 'token_type'>>): TokenRole {
  const older = { ...before, ...change };
  return {
    ...older,
    token_period: change.token_period ?? change.period ?? before.token_period,
    token_explicit_max_ttl:
      change.token_explicit_max_ttl ?? change.explicit_max_ttl ?? before.token_explicit_max_ttl,
    token_bound_cidrs: change.token_bound_cidrs ?? change.bound_cidrs ?? before.token_bound_cidrs,
    period: change.token_period === undefined ? older.period : 0,
    explicit_max_ttl: change.token_explicit_max_ttl === undefined ? older.explicit_max_ttl : 0,
    bound_cidrs: change.token_bound_cidrs === undefined ? older.bound_cidrs : [],
  };
}

function checkBatchRole(role: TokenRole): void {
  const what = !role.orphan
    ? 'non-orphan tokens'
    : role.token_period !== 0
      ? 'periodic tokens'
      : role.renewable
        ? 'renewable tokens'
        : role.token_explicit_max_ttl !== 0
          ? 'tokens with an explicit max TTL'
          : undefined;
  if (what === undefined) return;
  throw invalid(`'token_type' cannot be 'batch' when role is set to generate ${what}`, {
    field: 'token_type',
  });
}

function kindRule(type: string): KindRule {
  if (isKindRule(type)) return type;
  throw invalid(`invalid 'token_type' value ${JSON.stringify(type)}`, { field: 'token_type' });
}

/** Whether a role itself determines the policies of its tokens. */
export const saysPolicies = (role: TokenRole): boolean =>
  [
    role.allowed_policies,
    role.allowed_policies_glob,
    role.disallowed_policies,
    role.disallowed_policies_glob,
  ].some((names) => names.length > 0);

/**
 * Determines the policies of a token whose role restricts them. Rules and messages are those of Vault and OpenBao.
 * @param asked normalized; undefined for those of the role
 * @throws `invalid` if the role does not allow them
 */
export function policiesUnder(
  role: TokenRole,
  asked: readonly string[] | undefined,
  parent: readonly string[],
  noDefaultPolicy: boolean,
): readonly string[] {
  const refuses = (name: string): boolean =>
    role.disallowed_policies.includes(name) || matchesAny(role.disallowed_policies_glob, name);
  const usual = noDefaultPolicy || refuses(DEFAULT) ? [] : [DEFAULT];
  const bounds = role.allowed_policies.length > 0 || role.allowed_policies_glob.length > 0;
  const allowed = distinct([...role.allowed_policies, ...usual]);
  const given = asked ?? (bounds ? allowed : parent);
  const chosen = distinct([...given, ...usual]);
  const isAllowed = (name: string): boolean =>
    allowed.includes(name) || matchesAny(role.allowed_policies_glob, name);
  if (bounds && !chosen.every(isAllowed)) {
    throw invalid(
      `token policies (${printList(chosen)}) must be subset of the role's allowed policies (${printList(allowed)}) or glob policies (${printList(role.allowed_policies_glob)})`,
      { field: 'policies' },
    );
  }
  const refused = chosen.find(refuses);
  if (refused !== undefined) {
    throw invalid(`token policy "${refused}" is disallowed by this role`, { field: 'policies' });
  }
  return chosen;
}

const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)].sort();

/** Prints a list of texts like Go. */
const printList = (names: readonly string[]): string =>
  `[${names.map((name) => JSON.stringify(name)).join(' ')}]`;

const matchesAny = (globs: readonly string[], name: string): boolean =>
  globs.some((pattern) => glob(pattern)(name));
