import { operation } from '../declaration/operation.ts';
import { publicRead } from './seal-state.ts';

/** Every process over a store answers for itself: there is no leader to ask for. */
export const declaration = operation({
  ...publicRead,
  route: 'GET /sys/leader',
  async run() {
    return {
      data: {
        ha_enabled: false,
        is_self: false,
        leader_address: '',
        leader_cluster_address: '',
        performance_standby: false,
      },
    };
  },
});
