import type { MountType } from '../../../mounts/mount.ts';

/** Collections: roles by name, role names by role ID, secret IDs by hash, and those hashes by accessor. */
export const ROLES = 'roles';
export const ROLE_IDS = 'role-ids';
export const SECRETS = 'secrets';
export const ACCESSORS = 'accessors';

/** Separate module, because every command loads the mount types. */
export const approleMounts: MountType = {
  name: 'approle',
  isLogin: true,
  login: {
    summary: 'Manage logins of programs, with a secret ID (AppRole)',
    needs: ['role_id'],
    secret: { name: 'secret_id', question: 'Secret ID', isOptional: true },
  },
  collections: [ROLES, ROLE_IDS, SECRETS, ACCESSORS],
  roles: ROLES,
};
