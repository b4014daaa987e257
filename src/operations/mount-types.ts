import { approleMounts } from '../access/methods/approle/mount-type.ts';
import { certMounts } from '../access/methods/cert/mount-type.ts';
import { jwtMounts } from '../access/methods/jwt/mount-type.ts';
import { userpassMounts } from '../access/methods/userpass/mount-type.ts';
import type { MountType } from '../mounts/mount.ts';
import { LOGIN_PREFIX } from '../mounts/paths.ts';
import { transitMounts } from '../transit/engine.ts';

/** All engines and login methods that can be mounted. */
export const MOUNT_TYPES: readonly MountType[] = [
  transitMounts,
  approleMounts,
  certMounts,
  ...jwtMounts,
  userpassMounts,
];

/** Names of the login methods. */
export const LOGIN_METHODS: readonly string[] = MOUNT_TYPES.flatMap(({ name, isLogin }) =>
  isLogin ? [name] : [],
);

/** Login methods with operations of their own: the others are further names for one of these. */
export const OWN_METHODS: readonly string[] = MOUNT_TYPES.flatMap(({ name, isLogin, operationsOf }) =>
  isLogin && operationsOf === undefined ? [name] : [],
);

/** Returns the default mount path of a type. */
export const usualPath = (type: string): string =>
  MOUNT_TYPES.some(({ name, isLogin }) => name === type && isLogin) ? `${LOGIN_PREFIX}${type}` : type;
