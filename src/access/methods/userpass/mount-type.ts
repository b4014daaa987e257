import type { MountType } from '../../../mounts/mount.ts';
import { LOCKED } from '../../login/collections.ts';

export const USERS = 'users';

/** Separate module, because every command loads the mount types. */
export const userpassMounts: MountType = {
  name: 'userpass',
  isLogin: true,
  login: {
    summary: 'Manage logins with user name and password',
    needs: ['username'],
    secret: { name: 'password', question: 'Password' },
    inPath: 'username',
  },
  collections: [USERS, LOCKED],
  roles: USERS,
};
