import { when } from '../../ground/objects.ts';
import { familyVersion } from '../../ground/version.ts';
import type { Mount } from '../../mounts/mount.ts';
import { isLoginMount, relativePath } from '../../mounts/mounts.ts';
import { printConfig, printTuning } from './mount-config.ts';

/** The method that every store has: nobody enabled it. */
const isToken = ({ type }: Mount): boolean => type === 'token';

/** A mount in the words of the API. There are no plugins, so their values never change. */
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
  ...when(!isToken(mount), { deprecation_status: 'supported' }),
  config: { ...printConfig(mount.config), ...tokenTypeOf(mount) },
});

export type MountsByPath = Readonly<Record<string, ReturnType<typeof printMount>>>;

/** Each path with its final slash; those of login methods without `auth/`. */
export const printMounts = (mounts: readonly Mount[]): MountsByPath => byPath(mounts, printMount);

/** What those without a token may see of mounts that are shown to everybody. */
export const printForStrangers = (mounts: readonly Mount[]) =>
  byPath(mounts, ({ description, options, type }) => ({ description, options, type }));

/** The settings of one mount, with the times that hold. */
export const printMountTuning = (mount: Mount) => ({
  ...printTuning(mount.config),
  ...tokenTypeOf(mount),
  description: mount.description,
  ...when(hasOptions(mount), { options: mount.options }),
});

const byPath = <T>(mounts: readonly Mount[], print: (mount: Mount) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(mounts.map((mount) => [`${relativePath(mount)}/`, print(mount)]));

const hasOptions = ({ options }: Mount): boolean => Object.keys(options).length > 0;

const tokenTypeOf = (mount: Mount) =>
  when(isLoginMount(mount), { token_type: mount.config?.token_type ?? 'default-service' });
