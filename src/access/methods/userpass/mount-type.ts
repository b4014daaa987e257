import type { MountType } from '../../../mounts/mounts.ts';
import { LOCKED } from '../../login/collections.ts';

export const USERS = 'users';

/** Separate module, because every command loads the mount types. */
export const userpassMounts: MountType = {
  name: 'userpass',
  isLogin: true,
  collections: [USERS, LOCKED],
  roles: USERS,
};
