import { operation } from '../operation.ts';
import { printSealStatus, publicRead, sealStatusOf } from './seal-state.ts';

export const declaration = operation({
  ...publicRead,
  route: 'GET /sys/seal-status',
  async run({ core }) {
    return { data: printSealStatus(await sealStatusOf(core)) };
  },
});
