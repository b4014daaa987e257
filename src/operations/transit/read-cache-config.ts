import { readSettings } from '../../transit/mount-settings.ts';
import { operation } from '../declaration/operation.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'GET cache-config',
  capability: 'read',
  params: {},
  cli: { result: { member: 'size', as: 'text' } },
  async run({ core, mount }) {
    const engine = await core.engine(mount);
    return { data: { size: (await readSettings(engine)).cacheSize } };
  },
});
