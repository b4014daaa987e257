import { operation } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';
import { policyNameParam } from './policy-params.ts';

export const declaration = operation({
  api: 'vault',
  route: 'POST /sys/policies/acl/:name',
  capability: 'update',
  params: {
    name: policyNameParam,
    policy: text({ help: 'Path rules in HCL or JSON, or the base64 of them.', default: '' }),
  },
  cli: {
    input: { param: 'policy', as: 'text', fromFile: true },
    done: (values) => `Wrote policy ${String(values['name'])}.`,
    examples: [['coffer policy write orders orders.hcl', 'make or replace a policy']],
  },
  async run({ core }, values) {
    const warnings = await (await core.access()).policies.write(values.name, values.policy);
    return warnings.length === 0 ? {} : { warnings };
  },
});
