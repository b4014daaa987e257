import { operation } from '../declaration/operation.ts';

export const declaration = operation({
  api: 'vault',
  route: 'LIST /sys/policies/acl',
  capability: 'list',
  params: {},
  cli: { result: { member: 'keys', as: 'lines' } },
  async run({ core }) {
    return { data: { keys: await (await core.access()).policies.list() } };
  },
});
