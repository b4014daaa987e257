import { operation } from '../declaration/operation.ts';

/** The path and the answer from before there were kinds of policies. */
export const declaration = operation({
  api: 'vault',
  route: ['GET /sys/policy', 'LIST /sys/policy'],
  capability: 'read',
  params: {},
  async run({ core }) {
    const keys = await (await core.access()).policies.list();
    const data = { keys, policies: keys };
    return { data, topLevel: data };
  },
});
