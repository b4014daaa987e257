import { operation } from '../declaration/operation.ts';

/** The first request of clients of this family; they look at the headers of the answer only. */
export const declaration = operation({
  api: 'json-api',
  route: 'GET /ping',
  capability: 'read',
  unauthenticated: true,
  whileSealed: true,
  params: {},
  run: async () => ({}),
});
