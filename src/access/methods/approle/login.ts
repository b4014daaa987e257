import { CofferError, invalid, ownWords } from '../../../ground/errors.ts';
import type { Mount } from '../../../mounts/mount.ts';
import type { View } from '../../../store/store.ts';
import type { Login } from '../../login/login-token.ts';
import { commonNetworks, isWithin } from '../../login/networks.ts';
import { settingsFrom, type TokenSettings } from '../../login/token-settings.ts';
import type { IssuedToken, Tokens } from '../../tokens.ts';
import {
  type AppRole,
  type AppRolePorts,
  findRole,
  hasEnded,
  removeSecret,
  roleIdRef,
  roleRef,
  type SecretId,
  secretDocument,
  secretRef,
} from './documents.ts';

/** Credentials of a login, with the client address. */
interface AppRoleCredentials {
  readonly roleId: string;
  readonly secretId: string;
  readonly address: string;
}

interface RoleAndSecret {
  readonly name: string;
  readonly role: AppRole;
  /** Secret ID; absent if the role does not require one. */
  readonly secret?: { readonly id: string; readonly document: SecretId };
}

/**
 * Logs in. The use of the secret ID is counted in the transaction that creates the token: if several clients use the
 * last one at the same time, on any server, only one succeeds.
 * @throws `invalid` with Vault's messages
 * @see docs/decisions/0176
 */
export async function login(
  room: AppRolePorts,
  tokens: Tokens,
  credentials: AppRoleCredentials,
): Promise<IssuedToken> {
  const { mount } = room;
  return tokens.login(async (tx) => {
    const found = await find(tx, room, credentials);
    if (found instanceof CofferError) return found;
    const { secret } = found;
    if (secret !== undefined) {
      const { id, document } = secret;
      if (document.uses === 1) removeSecret(tx, mount, id, document);
      else if (document.uses > 1) {
        tx.put(secretRef(mount, id), { ...document, uses: document.uses - 1, updatedMs: room.clock.now() });
      }
    }
    // The use counts even now: a secret ID that is used from a foreign address was stolen.
    return refusedAddress(found, credentials.address) ?? loginOf(mount, found, credentials.address);
  });
}

/** Returns the name of the role with a role ID, if there is one. */
export async function roleWithId(
  { store, mount }: AppRolePorts,
  roleId: string,
): Promise<string | undefined> {
  if (roleId === '') return undefined;
  const ref = roleIdRef(mount, roleId);
  return (await store.read((view) => view.get<{ readonly role: string }>(ref)))?.role;
}

async function find(
  view: View,
  { mount, clock }: AppRolePorts,
  { roleId, secretId }: AppRoleCredentials,
): Promise<RoleAndSecret | CofferError> {
  if (roleId === '') return invalid(ownWords('missing role_id'), { field: 'role_id' });
  const named = await view.get<{ readonly role: string }>(roleIdRef(mount, roleId));
  const role = named && (await findRole(view, mount, named.role));
  if (named === undefined || role === undefined) return wrong();
  if (!role.settings.bind_secret_id) return { name: named.role, role };
  if (secretId === '') return invalid(ownWords('missing secret_id'), { field: 'secret_id' });
  const id = secretDocument(role, secretId);
  const document = await view.get<SecretId>(secretRef(mount, id));
  if (document === undefined || hasEnded(document, clock.now())) return wrong();
  return { name: named.role, role, secret: { id, document } };
}

const wrong = (): CofferError => invalid(ownWords('invalid role or secret ID'));

function refusedAddress({ role, secret }: RoleAndSecret, address: string): CofferError | undefined {
  const onSecret = secret?.document.cidrs ?? [];
  const onRole = role.settings.secret_id_bound_cidrs;
  const where = isOutside(onSecret, address) ? 'secret ID' : isOutside(onRole, address) ? 'role' : undefined;
  return where && unauthorized(address, where);
}

const unauthorized = (address: string, where: 'secret ID' | 'role'): CofferError =>
  invalid(`source address "${address}" unauthorized by CIDR restrictions on the ${where}`);

const isOutside = (networks: readonly string[], address: string): boolean =>
  networks.length > 0 && !isWithin(networks, address);

function loginOf(mount: Mount, { name, role, secret }: RoleAndSecret, address: string): Login | CofferError {
  const ofRole = settingsFrom(role.token, address);
  const settings = withSecretsNetworks(ofRole, secret?.document.tokenCidrs ?? []);
  if (settings === undefined) return unauthorized(address, 'secret ID');
  return {
    mount,
    path: `${mount.path}/login`,
    meta: { ...secret?.document.meta, role_name: name },
    settings,
    role: roleRef(mount, name),
    name,
  };
}

/**
 * Applies the networks of a secret ID, which can only restrict those of the role: also if the role was changed later,
 * or binds each token to the address of its login. Undefined if none are left.
 */
function withSecretsNetworks(
  settings: TokenSettings,
  ofSecret: readonly string[],
): TokenSettings | undefined {
  const { token_bound_cidrs: ofRole } = settings;
  if (ofSecret.length === 0) return settings;
  if (ofRole.length === 0) return { ...settings, token_bound_cidrs: ofSecret };
  const common = commonNetworks(ofSecret, ofRole);
  return common.length === 0 ? undefined : { ...settings, token_bound_cidrs: common };
}
