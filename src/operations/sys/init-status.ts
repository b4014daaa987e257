import { operation } from '../operation.ts';

/** A server starts only on a store that is there. */
export const declaration = operation({
  api: 'vault',
  route: 'GET /sys/init',
  capability: 'read',
  unauthenticated: true,
  whileSealed: true,
  bare: true,
  params: {},
  async run() {
    return { data: { initialized: true } };
  },
});
