import type { MountType } from '../../../mounts/mounts.ts';

/** Roles by name; lists of revoked certificates by name; and the one document of settings. */
export const ROLES = 'certs';
export const LISTS = 'crls';
export const SETTINGS = 'config';

/** Apart from the rest, because every command knows what can be mounted. */
export const certMounts: MountType = { name: 'cert', isLogin: true, collections: [ROLES, LISTS, SETTINGS] };
