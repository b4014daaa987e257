import { unlessRefused } from '../ground/errors.ts';
import { turn } from '../ground/pause.ts';
import type { Mount } from '../mounts/mount.ts';
import { collectionOf } from '../mounts/mounts.ts';
import type { Store } from '../store/store.ts';
import type { Capability } from './capability.ts';
import { type LoginRole, policiesOf } from './login/login-token.ts';
import { type Policies, ROOT } from './policies.ts';
import { policiesUnder, saysPolicies, type TokenRole, type TokenRoles } from './token-roles.ts';
import type { Tokens } from './tokens.ts';

/** Number of holders that are judged per event loop turn, because each may have policies of its own to compile. */
const HOLDERS_IN_A_TURN = 100;

/** What is asked about: a capability on a path, written as in policies. */
interface HeldCapability {
  readonly path: string;
  readonly capability: Capability;
}

/** Login method, and the collection of its roles or users. */
export interface LoginMethod {
  readonly mount: Mount;
  /** As named by the mount's type. */
  readonly roles: string;
}

/** Role or user of a login method, with the policies of its tokens. */
interface LoginHolder {
  /** API path of the method's mount, without slashes at the ends. */
  readonly mount: string;
  /** Type of the mount, e.g. `userpass`. */
  readonly type: string;
  readonly name: string;
  readonly policies: readonly string[];
}

/** Token role whose tokens may have the capability, and those policies of it that grant it. */
interface TokenRoleHolder {
  readonly name: string;
  readonly policies: readonly string[];
}

/** Determines whether a combination of policies, normalized and sorted, grants the capability; caches each result. */
type Grants = (names: readonly string[]) => Promise<boolean>;

interface AccessParts {
  readonly store: Store;
  readonly policies: Policies;
  readonly tokens: Tokens;
  readonly roles: TokenRoles;
}

/**
 * Finds the policies that grant a capability on a path, and the logins, token roles and tokens that have it by their
 * policies together: a deny rule of one outranks the grant of another, as for requests. Batch tokens, which are not
 * stored, and the owner of the store are not among them.
 * @param methods all login methods that have roles or users
 */
export async function holdersOf(
  { store, policies, tokens, roles }: AccessParts,
  asked: HeldCapability,
  methods: readonly LoginMethod[],
) {
  const judged = new Map<string, Promise<boolean>>();
  const judge = async (names: readonly string[]): Promise<boolean> => {
    const acl = await store.read((view) => policies.acl(view, names));
    return acl.isRoot || acl.capabilities(asked.path).includes(asked.capability);
  };
  const grants: Grants = (names) => {
    const key = JSON.stringify(names);
    const known = judged.get(key) ?? judge(names);
    judged.set(key, known);
    return known;
  };
  const granting: string[] = [];
  for (const name of await policies.list()) if (await grants([name])) granting.push(name);
  const chosen = new Set(granting);
  const through = (names: readonly string[]): readonly string[] => names.filter((name) => chosen.has(name));
  const among = async <H>(
    holders: readonly H[],
    policiesOf: (holder: H) => readonly string[] | undefined,
  ): Promise<(H & { readonly policies: readonly string[] })[]> => {
    const found: (H & { readonly policies: readonly string[] })[] = [];
    for (const [index, holder] of holders.entries()) {
      if (index % HOLDERS_IN_A_TURN === HOLDERS_IN_A_TURN - 1) await turn();
      const names = policiesOf(holder);
      if (names !== undefined && (await grants(names))) found.push({ ...holder, policies: through(names) });
    }
    return found;
  };
  return {
    /** Those that grant the capability. */
    policies: granting,
    // No login gets a token with the policy root.
    logins: await among(await loginsOf(store, methods), (login) => withoutRoot(login.policies)),
    tokenRoles: await tokenRolesWith(roles, grants, granting),
    tokens: await among(await tokens.list(), ({ token }) => token.policies),
  };
}

async function loginsOf(store: Store, methods: readonly LoginMethod[]): Promise<readonly LoginHolder[]> {
  const found: LoginHolder[] = [];
  for (const { mount, roles } of methods) {
    const collection = collectionOf(mount, roles);
    for (const name of await store.read((view) => view.list(collection))) {
      const role = await store.read((view) => view.get<LoginRole>({ collection, id: name }));
      // It may have been deleted after it was listed.
      if (role === undefined) continue;
      const { path, type } = mount;
      found.push({ mount: path, type, name, policies: policiesOf(role.token) });
    }
  }
  return found;
}

const withoutRoot = (names: readonly string[]): readonly string[] | undefined =>
  names.includes(ROOT) ? undefined : names;

async function tokenRolesWith(
  roles: TokenRoles,
  grants: Grants,
  granting: readonly string[],
): Promise<readonly TokenRoleHolder[]> {
  const found: TokenRoleHolder[] = [];
  for (const name of await roles.list()) {
    const role = await roles.read(name);
    // Otherwise its tokens have at most the policies of the token that creates them.
    if (role === undefined || !saysPolicies(role)) continue;
    const policies: string[] = [];
    for (const policy of granting) {
      const given = policy === ROOT ? undefined : policiesWith(role, policy);
      if (given !== undefined && (await grants(given))) policies.push(policy);
    }
    if (policies.length > 0) found.push({ name, policies });
  }
  return found;
}

/** Returns the policies of a token that a role creates with one policy; undefined if the role refuses it. */
const policiesWith = (role: TokenRole, policy: string): readonly string[] | undefined =>
  unlessRefused(() => policiesUnder(role, [policy], [], role.token_no_default_policy), undefined, 'invalid');
