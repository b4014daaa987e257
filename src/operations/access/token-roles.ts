/** Token roles, below `auth/token/roles`, and tidying of tokens. */

import type { TokenRole } from '../../access/token-roles.ts';
import { notFound } from '../../ground/errors.ts';
import { listAnswer, listCli, tidying, tokenRoleName } from '../auth/named-objects.ts';
import { deletingByName, eachNamed } from '../declaration/deleting.ts';
import { duration } from '../declaration/duration.ts';
import { lacking } from '../declaration/lacking.ts';
import { accessOperation } from '../declaration/mount-operations.ts';
import { done } from '../declaration/operation.ts';
import { flag, hidden, integer, type Params, text, textMap, texts } from '../declaration/params.ts';
import type { Details } from '../declaration/table.ts';

const settings = {
  allowed_policies: texts({
    help: 'Policies that tokens of this role may have; all others are refused.',
    cli: { metavar: 'P', refersTo: 'policy' },
  }),
  allowed_policies_glob: texts({ help: 'Like allowed_policies, with * as a wildcard.' }),
  disallowed_policies: texts({
    help: 'Policies that tokens of this role must not have.',
    cli: { metavar: 'P', refersTo: 'policy' },
  }),
  disallowed_policies_glob: texts({ help: 'Like disallowed_policies, with * as a wildcard.' }),
  allowed_entity_aliases: texts(hidden('Stored for compatibility; has no effect.')),
  orphan: flag({
    help: 'Create tokens of this role without a parent, so that they are not revoked together with the token that creates them.',
    cli: {
      negatable:
        'Create tokens of this role with a parent: they are revoked together with the token that creates them.',
    },
  }),
  renewable: flag({
    help: 'Allow renewing tokens of this role.',
    cli: { negatable: 'Forbid renewing tokens of this role.' },
  }),
  path_suffix: text({
    help: 'Text to append to the path at which tokens of this role are issued; "coffer token revoke-prefix" takes that path.',
  }),
  token_period: duration({
    help: 'Make tokens of this role periodic: they can be renewed any number of times, each time for this long.',
  }),
  token_explicit_max_ttl: duration({
    help: 'Hard limit on the lifetime of tokens of this role, renewals included.',
  }),
  token_bound_cidrs: texts({
    help: 'Addresses or CIDR blocks from which tokens of this role can be used. Default: any.',
    cli: { metavar: 'CIDR' },
  }),
  token_no_default_policy: flag({
    help: 'Do not give tokens of this role the policy "default".',
    cli: { negatable: 'Give tokens of this role the policy "default", as usual.' },
  }),
  token_num_uses: integer({
    help: 'Number of requests that each token of this role can make (0: unlimited).',
  }),
  token_type: text({
    help: 'Type of tokens of this role: service or batch; or default-service or default-batch, which a request can override. batch requires --orphan and --no-renewable.',
  }),
  alias_metadata: textMap(hidden('Stored for compatibility; has no effect.')),
  period: duration(hidden('Deprecated alias of `token_period`.')),
  explicit_max_ttl: duration(hidden('Deprecated alias of `token_explicit_max_ttl`.')),
  bound_cidrs: texts(hidden('Deprecated alias of `token_bound_cidrs`.')),
} satisfies Params & { readonly [K in keyof TokenRole]: unknown };

/** Settings of login methods, which Vault accepts and ignores here. */
const ofLogins = {
  token_ttl: lacking(
    'Not supported.',
    'the lifetime is set when a token is created, up to token_explicit_max_ttl',
  ),
  token_max_ttl: lacking(
    'Not supported.',
    "use token_explicit_max_ttl for the maximum lifetime of a role's tokens",
  ),
  token_policies: lacking('Not supported.', "use allowed_policies for the policies of a role's tokens"),
  token_strictly_bind_ip: lacking(
    'Not supported.',
    "use token_bound_cidrs for the addresses a role's tokens can be used from",
  ),
} as const satisfies Params;

export const list = accessOperation({
  route: 'LIST /auth/token/roles',
  withoutSecret: true,
  cli: listCli('token roles', 'coffer token roles write NAME'),
  run: async ({ access }) => listAnswer(await access.roles.list()),
});

const details: Details = {
  unset: {
    orphan: false,
    token_no_default_policy: false,
    token_strictly_bind_ip: false,
    token_type: 'default-service',
  },
};

export const read = accessOperation({
  route: 'GET /auth/token/roles/:name',
  withoutSecret: true,
  params: { name: tokenRoleName },
  cli: { details },
  async run({ access }, { name }) {
    const role = await access.roles.read(name);
    if (role === undefined) throw notFound(`no token role "${name}"`, { field: 'name' });
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

export const write = accessOperation({
  route: 'POST /auth/token/roles/:name',
  params: { name: tokenRoleName, ...settings, ...ofLogins },
  cli: {
    done: (values) => `Saved token role ${String(values['name'])}.`,
    examples: {
      'coffer token roles write release --allowed-policies sign-releases --token-explicit-max-ttl 15m':
        'Let a pipeline create tokens for its jobs: with one policy, for at most 15 minutes',
    },
  },
  exists: async ({ access }, { name }) => (await access.roles.read(name)) !== undefined,
  run: done(async ({ access }, values) => {
    const { name, token_ttl, token_max_ttl, token_policies, token_strictly_bind_ip, ...change } = values;
    await access.roles.write(name, change);
  }),
});

export const remove = accessOperation({
  route: 'DELETE /auth/token/roles/:name',
  params: { name: eachNamed(tokenRoleName) },
  cli: deletingByName('token role', { read: 'token roles read' }),
  run: done(({ access }, { name }) => access.roles.delete(name)),
});

export const tidy = tidying('POST /auth/token/tidy');
