import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { signingKey } from '../../../servers/signing-key.ts';
import { AUDIENCE, ISSUER, jwtWorld, keys, tokenOf } from './jwt-world.ts';

const here = jwtWorld();
const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' });

describe('a role', () => {
  const shown = {
    allowed_redirect_uris: null,
    bound_audiences: [AUDIENCE],
    bound_claims: { repository: 'acme/app' },
    bound_claims_type: 'glob',
    bound_subject: '',
    callback_mode: 'client',
    claim_mappings: { a: 'b' },
    clock_skew_leeway: 0,
    expiration_leeway: -1,
    groups_claim: '',
    max_age: 0,
    not_before_leeway: 0,
    oauth2_metadata: null,
    oidc_disable_confirmation: false,
    oidc_scopes: null,
    policies: ['A'],
    role_type: 'jwt',
    token_bound_cidrs: [],
    token_explicit_max_ttl: 0,
    token_max_ttl: 0,
    token_no_default_policy: false,
    token_num_uses: 0,
    token_period: 0,
    token_policies: ['A'],
    token_policies_template_claims: false,
    token_strictly_bind_ip: false,
    token_ttl: 600,
    token_type: 'default',
    ttl: 600,
    user_claim: 'sub',
    user_claim_json_pointer: false,
    verbose_oidc_logging: false,
  };

  it('is shown whole, listed by pages, changed in part, and deleted', async () => {
    const body = {
      bound_claims: { repository: 'acme/app' },
      bound_claims_type: 'glob',
      claim_mappings: 'a=b',
      expiration_leeway: -1,
      policies: 'A',
      ttl: '10m',
    };
    await here.world.role('Whole', body);
    const read = async () => (await here.world.root('GET', 'auth/jwt/role/whole')).json.data;
    expect(await read()).toEqual(shown);
    const page = await here.world.root('GET', 'auth/jwt/role?list=true&after=whol&limit=1');
    expect(page.json.data.keys).toEqual(['whole']);
    await here.world.root('POST', 'auth/jwt/role/whole', {
      role_type: 'jwt',
      bound_subject: 's',
      claim_mappings: null,
    });
    expect(await read()).toEqual({
      ...shown,
      bound_subject: 's',
      bound_claims_type: 'string',
      claim_mappings: {},
    });
    expect((await here.world.root('DELETE', 'auth/jwt/role/whole')).status).toBe(204);
    expect((await here.world.root('GET', 'auth/jwt/role/whole')).json).toEqual({ errors: [] });
  });

  it.each([
    ['a kind that there is not', { role_type: 'x' }, "invalid 'role_type': x"],
    [
      'no kind',
      { role_type: undefined },
      "'allowed_redirect_uris' must be set if 'role_type' is 'oidc' or unspecified.",
    ],
    [
      'times that are crossed',
      { token_ttl: 20, token_max_ttl: 10 },
      "'token_ttl' cannot be greater than 'token_max_ttl'",
    ],
    [
      'a period above the longest time of the mount',
      { token_period: '769h' },
      `'period' of '"769h0m0s"' is greater than the backend's maximum lease TTL of '"768h0m0s"'`,
    ],
    [
      'null for a pattern',
      { bound_claims: { a: null }, bound_claims_type: 'glob' },
      'claim is not a string or list: <nil>',
    ],
    ['an unknown comparison', { bound_claims_type: 're' }, "invalid 'bound_claims_type': re"],
    [
      'a number for a pattern',
      { bound_claims: { a: [1] }, bound_claims_type: 'glob' },
      'claim is not a string: 1',
    ],
    [
      'an object for a pattern',
      { bound_claims: { a: { b: 'c' } }, bound_claims_type: 'glob' },
      'claim is not a string or list: map[b:c]',
    ],
    [
      'a reserved name',
      { claim_mappings: { a: 'role' } },
      'metadata key "role" is reserved and may not be a mapping destination',
    ],
    [
      'one name for two claims',
      { claim_mappings: { a: 'b', c: 'b' } },
      'multiple keys are mapped to metadata key "b"',
    ],
    ['unknown metadata', { oauth2_metadata: 'X' }, 'Unrecognized oauth2 metadata name X'],
    ['no caller', { user_claim: '' }, 'a user claim must be defined on the role'],
    ['an unknown way back', { callback_mode: 'x' }, "invalid 'callback_mode': x"],
    [
      'nothing that is bound',
      { bound_audiences: '' },
      'must have at least one bound constraint when creating/updating a role',
    ],
  ])('is not made with %s', async (_, body, message) => {
    const { status, json } = await here.world.role('refused', body);
    expect([status, json.errors]).toEqual([400, [message]]);
    expect((await here.world.root('GET', 'auth/jwt/role/refused')).status).toBe(404);
  });

  it.each(['expiration_leeway', 'not_before_leeway', 'clock_skew_leeway'])(
    'takes -1 for no %s, as a number and as the text that a command line gives, and any duration',
    async (field) => {
      const kept = async (given: unknown) => {
        expect(await here.world.role('lenient', { [field]: given })).toMatchObject({ status: 204 });
        return (await here.world.root('GET', 'auth/jwt/role/lenient')).json.data[field];
      };
      for (const none of [-1, '-1', '-1s']) expect([none, await kept(none)]).toEqual([none, -1]);
      for (const usual of [0, '0', '', null]) expect([usual, await kept(usual)]).toEqual([usual, 0]);
      for (const time of [90, '90', '90s', '1m30s']) expect([time, await kept(time)]).toEqual([time, 90]);
      for (const negative of [-2, '-2', '-2s', '-1m']) {
        const { status, json } = await here.world.role('lenient', { [field]: negative });
        expect([negative, status, json.errors]).toEqual([
          negative,
          400,
          [expect.stringContaining(`cannot provide negative value '${negative}'`)],
        ]);
      }
    },
  );

  it('may have a period of the longest time of the mount', async () => {
    expect((await here.world.role('longest', { token_period: '768h' })).status).toBe(204);
    expect((await here.world.root('GET', 'auth/jwt/role/longest')).json.data.token_period).toBe(2_764_800);
  });

  it('takes claims as an object, or as JSON where only text can be given, and no other text', async () => {
    expect(
      (await here.world.role('texts', { bound_claims: '{"a":["b"]}', claim_mappings: '{"a":"b"}' })).status,
    ).toBe(204);
    expect((await here.world.root('GET', 'auth/jwt/role/texts')).json.data).toMatchObject({
      bound_claims: { a: ['b'] },
      claim_mappings: { a: 'b' },
    });
    const { status, json } = await here.world.role('texts', { bound_claims: 'a=b' });
    expect([status, json.errors[0]]).toEqual([
      400,
      expect.stringContaining('error converting input for field "bound_claims"'),
    ]);
  });

  it('for browsers is kept, because clients compare, and lets nobody in', async () => {
    const allowed_redirect_uris = 'http://localhost:8250/oidc/callback';
    expect((await here.world.role('browser', { role_type: undefined, allowed_redirect_uris })).status).toBe(
      204,
    );
    const { role_type } = (await here.world.root('GET', 'auth/jwt/role/browser')).json.data;
    expect(role_type).toBe('oidc');
    const refusal = await here.world.refusalOf('browser', await tokenOf());
    expect(refusal).toBe('role with oidc role_type is not allowed');
  });
});

describe('the configuration of a mount', () => {
  beforeAll(() => here.world.enable('jwt', 'config'));
  const ONE =
    "exactly one of 'jwt_validation_pubkeys', 'jwks_url', 'jwks_pairs', 'oidc_discovery_url', or 'provider_config' must be set";

  it('is shown without secrets, and replaced as a whole', async () => {
    await here.world.configure('config', {
      default_role: 'MAIN',
      oidc_client_id: 'id',
      oidc_client_secret: 'hidden-away',
    });
    const read = async () => (await here.world.root('GET', 'auth/config/config')).json.data;
    const shown = {
      bound_issuer: ISSUER,
      default_role: 'main',
      jwks_ca_pem: '',
      jwks_url: '',
      jwt_supported_algs: [],
      jwt_validation_pubkeys: Object.values(keys).map(({ publicPem }) => publicPem),
      namespace_in_state: true,
      oidc_client_id: 'id',
      oidc_discovery_ca_pem: '',
      oidc_discovery_url: '',
      oidc_response_mode: '',
      oidc_response_types: [],
      override_allowed_server_names: [],
      provider_config: {},
      status: 'valid',
    };
    expect(await read()).toEqual(shown);
    await here.world.root('POST', 'auth/config/config', { jwt_validation_pubkeys: [keys.RS256.publicPem] });
    expect(await read()).toEqual({
      ...shown,
      jwt_validation_pubkeys: [keys.RS256.publicPem],
      bound_issuer: '',
      default_role: '',
      oidc_client_id: '',
    });
    expect((await here.world.root('DELETE', 'auth/config/config')).status).toBe(405);
  });

  const weak = signingKey('RS256');
  it.each([
    ['no keys', { jwt_validation_pubkeys: [] }, ONE],
    ['two sources of keys', { jwks_url: 'https://127.0.0.1:1/keys' }, ONE],
    [
      'the document in place of the issuer',
      { jwt_validation_pubkeys: [], oidc_discovery_url: 'https://a.example/.well-known/x' },
      "'oidc_discovery_url' contains '.well-known' component",
    ],
    [
      'keys over plain http',
      { jwt_validation_pubkeys: [], jwks_url: 'http://issuer.example/keys' },
      "'jwks_url' must begin with https://; http:// is only allowed for localhost",
    ],
    [
      'keys of a file',
      { jwt_validation_pubkeys: [], jwks_url: 'file:///etc/passwd' },
      "'jwks_url' must begin with https://; http:// is only allowed for localhost",
    ],
    [
      'an issuer over plain http',
      { jwt_validation_pubkeys: [], oidc_discovery_url: 'http://issuer.example' },
      "'oidc_discovery_url' must begin with https://; http:// is only allowed for localhost",
    ],
    [
      'authorities that are none',
      { jwt_validation_pubkeys: [], jwks_url: 'https://127.0.0.1:1/', jwks_ca_pem: 'x' },
      'error checking jwks_ca_pem',
    ],
    [
      'a key that is none',
      { jwt_validation_pubkeys: ['x'] },
      'error parsing public key: data does not contain any valid public keys',
    ],
    [
      'a private key',
      { jwt_validation_pubkeys: [weak.privateKey.export({ type: 'pkcs8', format: 'pem' })] },
      'error parsing public key: data does not contain any valid public keys',
    ],
    [
      'a key of RSA that is too short',
      { jwt_validation_pubkeys: [pemOf(generateKeyPairSync('rsa', { modulusLength: 2040 }).publicKey)] },
      'error parsing public key: 2040 bits are too few for RSA',
    ],
    [
      'a key that signs nothing',
      { jwt_validation_pubkeys: [pemOf(generateKeyPairSync('x25519').publicKey)] },
      'error parsing public key: data does not contain any valid public keys',
    ],
    [
      'a key that signs by another curve',
      { jwt_validation_pubkeys: [pemOf(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey)] },
      'error parsing public key: data does not contain any valid public keys',
    ],
    [
      'more keys than a set may have',
      { jwt_validation_pubkeys: Array.from({ length: 101 }, () => pemOf(weak.publicKey)) },
      'jwt_validation_pubkeys must have at most 100 items, not 101',
    ],
    [
      'an algorithm with a shared key',
      { jwt_supported_algs: ['RS256', 'HS256'] },
      'invalid jwt_supported_algs: unsupported signing algorithm "HS256"',
    ],
    [
      'no algorithm',
      { jwt_supported_algs: 'none' },
      'invalid jwt_supported_algs: unsupported signing algorithm "none"',
    ],
    [
      'half of a client',
      { oidc_client_id: 'x' },
      "both 'oidc_client_id' and 'oidc_client_secret' must be set for OIDC",
    ],
    ['an unknown mode', { oidc_response_mode: 'x' }, 'invalid response_mode: "x"'],
    [
      'an unknown type',
      { oidc_response_types: ['x'] },
      "invalid response_types [x]. 'code' and 'id_token' are allowed",
    ],
    ['a provider', { provider_config: { provider: 'kubernetes' } }, 'provider_config is not supported'],
  ])('is refused with %s', async (_, body, message) => {
    const { status, json } = await here.world.configure('config', body);
    expect([status, json.errors]).toEqual([400, [message]]);
  });
});
