/** Operations below a mount of `jwt`. */

import { configProblem, readConfig, writeConfig } from '../../access/methods/jwt/config.ts';
import { type JwtRole, rolesOf } from '../../access/methods/jwt/documents.ts';
import { login as logIn } from '../../access/methods/jwt/login.ts';
import { type JwtRoleChange, writeRole } from '../../access/methods/jwt/roles.ts';
import { notFound, ownWords } from '../../ground/errors.ts';
import { deletingByName, eachNamed } from '../declaration/deleting.ts';
import { done, warned } from '../declaration/operation.ts';
import { givenOf, text, type ValuesOf } from '../declaration/params.ts';
import { configParams, roleParams, settingsParams } from './jwt-params.ts';
import { found, listAnswer, listing, loginOperations, pageOf, roleName } from './named-objects.ts';
import { loginAnswer } from './token-answers.ts';
import { givenSettings, roleDetails, unknownPolicies } from './token-settings.ts';

const name = roleName('role', 'release');

const jwtOperation = loginOperations('jwt');

export const config = jwtOperation({
  route: 'GET config',
  withoutSecret: true,
  cli: { details: { labels: { namespace_in_state: '' } } },
  async run({ room }) {
    const found = await readConfig(room);
    if (found === undefined) throw notFound(ownWords('not configured'));
    const problem = await configProblem(room, found);
    return {
      data: { ...found, provider_config: {}, status: problem === undefined ? 'valid' : 'invalid' },
      ...warned(problem === undefined ? [] : [`failed to construct JWK validator: ${problem}`]),
    };
  },
});

export const configure = jwtOperation({
  route: 'POST config',
  params: configParams,
  cli: {
    done: () => 'Updated the JWT configuration.',
    examples: {
      'coffer auth jwt configure --oidc-discovery-url https://token.actions.githubusercontent.com --bound-issuer https://token.actions.githubusercontent.com':
        'Accept tokens of GitHub Actions',
      'coffer auth jwt configure --jwt-validation-pubkeys @cluster.pem --path kubernetes':
        'Accept tokens of a Kubernetes cluster, at auth/kubernetes',
    },
  },
  async run({ room }, values) {
    const { skip_jwks_validation, oidc_client_secret, provider_config, jwks_pairs: _none, ...kept } = values;
    const changed = { ...kept, default_role: kept.default_role.toLowerCase() };
    const extras = {
      skipsValidation: skip_jwks_validation,
      clientSecret: oidc_client_secret,
      provider: provider_config,
    };
    return warned(await writeConfig(room, changed, extras));
  },
});

export const list = jwtOperation({
  route: 'LIST role',
  ...listing('roles', 'coffer auth jwt write NAME'),
  run: async ({ room }, values) => listAnswer(await rolesOf(room).list(pageOf(values))),
});

const printRole = ({ settings, token }: JwtRole) => ({ groups_claim: '', ...settings, ...token });

export const read = jwtOperation({
  route: 'GET role/:name',
  withoutSecret: true,
  params: { name },
  cli: { details: roleDetails },
  run: async ({ room }, values) => ({
    data: printRole(found(await rolesOf(room).read(values.name), 'role', values.name)),
  }),
});

type JwtRoleValues = ValuesOf<typeof roleParams>;

function changeIn(values: JwtRoleValues): JwtRoleChange {
  const { role_type, bound_claims_type, callback_mode, ...rest } = values;
  return {
    settings: givenOf(settingsParams, rest),
    roleType: role_type,
    boundClaimsType: bound_claims_type,
    callbackMode: callback_mode,
    token: givenSettings(values),
  };
}

export const write = jwtOperation({
  route: 'POST role/:name',
  params: { name, ...roleParams },
  cli: {
    resolve: async (raw) => ({ role_type: 'jwt', ...raw }),
    doubts: unknownPolicies,
    done: (values) => `Saved role ${String(values['name'])}.`,
    examples: {
      'coffer auth jwt write release --user-claim sub --bound-audiences https://coffer.example --bound-claims repository_id=74 ref=refs/heads/main --token-policies release':
        'Accept jobs on the main branch of one repository',
    },
  },
  exists: async ({ room }, values) => (await rolesOf(room).read(values.name)) !== undefined,
  async run({ room }, { name: role, ...values }) {
    return warned(await writeRole(room, role, changeIn(values)));
  },
});

export const remove = jwtOperation({
  route: 'DELETE role/:name',
  params: { name: eachNamed(name) },
  cli: deletingByName('role', { read: 'auth jwt read' }),
  run: done(({ room }, values) => rolesOf(room).remove(values.name)),
});

export const login = jwtOperation({
  route: 'POST login',
  unauthenticated: true,
  roleOf: async ({ room }, { role }) => role.trim().toLowerCase() || (await readConfig(room))?.default_role,
  params: {
    role: text({ help: 'Role to log in with. Default: the default role of the mount.', default: '' }),
    jwt: text({ help: 'Signed token (JWT).', long: true, default: '' }),
  },
  async run({ core, room, remoteAddress = '' }, { role, jwt }) {
    const { tokens } = await core.access();
    const issued = await logIn(room, tokens, {
      role: role.trim().toLowerCase(),
      jwt: jwt.trim(),
      address: remoteAddress,
    });
    return loginAnswer(issued);
  },
});
