import type { MountType } from '../../../mounts/mounts.ts';
import { LOCKED } from '../../login/collections.ts';

export const USERS = 'users';

/** Apart from the rest, because every command knows what can be mounted. */
export const userpassMounts: MountType = { name: 'userpass', isLogin: true, collections: [USERS, LOCKED] };
