import { operation } from '../declaration/operation.ts';
import { policyNameParam } from './policy-params.ts';

export const declaration = operation({
  api: 'vault',
  route: ['DELETE /sys/policies/acl/:name', 'DELETE /sys/policy/:name'],
  capability: 'delete',
  params: { name: policyNameParam },
  cli: {
    confirm: async (values) => `Delete policy ${String(values['name'])}? Tokens lose what it grants.`,
    done: (values) => `Deleted policy ${String(values['name'])}.`,
  },
  async run({ core }, values) {
    await (await core.access()).policies.delete(values.name);
    return {};
  },
});
