import { operation } from '../declaration/operation.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'GET cache-config',
  capability: 'read',
  params: {},
  cli: { result: { member: 'size', as: 'text' } },
  async run({ core, mount }) {
    const transit = await core.transit(mount);
    return { data: { size: (await transit.readSettings()).cacheSize } };
  },
});
