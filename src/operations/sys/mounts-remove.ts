import { operation } from '../declaration/operation.ts';
import { mountPath } from './mount-info.ts';

export const declaration = operation({
  api: 'vault',
  route: 'DELETE /sys/mounts/:path+',
  capability: 'delete',
  params: { path: mountPath },
  cli: {
    confirm: async (values) => `Remove mount ${String(values['path'])}/ and every key in it for good?`,
    done: (values) => `Removed mount ${String(values['path'])}/.`,
  },
  async run({ core }, values) {
    await core.mounts.remove(values.path);
    return {};
  },
});
