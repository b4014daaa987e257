import { wrappingPublicKey } from '../../transit/key-exchange/wrapping.ts';
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
    const engine = await core.engine(mount);
    return { data: { public_key: await wrappingPublicKey(engine) } };
  },
});
