import { invalid } from '../../ground/errors.ts';
import { operation } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';
import { capabilityParams, printCapabilities } from './capability-answers.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /sys/capabilities-accessor',
  capability: 'update',
  computes: true,
  params: { ...capabilityParams, accessor: text({ help: 'The accessor of the token.', default: '' }) },
  async run({ core }, values) {
    if (values.accessor === '') throw invalid('missing accessor', { field: 'accessor' });
    const identity = await (await core.access()).identify({ accessor: values.accessor });
    if (identity === undefined) throw invalid('invalid accessor', { field: 'accessor' });
    return printCapabilities(values, (path) => identity.acl.capabilities(path));
  },
});
