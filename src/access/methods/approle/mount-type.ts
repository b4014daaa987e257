import type { MountType } from '../../../mounts/mounts.ts';

/** Roles by name; names of roles by role ID; secret IDs by what they hash to; and those hashes by accessor. */
export const ROLES = 'roles';
export const ROLE_IDS = 'role-ids';
export const SECRETS = 'secrets';
export const ACCESSORS = 'accessors';

/** Apart from the rest, because every command knows what can be mounted. */
export const approleMounts: MountType = {
  name: 'approle',
  isLogin: true,
  collections: [ROLES, ROLE_IDS, SECRETS, ACCESSORS],
};
