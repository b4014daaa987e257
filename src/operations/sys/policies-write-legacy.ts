import { operation } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';
import { policyNameParam } from './policy-params.ts';

/** The path and the parameter from before there were kinds of policies. */
export const declaration = operation({
  api: 'vault',
  route: 'POST /sys/policy/:name',
  capability: 'update',
  params: {
    name: policyNameParam,
    policy: text({ help: 'Path rules in HCL or JSON, or the base64 of them.', default: '' }),
    rules: text({ help: 'Older name of `policy`.', default: '' }),
  },
  async run({ core }, values) {
    const { policies } = await core.access();
    const old = values.policy === '';
    const warnings = await policies.write(values.name, old ? values.rules : values.policy);
    const all = [...warnings, ...(old ? ["'rules' is deprecated, please use 'policy' instead"] : [])];
    return all.length === 0 ? {} : { warnings: all };
  },
});
