import { operation } from '../declaration/operation.ts';
import { printSealStatus, publicRead, sealStatusOf } from './seal-state.ts';

export const declaration = operation({
  ...publicRead,
  route: 'GET /sys/seal-status',
  async run({ core }) {
    return { data: printSealStatus(await sealStatusOf(core)) };
  },
});
