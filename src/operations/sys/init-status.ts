import { operation } from '../declaration/operation.ts';
import { publicRead } from './seal-state.ts';

/** A server starts only on a store that is there. */
export const declaration = operation({
  ...publicRead,
  route: 'GET /sys/init',
  async run() {
    return { data: { initialized: true } };
  },
});
