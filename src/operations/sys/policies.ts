import { checkedPolicy, policyName, requireOwnPolicy } from '../../access/policies.ts';
import { notFound } from '../../ground/errors.ts';
import { deletingNamed, eachNamed, FOR_GOOD } from '../declaration/deleting.ts';
import { lacking, lackingAtAll } from '../declaration/lacking.ts';
import { accessOperation } from '../declaration/mount-operations.ts';
import { atTopToo, done, warned } from '../declaration/operation.ts';
import { text } from '../declaration/params.ts';

/** In paths it takes the rest: a name with a slash, which peers accept, is refused as a name, not as an unknown path. */
const policyNameParam = {
  ...text({
    help: 'Name of the policy, in lower case.',
    required: true,
    cli: { positional: true, refersTo: 'policy' },
  }),
  understoodAs: policyName,
};

const NEVER_EXPIRES = 'policies do not expire; give the tokens a TTL instead';
const NO_VERSIONS = 'policies have no versions to compare';
/** How Go writes a time that was not set. */
const GO_ZERO_TIME = '0001-01-01T00:00:00Z';

const policyText = text({
  long: true,
  help: 'Policy in HCL or JSON, or base64 of it; see "coffer help policy-format".',
  default: '',
});

/** Settings of OpenBao that limit a policy or protect it from changes: without them it would grant for good. */
const limits = {
  ttl: lackingAtAll('Not supported.', NEVER_EXPIRES),
  expiration: lackingAtAll('Not supported.', NEVER_EXPIRES, [GO_ZERO_TIME]),
  cas: lackingAtAll('Not supported.', NO_VERSIONS),
  cas_required: lacking('Not supported.', NO_VERSIONS),
};

export const list = accessOperation({
  route: 'LIST /sys/policies/acl',
  withoutSecret: true,
  cli: { result: { member: 'keys', as: 'lines' } },
  async run({ access }) {
    return { data: { keys: await access.policies.list() } };
  },
});

export const read = accessOperation({
  route: 'GET /sys/policies/acl/:name+',
  withoutSecret: true,
  params: { name: policyNameParam },
  cli: { result: { member: 'policy', as: 'text' } },
  async run({ access }, values) {
    const policy = await access.policies.read(values.name);
    if (policy === undefined) {
      throw notFound(`no policy named: ${values.name}`, { field: 'name', hint: 'see "coffer policy list"' });
    }
    return { data: { name: policyName(values.name), policy } };
  },
});

export const write = accessOperation({
  route: 'POST /sys/policies/acl/:name+',
  params: {
    name: policyNameParam,
    policy: policyText,
    ...limits,
  },
  cli: {
    input: { param: 'policy', as: 'text', fromFile: true },
    requireValid: ({ name, policy }) => void checkedPolicy(String(name), String(policy ?? '')),
    done: (values) => `Saved policy ${String(values['name'])}.`,
    examples: {
      'coffer policy write orders orders.hcl': 'Create the policy "orders" from a file, or replace it',
    },
  },
  run: async ({ access }, values) => warned(await access.policies.write(values.name, values.policy)),
});

export const remove = accessOperation({
  route: ['DELETE /sys/policies/acl/:name+', 'DELETE /sys/policy/:name+'],
  params: { name: eachNamed(policyNameParam) },
  cli: {
    confirm: async (values) =>
      `Delete policy ${String(values['name'])}? Tokens lose the access it grants. ${FOR_GOOD}`,
    examples: { 'coffer policy delete clerk cashier': 'Delete two policies' },
    ...deletingNamed({
      async find({ name }, runner) {
        requireOwnPolicy(String(name));
        await runner.run('policy read', { name });
      },
      what: ({ name }) => `policy ${String(name)}`,
      done: 'Deleted',
    }),
  },
  run: done(({ access }, values) => access.policies.delete(values.name)),
});

// Paths, responses and parameters from before there were types of policies.

export const listLegacy = accessOperation({
  route: ['GET /sys/policy', 'LIST /sys/policy'],
  withoutSecret: true,
  async run({ access }) {
    const keys = await access.policies.list();
    return atTopToo({ keys, policies: keys });
  },
});

export const readLegacy = accessOperation({
  route: 'GET /sys/policy/:name+',
  withoutSecret: true,
  params: { name: policyNameParam },
  async run({ access }, values) {
    const rules = await access.policies.read(values.name);
    if (rules === undefined) throw notFound(`no policy named: ${values.name}`, { field: 'name' });
    return atTopToo({ name: policyName(values.name), rules });
  },
});

export const writeLegacy = accessOperation({
  route: 'POST /sys/policy/:name+',
  params: {
    name: policyNameParam,
    policy: policyText,
    rules: text({ long: true, help: 'Deprecated alias of `policy`.', default: '' }),
    ...limits,
  },
  async run({ access: { policies } }, values) {
    const old = values.policy === '';
    const warnings = await policies.write(values.name, old ? values.rules : values.policy);
    return warned([...warnings, ...(old ? ["'rules' is deprecated, please use 'policy' instead"] : [])]);
  },
});
