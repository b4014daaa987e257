import { familyVersion } from '../../ground/version.ts';
import type { Mount } from '../../mounts/mount.ts';
import { isLoginMount, relativePath } from '../../mounts/mounts.ts';
import { printConfig, printTuning } from './mount-config.ts';

/** Whether it is the token method, which every store has. */
const isToken = ({ type }: Mount): boolean => type === 'token';

/** Formats a mount in API terms. There are no plugins, so these values are constant. */
export const printMount = (mount: Mount) => ({
  type: mount.type,
  description: mount.description,
  accessor: mount.accessor,
  local: false,
  seal_wrap: false,
  external_entropy_access: false,
  ...mount.traits,
  options: hasOptions(mount) || (isLoginMount(mount) && !isToken(mount)) ? mount.options : null,
  uuid: mount.uuid,
  plugin_version: '',
  running_plugin_version: `v${familyVersion}`,
  running_sha256: '',
  deprecation_status: isToken(mount) ? undefined : 'supported',
  config: { ...printConfig(mount.config), token_type: tokenTypeOf(mount) },
});

export type MountsByPath = Readonly<Record<string, ReturnType<typeof printMount>>>;

/** Formats mounts by path with a final slash; login methods without `auth/`. */
export const printMounts = (mounts: readonly Mount[]): MountsByPath => byPath(mounts, printMount);

/** Formats public mounts for callers without a token. */
export const printForStrangers = (mounts: readonly Mount[]) =>
  byPath(mounts, ({ description, options, type }) => ({ description, options, type }));

/** Formats the settings of one mount, with the effective TTLs. */
export const printMountTuning = (mount: Mount) => ({
  ...printTuning(mount.config),
  token_type: tokenTypeOf(mount),
  description: mount.description,
  options: hasOptions(mount) ? mount.options : undefined,
});

const byPath = <T>(mounts: readonly Mount[], print: (mount: Mount) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(mounts.map((mount) => [`${relativePath(mount)}/`, print(mount)]));

const hasOptions = ({ options }: Mount): boolean => Object.keys(options).length > 0;

/** Only login methods issue tokens. */
const tokenTypeOf = (mount: Mount): string | undefined =>
  isLoginMount(mount) ? (mount.config?.token_type ?? 'default-service') : undefined;
