import { operation } from '../operation.ts';

/** Every process over a store answers for itself: there is no leader to ask for. */
export const declaration = operation({
  api: 'vault',
  route: 'GET /sys/leader',
  capability: 'read',
  unauthenticated: true,
  whileSealed: true,
  bare: true,
  params: {},
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
