import { policyName } from '../../access/policies.ts';
import { notFound } from '../../ground/errors.ts';
import { operation } from '../declaration/operation.ts';
import { policyNameParam } from './policy-params.ts';

/** The path and the answer from before there were kinds of policies. */
export const declaration = operation({
  api: 'vault',
  route: 'GET /sys/policy/:name',
  capability: 'read',
  params: { name: policyNameParam },
  async run({ core }, values) {
    const rules = await (await core.access()).policies.read(values.name);
    if (rules === undefined) throw notFound(`no policy named: ${values.name}`, { field: 'name' });
    const data = { name: policyName(values.name), rules };
    return { data, topLevel: data };
  },
});
