import { CofferError, invalid } from '../../../ground/errors.ts';
import { ownWords } from '../../../ground/own-words.ts';
import type { Mount } from '../../../mounts/mount.ts';
import type { View } from '../../../store/store.ts';
import type { Login } from '../../login/login-token.ts';
import { commonNetworks, isWithin } from '../../login/networks.ts';
import { settingsFrom, type TokenSettings } from '../../login/token-settings.ts';
import type { IssuedToken, Tokens } from '../../tokens.ts';
import {
  findRole,
  hasEnded,
  type Role,
  type Room,
  removeSecret,
  roleIdRef,
  roleRef,
  type SecretId,
  secretDocument,
  secretRef,
} from './documents.ts';

/** What somebody logs in with, and from where. */
export interface Credentials {
  readonly roleId: string;
  readonly secretId: string;
  readonly address: string;
}

interface Found {
  readonly name: string;
  readonly role: Role;
  /** Absent for a role that needs none. */
  readonly secret?: { readonly id: string; readonly document: SecretId };
}

/**
 * Lets a program in. The use is taken in the change that makes the token: of those who come with the last one at the same
 * moment, on whatever server, one gets in.
 * @see docs/decisions/0176
 * @throws `invalid` in the words of the family.
 */
export async function login(room: Room, tokens: Tokens, credentials: Credentials): Promise<IssuedToken> {
  const { mount } = room;
  return tokens.login(async (tx) => {
    const found = await find(tx, room, credentials);
    if (found instanceof CofferError) return found;
    const { name, role, secret } = found;
    if (secret !== undefined) {
      const { id, document } = secret;
      if (document.uses === 1) removeSecret(tx, mount, id, document);
      else if (document.uses > 1) {
        tx.put(secretRef(mount, id), { ...document, uses: document.uses - 1, updatedMs: room.clock.now() });
      }
    }
    // The use is gone: a secret ID that is tried from elsewhere is one that somebody took.
    return refusedAddress(found, credentials.address) ?? loginOf(mount, name, role, found, credentials);
  });
}

/** The name of the role that has a role ID, if there is one. */
export async function roleWithId({ store, mount }: Room, roleId: string): Promise<string | undefined> {
  if (roleId === '') return undefined;
  const ref = roleIdRef(mount, roleId);
  return (await store.read((view) => view.get<{ readonly role: string }>(ref)))?.role;
}

async function find(
  view: View,
  { mount, clock }: Room,
  { roleId, secretId }: Credentials,
): Promise<Found | CofferError> {
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

function refusedAddress({ role, secret }: Found, address: string): CofferError | undefined {
  const onSecret = secret?.document.cidrs ?? [];
  const onRole = role.settings.secret_id_bound_cidrs;
  const where = isOutside(onSecret, address) ? 'secret ID' : isOutside(onRole, address) ? 'role' : undefined;
  return where && unauthorized(address, where);
}

const unauthorized = (address: string, where: 'secret ID' | 'role'): CofferError =>
  invalid(`source address "${address}" unauthorized by CIDR restrictions on the ${where}`);

const isOutside = (networks: readonly string[], address: string): boolean =>
  networks.length > 0 && !isWithin(networks, address);

function loginOf(
  mount: Mount,
  name: string,
  role: Role,
  { secret }: Found,
  { address }: Credentials,
): Login | CofferError {
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
 * Whoever makes secret IDs may bind their tokens more than the role does, and never less: also where the role was changed since, or
 * binds each token to where its login came from. Undefined where that leaves nothing.
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
