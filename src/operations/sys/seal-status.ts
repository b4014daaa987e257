import { operation } from '../operation.ts';
import { printSealStatus, sealStatusOf } from './seal-state.ts';

export const declaration = operation({
  api: 'vault',
  route: 'GET /sys/seal-status',
  capability: 'read',
  unauthenticated: true,
  whileSealed: true,
  bare: true,
  params: {},
  async run({ core }) {
    return { data: printSealStatus(await sealStatusOf(core)) };
  },
});
