import { invalid } from '../../ground/errors.ts';
import { operation } from '../declaration/operation.ts';
import { capabilityParams, printCapabilities } from './capability-answers.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /sys/capabilities-self',
  capability: 'update',
  computes: true,
  params: capabilityParams,
  async run({ core, caller: { accessor } }, values) {
    if (accessor === undefined) return printCapabilities(values, () => ['root']);
    const identity = await (await core.access()).identify({ accessor });
    if (identity === undefined) throw invalid('invalid token');
    return printCapabilities(values, (path) => identity.acl.capabilities(path));
  },
});
