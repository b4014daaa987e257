/** Parameters of the roles and the configuration of a mount of `jwt`. */

import { invalid } from '../../ground/errors.ts';
import { isObject } from '../../ground/objects.ts';
import { lacking } from '../declaration/lacking.ts';
import { declare, duration, flag, type Spec, text, texts } from '../declaration/params.ts';
import { parseDurationSeconds, parsePairs, parseText, wrongType } from '../declaration/weak-values.ts';
import { olderTokenParams, tokenSettingsParams } from './token-settings.ts';

type Members = Readonly<Record<string, unknown>>;

/** Object with any members; JSON if given as text. */
const object = <const S extends Spec<Members>>(spec: S) =>
  declare<Members, S>(spec, { type: 'object', additionalProperties: true }, parseObject);

function parseObject(value: unknown, field: string): Members {
  if (value === null || value === '') return {};
  const given = typeof value === 'string' ? fromJson(value) : value;
  if (isObject(given)) return plainNumbers(given);
  throw invalid(
    `error converting input for field "${field}": '' expected type 'map[string]interface {}', got unconvertible type '${kindOf(given)}'`,
    { field, hint: `give an object of JSON, as '{"repository":"acme/app"}'` },
  );
}

/** Converts bigints to numbers: integers of any size arrive as bigints, but claims have JSON numbers. */
const plainNumbers = (given: Members): Members =>
  JSON.parse(JSON.stringify(given, (_, value) => (typeof value === 'bigint' ? Number(value) : value)));

/** Returns Go's name of a type. */
const kindOf = (value: unknown): string => (Array.isArray(value) ? 'slice' : typeof value);

function fromJson(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

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
const ofBrowsers = {
  help: 'Kept for clients that compare: there are no logins by browser.',
  cli: { hidden: true },
} as const;

const PEM = { orFile: true, metavar: 'PEM' } as const;

export const configParams = {
  oidc_discovery_url: text({ help: 'The issuer, whose discovery document names its keys.', default: '' }),
  oidc_discovery_ca_pem: text({
    help: 'Certificates to trust there, as PEM; default: those of the machine.',
    cli: PEM,
    long: true,
    default: '',
  }),
  jwks_url: text({ help: 'Where the key set of the issuer is.', default: '' }),
  jwks_ca_pem: text({
    help: 'Certificates to trust there, as PEM; default: those of the machine.',
    cli: PEM,
    long: true,
    default: '',
  }),
  jwt_validation_pubkeys: texts({
    help: 'The keys themselves, or their certificates, as PEM.',
    default: [],
    cli: PEM,
  }),
  bound_issuer: text({ help: 'What tokens must say in "iss"; empty for anything.', default: '' }),
  jwt_supported_algs: texts({
    help: 'What they may be signed with; default: all that there are.',
    default: [],
  }),
  default_role: text({ help: 'The role of logins that name none.', default: '' }),
  skip_jwks_validation: flag({
    help: 'Take the configuration though the issuer does not answer.',
    default: false,
  }),
  override_allowed_server_names: texts({
    help: "Names that the certificate there may have in place of the host's.",
    default: [],
  }),
  provider_config: object({ help: 'Refused unless it is empty.', default: {}, cli: { hidden: true } }),
  jwks_pairs: lacking('Not here.', 'a mount takes the tokens of one issuer, named by jwks_url'),
  namespace_in_state: flag({ ...ofBrowsers, default: true }),
  oidc_client_id: text({ ...ofBrowsers, default: '' }),
  oidc_client_secret: text({
    help: 'Not kept: there are no logins by browser.',
    default: '',
    cli: { hidden: true },
  }),
  oidc_response_mode: text({ ...ofBrowsers, default: '' }),
  oidc_response_types: texts({ ...ofBrowsers, default: [] }),
} as const;

/** The role type and the comparison of claims must be given with each write, or else the defaults apply. */
export const settingsParams = {
  role_type: text({ help: 'To be given as "jwt" with every write.', default: '', cli: { hidden: true } }),
  user_claim: text({ help: 'The claim that names the caller.' }),
  user_claim_json_pointer: flag({
    cli: { negatable: true },
    help: 'Whether "user_claim" is a JSON pointer.',
  }),
  bound_audiences: texts({ help: 'Of these one must be in "aud".' }),
  bound_subject: text({ help: 'What must be in "sub".' }),
  bound_claims: object({
    help: 'Claims or JSON pointers, each with the value, or the values, that it must have.',
  }),
  bound_claims_type: text({
    help: 'How they are compared: "string", or "glob" with * for any run.',
    default: '',
  }),
  claim_mappings: pairs({ help: 'Claims or JSON pointers to keep with the token, and their names there.' }),
  groups_claim: text({
    help: 'A claim that must hold names of groups. There are no groups, so nobody gets anything by it.',
    cli: { hidden: true },
  }),
  expiration_leeway: leeway({ help: 'How long a token without "exp" is good; default 150 s, -1 for none.' }),
  not_before_leeway: leeway({
    help: 'How much earlier one without "nbf" and "iat" is; default 150 s, -1 for none.',
  }),
  clock_skew_leeway: leeway({ help: 'How far clocks may be apart; default 60 s, -1 for none.' }),
  token_policies_template_claims: flag({
    cli: { negatable: true },
    help: 'Whether policies have claims in them, as team-{{.department}}.',
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
