import { invalid } from '../../ground/errors.ts';
import { operation } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';
import { capabilityParams, printCapabilities } from './capability-answers.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /sys/capabilities',
  capability: 'update',
  computes: true,
  params: { ...capabilityParams, token: text({ help: 'The token that is asked about.', default: '' }) },
  async run({ core }, values) {
    if (values.token === '') throw invalid('no token found', { field: 'token' });
    const identity = await (await core.access()).identify({ token: values.token });
    if (identity === undefined) throw invalid('invalid token', { field: 'token' });
    return printCapabilities(values, (path) => identity.acl.capabilities(path));
  },
});
