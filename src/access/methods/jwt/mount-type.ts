import type { MountType } from '../../../mounts/mount.ts';

export const JWT = 'jwt';
export const KUBERNETES = 'kubernetes';
export const ROLES = 'roles';
export const CONFIG = 'config';
/** Collection of the last fetched key sets. */
export const FETCHED = 'fetched';

const collections = [ROLES, CONFIG, FETCHED];

/**
 * Logins with a signed token of another issuer. Vault has separate types for `oidc`, of which only browser logins need
 * more, and for `kubernetes`, whose clients log in with the same request.
 * @see docs/decisions/0179
 */
export const jwtMounts: readonly MountType[] = [
  {
    name: JWT,
    isLogin: true,
    login: {
      summary: 'Manage logins with JWTs from CI systems and other platforms',
      needs: [],
      secret: { name: 'jwt', question: 'JWT', isExposed: true },
    },
    collections,
    roles: ROLES,
  },
  { name: 'oidc', isLogin: true, collections, roles: ROLES, operationsOf: JWT },
  { name: KUBERNETES, isLogin: true, collections, roles: ROLES, operationsOf: JWT },
];
