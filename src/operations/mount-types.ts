import type { MountType } from '../mounts/mounts.ts';
import { LOGIN_PREFIX } from '../mounts/paths.ts';
import { transitMounts } from '../transit/engine.ts';

/** Every kind of engine and login method that can be mounted. */
export const MOUNT_TYPES: readonly MountType[] = [transitMounts];

/** Where one of a type is mounted as a rule. */
export const usualPath = (type: string): string =>
  MOUNT_TYPES.some(({ name, isLogin }) => name === type && isLogin) ? `${LOGIN_PREFIX}${type}` : type;
