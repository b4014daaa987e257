/** Token roles, below `auth/token/roles`, and tidying of tokens. */

import type { TokenRole } from '../../access/token-roles.ts';
import { notFound } from '../../ground/errors.ts';
import { listAnswer } from '../auth/lists.ts';
import { lacking } from '../declaration/lacking.ts';
import { operation } from '../declaration/operation.ts';
import { duration, flag, integer, type Params, text, textMap, texts } from '../declaration/params.ts';
import { roleName } from './token-role-name.ts';

const settings = {
  allowed_policies: texts({
    help: 'Policies that its tokens may have.',
    cli: { metavar: 'P', refersTo: 'policy' },
  }),
  allowed_policies_glob: texts({ help: 'The same, with `*` for any text.' }),
  disallowed_policies: texts({
    help: 'Policies that none of its tokens has.',
    cli: { metavar: 'P', refersTo: 'policy' },
  }),
  disallowed_policies_glob: texts({ help: 'The same, with `*` for any text.' }),
  allowed_entity_aliases: texts({
    help: 'Kept for the sake of clients: there are no entities.',
    cli: { hidden: true },
  }),
  orphan: flag({
    help: 'Its tokens live on when the token that created them ends.',
    cli: { negatable: true },
  }),
  renewable: flag({ help: 'Whether its tokens can be renewed.', cli: { negatable: true } }),
  path_suffix: text({ help: 'Put behind the path of its tokens.' }),
  token_period: duration({
    help: 'Each renewal lets its tokens live so long again, without end.',
    cli: { metavar: 'D' },
  }),
  token_explicit_max_ttl: duration({
    help: 'The age that no renewal takes its tokens past.',
    cli: { metavar: 'D' },
  }),
  token_bound_cidrs: texts({
    help: 'Addresses and networks that its tokens are good for.',
    cli: { metavar: 'CIDR' },
  }),
  token_no_default_policy: flag({ help: 'Do not add the policy `default`.', cli: { negatable: true } }),
  token_num_uses: integer({ help: 'How many requests its tokens are good for; 0 for any number.' }),
  token_type: text({
    help: 'The kind of its tokens: `service`, `batch`, `default-service` or `default-batch`.',
  }),
  alias_metadata: textMap({
    help: 'Kept for the sake of clients: there are no entities.',
    cli: { hidden: true },
  }),
  period: duration({ help: 'Older name of `token_period`.', cli: { hidden: true } }),
  explicit_max_ttl: duration({ help: 'Older name of `token_explicit_max_ttl`.', cli: { hidden: true } }),
  bound_cidrs: texts({ help: 'Older name of `token_bound_cidrs`.', cli: { hidden: true } }),
} satisfies Params & { readonly [K in keyof TokenRole]: unknown };

/** Settings of login methods, which Vault accepts and ignores here. */
const ofLogins = {
  token_ttl: lacking(
    'Not here.',
    'whoever creates a token says how long it lives, up to token_explicit_max_ttl',
  ),
  token_max_ttl: lacking('Not here.', 'token_explicit_max_ttl says how long tokens of a role live at most'),
  token_policies: lacking('Not here.', 'allowed_policies says which policies tokens of a role get'),
  token_strictly_bind_ip: lacking('Not here.', 'token_bound_cidrs says from where tokens of a role are good'),
} as const satisfies Params;

export const list = operation({
  route: 'LIST /auth/token/roles',
  capability: 'list',
  withoutSecret: true,
  params: {},
  cli: { result: { member: 'keys', as: 'lines' } },
  async run({ core }) {
    return listAnswer(await (await core.access()).roles.list());
  },
});

export const read = operation({
  route: 'GET /auth/token/roles/:name',
  capability: 'read',
  withoutSecret: true,
  params: { name: roleName },
  async run({ core }, { name }) {
    const role = await (await core.access()).roles.read(name);
    if (role === undefined) throw notFound(`there is no token role "${name}"`, { field: 'name' });
    const {
      allowed_entity_aliases: aliases,
      token_bound_cidrs: networks,
      bound_cidrs: older,
      token_num_uses: uses,
      ...rest
    } = role;
    return {
      data: {
        ...rest,
        name,
        allowed_entity_aliases: aliases.length === 0 ? null : aliases,
        token_bound_cidrs: networks.length > 0 ? networks : undefined,
        bound_cidrs: older.length > 0 ? older : undefined,
        token_num_uses: uses === 0 ? undefined : uses,
      },
    };
  },
});

export const write = operation({
  route: 'POST /auth/token/roles/:name',
  capability: 'update',
  params: { name: roleName, ...settings, ...ofLogins },
  cli: {
    done: (values) => `Wrote the token role ${String(values['name'])}.`,
    examples: [
      [
        'coffer token roles write release --allowed-policies sign-releases --token-explicit-max-ttl 15m',
        'what a pipeline may make for its jobs',
      ],
    ],
  },
  exists: async ({ core }, { name }) => (await (await core.access()).roles.read(name)) !== undefined,
  async run({ core }, values) {
    const { name, token_ttl, token_max_ttl, token_policies, token_strictly_bind_ip, ...change } = values;
    await (await core.access()).roles.write(name, change);
    return {};
  },
});

export const remove = operation({
  route: 'DELETE /auth/token/roles/:name',
  capability: 'delete',
  params: { name: roleName },
  cli: {
    confirm: async (values) => `Delete the token role ${String(values['name'])}?`,
    done: (values) => `Deleted the token role ${String(values['name'])}.`,
  },
  async run({ core }, { name }) {
    await (await core.access()).roles.delete(name);
    return {};
  },
});

/** Text of Vault, which responds before the work is done; here it is already done. */
export const TIDY_STARTED =
  "Tidy operation successfully started. Any information from the operation will be printed to OpenBao's server logs.";

/** Maintenance task that servers also run periodically. */
export const tidy = operation({
  route: 'POST /auth/token/tidy',
  capability: 'update',
  withoutSecret: true,
  params: {},
  async run({ core }) {
    await (await core.access()).tokens.tidy();
    return {
      statusCode: 202,
      warnings: [TIDY_STARTED],
    };
  },
});
