import { operation } from '../declaration/operation.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'GET config/keys',
  capability: 'read',
  params: {},
  async run({ core, mount }) {
    const transit = await core.transit(mount);
    return { data: { disable_upsert: (await transit.readSettings()).disableUpsert } };
  },
});
