/** Operations below a mount of `jwt`, and the parameters of its roles and configuration. */

import { configProblem, issuerWarnings, readConfig, writeConfig } from '../../access/methods/jwt/config.ts';
import { type JwtRole, rolesOf } from '../../access/methods/jwt/documents.ts';
import { login as logIn } from '../../access/methods/jwt/login.ts';
import { type JwtRoleChange, writeRole } from '../../access/methods/jwt/roles.ts';
import { attempt, invalid, notFound, ownWords } from '../../ground/errors.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import { withoutPrivateKey } from '../../ground/private-key-text.ts';
import { deletingByName, eachNamed } from '../declaration/deleting.ts';
import { declareDuration, duration } from '../declaration/duration.ts';
import { lacking } from '../declaration/lacking.ts';
import { done, warned } from '../declaration/operation.ts';
import {
  declare,
  flag,
  givenOf,
  hidden,
  type Spec,
  text,
  texts,
  type ValuesOf,
} from '../declaration/params.ts';
import { parseDurationSeconds, parsePairs, parseText, wrongType } from '../declaration/weak-values.ts';
import { found, listAnswer, listing, loginOperations, pageOf, roleName } from './named-objects.ts';
import { loginAnswer } from './token-answers.ts';
import {
  givenSettings,
  olderTokenParams,
  roleDetails,
  tokenSettingsParams,
  unknownPolicies,
} from './token-settings.ts';

/** Object with any members; JSON if given as text. */
const object = <const S extends Spec<JsonObject>>(spec: S) =>
  declare<JsonObject, S>(spec, { type: 'object', additionalProperties: true }, parseObject);

function parseObject(value: unknown, field: string): JsonObject {
  if (value === null || value === '') return {};
  const given = typeof value === 'string' ? fromJson(value) : value;
  if (isObject(given)) return plainNumbers(given);
  throw invalid(
    `error converting input for field "${field}": '' expected type 'map[string]interface {}', got unconvertible type '${kindOf(given)}'`,
    { field, hint: 'use a JSON object, e.g. \'{"repository":"acme/app"}\'' },
  );
}

/** Converts bigints to numbers: integers of any size arrive as bigints, but claims have JSON numbers. */
const plainNumbers = (given: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(given, (_, value) => (typeof value === 'bigint' ? Number(value) : value)));

/** Returns Go's name of a type. */
const kindOf = (value: unknown): string => (Array.isArray(value) ? 'slice' : typeof value);

const fromJson = (given: string): unknown => attempt((): unknown => JSON.parse(given), given);

/** Parses an object of texts, which may be given as JSON, or `a=b,c=d`. */
function parseTexts(value: unknown, field: string): Readonly<Record<string, string>> {
  const isPairs = typeof value === 'string' && value !== '' && !value.trimStart().startsWith('{');
  if (!isPairs) {
    const found = Object.entries(parseObject(value, field));
    return Object.fromEntries(found.map(([name, member]) => [name, parseText(member, field)]));
  }
  const found = parsePairs(value);
  if (found === undefined) throw wrongType(field, 'an object, or pairs such as a=b,c=d');
  return found;
}

const pairs = <const S extends Spec<Readonly<Record<string, string>>>>(spec: S) =>
  declare<Readonly<Record<string, string>>, S>(
    spec,
    { type: 'object', additionalProperties: { type: 'string' } },
    parseTexts,
  );

/** Seconds, where -1 means none. */
const leeway = <const S extends Spec<number>>(spec: S) =>
  declareDuration<number, S>(spec, (value, field) =>
    value === -1 || value === '-1' || value === '-1s' ? -1 : parseDurationSeconds(value, field),
  );

/** Stored for compatibility and returned, but hidden. */
const ofBrowsers = hidden('Stored for compatibility; browser logins are not supported.');

const PEM = {
  orFile: true,
  metavar: 'PEM|@FILE',
  check: withoutPrivateKey('the public keys or certificates'),
} as const;

const configParams = {
  oidc_discovery_url: text({
    help: 'URL of the issuer, whose keys are found by OIDC discovery.',
    default: '',
  }),
  oidc_discovery_ca_pem: text({
    help: "CA certificates to trust when connecting to oidc_discovery_url, PEM. Default: the system's.",
    cli: PEM,
    long: true,
    default: '',
  }),
  jwks_url: text({ help: "URL of the issuer's JSON Web Key Set (JWKS).", default: '' }),
  jwks_ca_pem: text({
    help: "CA certificates to trust when connecting to jwks_url, PEM. Default: the system's.",
    cli: PEM,
    long: true,
    default: '',
  }),
  jwt_validation_pubkeys: texts({
    help: 'Public keys or certificates of the issuer, PEM.',
    default: [],
    cli: PEM,
  }),
  bound_issuer: text({ help: 'Issuer that JWTs must name in the claim "iss" (empty: any).', default: '' }),
  jwt_supported_algs: texts({
    help: 'Allowed signature algorithms. Default: all supported ones.',
    default: [],
  }),
  default_role: text({ help: 'Role of logins that do not name one.', default: '' }),
  skip_jwks_validation: flag({
    help: 'Save the configuration even if the issuer cannot be reached.',
    default: false,
  }),
  override_allowed_server_names: texts({
    help: "Server names to accept in the issuer's TLS certificate, instead of the host name in the URL.",
    default: [],
  }),
  provider_config: object({ ...hidden('Not supported; must be empty.'), default: {} }),
  jwks_pairs: lacking('Not supported.', 'a mount accepts the tokens of only one issuer; use jwks_url'),
  namespace_in_state: flag({ ...ofBrowsers, default: true }),
  oidc_client_id: text({ ...ofBrowsers, default: '' }),
  oidc_client_secret: text({ ...hidden('Ignored; browser logins are not supported.'), default: '' }),
  oidc_response_mode: text({ ...ofBrowsers, default: '' }),
  oidc_response_types: texts({ ...ofBrowsers, default: [] }),
} as const;

/** The role type and the comparison of claims must be given with each write, or else the defaults apply. */
const settingsParams = {
  role_type: text({ ...hidden('Must be "jwt", each time the role is created or updated.'), default: '' }),
  user_claim: text({ help: 'Claim whose value names the client, e.g. in the audit log.' }),
  user_claim_json_pointer: flag({
    cli: { negatable: 'Treat user_claim as the plain name of a claim.' },
    help: 'Treat user_claim as a JSON pointer, e.g. /a/b, instead of the name of a claim.',
  }),
  bound_audiences: texts({ help: 'Audiences, one of which the claim "aud" must contain.' }),
  bound_subject: text({ help: 'Value that the claim "sub" must have. Default: any.' }),
  bound_claims: object({
    help: 'Claims that a JWT must have: their name or JSON pointer, with the accepted value or a list of accepted values.',
    cli: {
      help: 'Claims that a JWT must have, by NAME or JSON pointer. Repeat a NAME to accept several values.',
    },
  }),
  bound_claims_type: text({
    help: 'How to compare values of bound_claims: "string" (exactly), or "glob" (* is a wildcard). Default: string.',
    default: '',
  }),
  claim_mappings: pairs({ help: 'Claims to copy to the token metadata, as CLAIM=METADATA-NAME.' }),
  groups_claim: text(
    hidden('Claim that must contain group names; Coffer has no groups, so it grants nothing.'),
  ),
  expiration_leeway: leeway({
    help: 'For JWTs without "exp": how long after "iat" or "nbf" they are valid (-1: 0s). Default, also for 0: 150s.',
  }),
  not_before_leeway: leeway({
    help: 'For JWTs without "nbf" and "iat": how long before "exp" they become valid (-1: 0s). Default, also for 0: 150s.',
  }),
  clock_skew_leeway: leeway({
    help: 'Tolerated difference between the clocks of issuer and server (-1: none). Default, also for 0: 60s.',
  }),
  token_policies_template_claims: flag({
    cli: { negatable: 'Take names in token_policies literally.' },
    help: 'Replace {{.CLAIM}} in the names of token_policies by the value of that claim, e.g. in team-{{.department}}.',
  }),
  allowed_redirect_uris: texts(ofBrowsers),
  callback_mode: text(ofBrowsers),
  max_age: duration(ofBrowsers),
  oauth2_metadata: texts(ofBrowsers),
  oidc_disable_confirmation: flag(ofBrowsers),
  oidc_scopes: texts(ofBrowsers),
  verbose_oidc_logging: flag(ofBrowsers),
} as const;

const roleParams = {
  ...settingsParams,
  ...tokenSettingsParams,
  ...olderTokenParams('policies', 'ttl', 'max_ttl', 'period', 'num_uses', 'bound_cidrs'),
} as const;

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
      ...warned(
        problem === undefined
          ? await issuerWarnings(room, found)
          : [`failed to construct JWK validator: ${problem}`],
      ),
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
