import type { MountType } from '../../../mounts/mount.ts';

/** Collections: roles by name, revocation lists by name, and the document of settings. */
export const ROLES = 'certs';
export const LISTS = 'crls';
export const SETTINGS = 'config';

/** Separate module, because every command loads the mount types. */
export const certMounts: MountType = {
  name: 'cert',
  isLogin: true,
  login: { summary: 'Manage logins with TLS client certificates', needs: [] },
  collections: [ROLES, LISTS, SETTINGS],
  roles: ROLES,
};
