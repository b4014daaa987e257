import { readSettings } from '../../transit/mount-settings.ts';
import { operation } from '../declaration/operation.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'GET config/keys',
  capability: 'read',
  params: {},
  async run({ core, mount }) {
    const engine = await core.engine(mount);
    return { data: { disable_upsert: (await readSettings(engine)).disableUpsert } };
  },
});
