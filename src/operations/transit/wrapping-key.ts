import { operation } from '../declaration/operation.ts';

export const declaration = operation({
  api: 'vault',
  mount: 'transit',
  route: 'GET wrapping_key',
  capability: 'read',
  params: {},
  cli: {
    result: { member: 'public_key', as: 'text' },
    examples: [
      ['coffer transit wrapping-key > wrapping.pem', 'what others wrap keys under that they bring here'],
    ],
  },
  async run({ core, mount }) {
    const transit = await core.transit(mount);
    return { data: { public_key: await transit.wrappingPublicKey() } };
  },
});
