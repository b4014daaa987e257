import { nowSeconds, signingKey, signToken } from '../../servers/issuer.ts';
import { gitlabClaims } from '../../servers/issuer-claims.ts';
import { many, type Step } from './step.ts';

const config = 'auth/jwt/config';
const jwtRole = 'auth/jwt/role/main';
const JWT_ROLE = { role_type: 'jwt', user_claim: 'sub', bound_audiences: 'https://vault.example.com' };
export const jwt: readonly Step[] = [
  [`GET ${config}`],
  ['POST auth/jwt/login', { role: 'main', jwt: '{token}' }, { as: '' }],
  ...many(`POST ${config}`, [
    {},
    { jwt_validation_pubkeys: ['{pem}'], jwks_url: 'http://127.0.0.1:1' },
    { jwt_validation_pubkeys: ['x'] },
    { jwt_validation_pubkeys: ['{pem}'], jwt_supported_algs: ['HS256'] },
    { jwt_validation_pubkeys: ['{pem}'], oidc_response_mode: 'x' },
    { oidc_discovery_url: 'https://127.0.0.1:1/.well-known/openid-configuration' },
    { oidc_discovery_url: 'https://127.0.0.1:1' },
    { jwks_url: 'https://127.0.0.1:1' },
    { jwks_url: 'https://127.0.0.1:1', jwks_ca_pem: 'x' },
    { jwt_validation_pubkeys: ['{pem}'], bound_issuer: 'https://gitlab.example.com', default_role: 'Main' },
  ]),
  [`GET ${config}`],
  [`DELETE ${config}`],
  ['GET auth/jwt/role?list=true'],
  [`GET ${jwtRole}`],
  ...many(`POST ${jwtRole}`, [
    { role_type: 'x' },
    {},
    { role_type: 'jwt' },
    { role_type: 'jwt', user_claim: 'sub' },
    { ...JWT_ROLE, bound_claims_type: 're' },
    { ...JWT_ROLE, bound_claims: 'x' },
    { ...JWT_ROLE, bound_claims: { a: 1 }, bound_claims_type: 'glob' },
    { ...JWT_ROLE, bound_claims: { a: { b: 'c' } }, bound_claims_type: 'glob' },
    { ...JWT_ROLE, claim_mappings: { a: 'role' } },
    { ...JWT_ROLE, claim_mappings: { a: 'b', c: 'b' } },
    { ...JWT_ROLE, callback_mode: 'x' },
    { ...JWT_ROLE, token_ttl: '2h', token_max_ttl: '1h' },
    {
      ...JWT_ROLE,
      bound_claims: { project_path: ['my-group/*'], ref_protected: 'true' },
      bound_claims_type: 'glob',
      claim_mappings: { user_login: 'who' },
      token_policies: 'app',
      token_ttl: '5m',
    },
  ]),
  [`GET ${jwtRole}`],
  ['GET auth/jwt/role?list=true'],
  ...many(
    'POST auth/jwt/login',
    [
      { role: 'nosuch', jwt: '{token}' },
      { role: 'main' },
      ...[
        'x',
        'a.b.c',
        '{expired}',
        '{future}',
        '{other_key}',
        '{other_issuer}',
        '{other_audience}',
        '{no_audience}',
        '{no_times}',
        '{no_claim}',
        '{other_project}',
        '{no_subject}',
      ].map((token) => ({ role: 'main', jwt: token })),
      { jwt: '{token}' },
    ],
    { as: '' },
  ),
  ['POST auth/jwt/login', { role: 'MAIN', jwt: '{token}' }, { as: '', keep: { login: 'auth.client_token' } }],
  ['GET auth/token/lookup-self', undefined, { as: 'login' }],
  ['POST auth/token/renew-self', {}, { as: 'login' }],
  [`POST ${jwtRole}`, { ...JWT_ROLE, bound_subject: 'x' }],
  ['POST auth/jwt/login', { role: 'main', jwt: '{token}' }, { as: '' }],
  [`DELETE ${jwtRole}`],
  [`DELETE ${jwtRole}`],
  ['POST auth/token/renew-self', {}, { as: 'login' }],
  ['GET auth/jwt/login', undefined, { as: '' }],
];

/** A token as GitLab makes it, and what may be wrong with one. */
export async function jwtTokens(): Promise<Readonly<Record<string, string>>> {
  const key = signingKey();
  const now = nowSeconds();
  const usual = {
    ...gitlabClaims,
    iss: 'https://gitlab.example.com',
    iat: now,
    nbf: now,
    exp: now + 600,
  };
  const tokens = {
    token: usual,
    expired: { ...usual, exp: now - 600 },
    future: { ...usual, nbf: now + 600, exp: now + 1200 },
    other_issuer: { ...usual, iss: 'https://gitlab.example.org' },
    other_audience: { ...usual, aud: 'https://vault.example.org' },
    no_audience: { ...usual, aud: undefined },
    no_times: { ...usual, iat: undefined, nbf: undefined, exp: undefined },
    no_claim: { ...usual, project_path: undefined },
    other_project: { ...usual, project_path: 'other/project' },
    no_subject: { ...usual, sub: undefined },
  };
  const signed = Object.entries(tokens).map(
    async ([name, claims]) => [name, await signToken(key, claims)] as const,
  );
  return {
    ...Object.fromEntries(await Promise.all(signed)),
    other_key: await signToken(signingKey(), usual),
    pem: JSON.stringify(key.publicPem).slice(1, -1),
  };
}
