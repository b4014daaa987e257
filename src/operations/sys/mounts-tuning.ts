import { operation } from '../declaration/operation.ts';
import { mountPath, printMount } from './mount-info.ts';
import { existingMount } from './mounts-read.ts';

export const declaration = operation({
  api: 'vault',
  route: 'GET /sys/mounts/:path+/tune',
  capability: 'read',
  params: { path: mountPath },
  async run({ core }, values) {
    const { config, description, options } = printMount(await existingMount(core.mounts, values.path));
    return { data: { ...config, description, options } };
  },
});
