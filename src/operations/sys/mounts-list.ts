import { operation } from '../declaration/operation.ts';
import { type MountInfo, printMounts } from './mount-info.ts';

type MountsByPath = Readonly<Record<string, MountInfo>>;

export const declaration = operation({
  api: 'vault',
  route: 'GET /sys/mounts',
  capability: 'read',
  params: {},
  cli: {
    table: (mounts: MountsByPath) => ({
      head: ['Path', 'Dialect', 'Accessor', 'Description'],
      rows: Object.entries(mounts).map(([path, mount]) => [
        path,
        mount.options.dialect,
        mount.accessor,
        mount.description,
      ]),
    }),
    lines: (mounts: MountsByPath) => Object.keys(mounts),
  },
  async run({ core }) {
    const mounts = printMounts(await core.mounts.list());
    return { data: mounts, topLevel: mounts };
  },
});
