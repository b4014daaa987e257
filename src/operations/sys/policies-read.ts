import { policyName } from '../../access/policies.ts';
import { notFound } from '../../ground/errors.ts';
import { operation } from '../declaration/operation.ts';
import { policyNameParam } from './policy-params.ts';

export const declaration = operation({
  api: 'vault',
  route: 'GET /sys/policies/acl/:name',
  capability: 'read',
  params: { name: policyNameParam },
  cli: { result: { member: 'policy', as: 'text' } },
  async run({ core }, values) {
    const policy = await (await core.access()).policies.read(values.name);
    if (policy === undefined) {
      throw notFound(`no policy named: ${values.name}`, { field: 'name', hint: 'see "coffer policy list"' });
    }
    return { data: { name: policyName(values.name), policy } };
  },
});
