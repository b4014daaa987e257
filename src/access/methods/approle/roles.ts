import { randomUUID } from 'node:crypto';
import { invalid, ownWords } from '../../../ground/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { maskedNetworks } from '../../login/networks.ts';
import type { WriteOptions } from '../../login/role-table.ts';
import { changedSettings, NO_SETTINGS, type TokenSettings } from '../../login/token-settings.ts';
import {
  type AppRole,
  type AppRolePorts,
  type AppRoleSettings,
  findRole,
  NEW_ROLE,
  roleIdRef,
  roleRef,
  rolesOf,
} from './documents.ts';

/** Change of a role; absent members stay unchanged. */
interface AppRoleChange {
  readonly settings: Partial<AppRoleSettings>;
  readonly token: Partial<TokenSettings>;
  readonly roleId?: string | undefined;
}

const KEY_BYTES = 32;

/**
 * Creates or changes a role.
 * @throws `invalid` with Vault's messages
 */
export async function writeRole(
  room: AppRolePorts,
  name: string,
  { settings, token, roleId }: AppRoleChange,
  options?: WriteOptions,
): Promise<void> {
  const { mount, random } = room;
  const changed = async (before: AppRole | undefined, tx: Transaction): Promise<AppRole> => {
    if (before !== undefined && settings.local_secret_ids !== undefined) {
      throw invalid(ownWords('local_secret_ids can only be modified during role creation'), {
        field: 'local_secret_ids',
      });
    }
    const role: AppRole = {
      key: before?.key ?? random.bytes(KEY_BYTES).toString('base64'),
      roleId: roleId ?? before?.roleId ?? randomUUID(),
      settings: checked({ ...(before?.settings ?? NEW_ROLE), ...settings }),
      token: changedSettings(before?.token ?? NO_SETTINGS, token),
    };
    if (!isBound(role)) throw invalid(ownWords('at least one constraint should be enabled on the role'));
    if (role.roleId !== before?.roleId) {
      if ((await tx.get(roleIdRef(mount, role.roleId))) !== undefined) {
        throw invalid(ownWords('role_id already in use'), { field: 'role_id' });
      }
      if (before !== undefined) tx.delete(roleIdRef(mount, before.roleId));
      tx.put(roleIdRef(mount, role.roleId), { role: name });
    }
    return role;
  };
  await rolesOf(room).write(name, changed, options);
}

/**
 * Deletes a role. Its secret IDs become invalid, and are deleted by the next tidy; its tokens stay valid until they
 * expire.
 */
export async function removeRole({ store, mount }: AppRolePorts, name: string): Promise<void> {
  await store.transact(async (tx) => {
    const role = await findRole(tx, mount, name);
    if (role === undefined) return;
    tx.delete(roleRef(mount, name));
    tx.delete(roleIdRef(mount, role.roleId));
  });
}

function checked(settings: AppRoleSettings): AppRoleSettings {
  if (settings.secret_id_num_uses < 0) {
    throw invalid(ownWords('secret_id_num_uses cannot be negative'), { field: 'secret_id_num_uses' });
  }
  const networks = maskedNetworks(settings.secret_id_bound_cidrs, 'secret_id_bound_cidrs');
  return { ...settings, secret_id_bound_cidrs: networks };
}

const isBound = ({ settings, token }: AppRole): boolean =>
  settings.bind_secret_id || settings.secret_id_bound_cidrs.length > 0 || token.token_bound_cidrs.length > 0;
