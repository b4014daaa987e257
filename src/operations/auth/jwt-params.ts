/** Parameters of the roles and the configuration of a mount of `jwt`. */

import { attempt, invalid } from '../../ground/errors.ts';
import { isObject, type JsonObject } from '../../ground/objects.ts';
import { lacking } from '../declaration/lacking.ts';
import { declare, duration, flag, hidden, type Spec, text, texts } from '../declaration/params.ts';
import { parseDurationSeconds, parsePairs, parseText, wrongType } from '../declaration/weak-values.ts';
import { olderTokenParams, tokenSettingsParams } from './token-settings.ts';

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
  declare<number, S>(spec, { type: 'string', format: 'duration' }, (value, field) =>
    value === -1 || value === '-1' || value === '-1s' ? -1 : parseDurationSeconds(value, field),
  );

/** Stored for compatibility and returned, but hidden. */
const ofBrowsers = hidden('Stored for compatibility; browser logins are not supported.');

const PEM = { orFile: true, metavar: 'PEM|@FILE' } as const;

export const configParams = {
  oidc_discovery_url: text({ help: 'Issuer URL; its keys are found by OIDC discovery.', default: '' }),
  oidc_discovery_ca_pem: text({
    help: "CA certificates to trust when connecting to this URL, PEM. Default: the system's.",
    cli: PEM,
    long: true,
    default: '',
  }),
  jwks_url: text({ help: "URL of the issuer's JSON Web Key Set (JWKS).", default: '' }),
  jwks_ca_pem: text({
    help: "CA certificates to trust when connecting to this URL, PEM. Default: the system's.",
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
    help: "Server names to accept in the issuer's TLS certificate instead of its host name.",
    default: [],
  }),
  provider_config: object({ ...hidden('Not supported; must be empty.'), default: {} }),
  jwks_pairs: lacking('Not supported.', 'a mount accepts the tokens of one issuer, named by jwks_url'),
  namespace_in_state: flag({ ...ofBrowsers, default: true }),
  oidc_client_id: text({ ...ofBrowsers, default: '' }),
  oidc_client_secret: text({ ...hidden('Ignored; browser logins are not supported.'), default: '' }),
  oidc_response_mode: text({ ...ofBrowsers, default: '' }),
  oidc_response_types: texts({ ...ofBrowsers, default: [] }),
} as const;

/** The role type and the comparison of claims must be given with each write, or else the defaults apply. */
export const settingsParams = {
  role_type: text({ ...hidden('Must be "jwt" in every write.'), default: '' }),
  user_claim: text({ help: 'Claim whose value names the client, e.g. in the audit log.' }),
  user_claim_json_pointer: flag({
    cli: { negatable: 'Treat user_claim as the plain name of a claim.' },
    help: 'Treat user_claim as a JSON pointer, e.g. /a/b, instead of the name of a claim.',
  }),
  bound_audiences: texts({ help: 'Audiences, one of which the claim "aud" must contain.' }),
  bound_subject: text({ help: 'Value that the claim "sub" must have. Default: any.' }),
  bound_claims: object({
    help: 'Claims that a JWT must have: their NAME or JSON pointer, with the accepted value or values.',
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
    help: 'For JWTs without "exp": how long after "iat" or "nbf" they are valid (-1: no tolerance). Default: 150s.',
  }),
  not_before_leeway: leeway({
    help: 'For JWTs without "nbf" and "iat": how long before "exp" they become valid (-1: no tolerance). Default: 150s.',
  }),
  clock_skew_leeway: leeway({
    help: 'Tolerated difference between the clocks of issuer and server (-1: none). Default: 60s.',
  }),
  token_policies_template_claims: flag({
    cli: { negatable: 'Take names in token_policies literally.' },
    help: 'Replace claims in the names of token_policies by their values, e.g. in team-{{.department}}.',
  }),
  allowed_redirect_uris: texts(ofBrowsers),
  callback_mode: text(ofBrowsers),
  max_age: duration(ofBrowsers),
  oauth2_metadata: texts(ofBrowsers),
  oidc_disable_confirmation: flag(ofBrowsers),
  oidc_scopes: texts(ofBrowsers),
  verbose_oidc_logging: flag(ofBrowsers),
} as const;

export const roleParams = {
  ...settingsParams,
  ...tokenSettingsParams,
  ...olderTokenParams('policies', 'ttl', 'max_ttl', 'period', 'num_uses', 'bound_cidrs'),
} as const;
