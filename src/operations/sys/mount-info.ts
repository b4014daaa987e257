import { version } from '../../ground/version.ts';
import type { Mount } from '../../mounts/mounts.ts';
import { text } from '../declaration/params.ts';

/** A mount in the words of the API. Leases, seal wrapping and plugins do not exist here, so their values never change. */
export const printMount = (mount: Mount) => ({
  type: 'transit',
  description: mount.description,
  accessor: mount.accessor,
  local: false,
  seal_wrap: false,
  external_entropy_access: false,
  options: { dialect: mount.dialect },
  uuid: mount.uuid,
  plugin_version: '',
  running_plugin_version: `v${version}+builtin.coffer`,
  running_sha256: '',
  deprecation_status: 'supported',
  config: { default_lease_ttl: 0, max_lease_ttl: 0, force_no_cache: false },
});

export type MountInfo = ReturnType<typeof printMount>;

/** Mounts by path, each with its final slash. */
export const printMounts = (mounts: readonly Mount[]): Readonly<Record<string, MountInfo>> =>
  Object.fromEntries(mounts.map((mount) => [`${mount.path}/`, printMount(mount)]));

/** Without slashes at the ends. */
export const mountPath = text({
  help: 'Where it is mounted, e.g. "teams/payments".',
  required: true,
  cli: { positional: true, metavar: 'PATH', refersTo: 'mount' },
});

export const noEngine = (path: string): string => `No secret engine mount at ${path.replace(/\/*$/, '')}/`;
