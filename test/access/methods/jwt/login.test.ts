import { expect, it, vi } from 'vitest';
import { writeConfig } from '../../../../src/access/methods/jwt/config.ts';
import type { JwtConfig, JwtPorts } from '../../../../src/access/methods/jwt/documents.ts';
import { login } from '../../../../src/access/methods/jwt/login.ts';
import { jwtMounts } from '../../../../src/access/methods/jwt/mount-type.ts';
import { writeRole } from '../../../../src/access/methods/jwt/roles.ts';
import { systemRandom } from '../../../../src/ground/random.ts';
import { Mounts } from '../../../../src/mounts/mounts.ts';
import { signingKey, signToken } from '../../../servers/signing-key.ts';
import { failureOf, openRoom } from '../../room.ts';

const [old, fresh] = [signingKey('ES256'), signingKey('ES256')];

const trusting = (pem: string): JwtConfig => ({
  oidc_discovery_url: '',
  oidc_discovery_ca_pem: '',
  jwks_url: '',
  jwks_ca_pem: '',
  jwt_validation_pubkeys: [pem],
  bound_issuer: '',
  jwt_supported_algs: [],
  default_role: '',
  override_allowed_server_names: [],
  namespace_in_state: true,
  oidc_client_id: '',
  oidc_response_mode: '',
  oidc_response_types: [],
});
const configure = (room: JwtPorts, pem: string) =>
  writeConfig(room, trusting(pem), { skipsValidation: false, clientSecret: '', provider: {} });

it('a key that is withdrawn while a login with it is under way lets nobody in', async () => {
  const { store, clock, access } = await openRoom();
  const mount = await new Mounts(store, systemRandom, jwtMounts).add('jwt', 'auth/jwt');
  const room = { store, clock, mount };
  await configure(room, old.publicPem);
  const settings = { user_claim: 'sub', bound_subject: 'me' };
  const kinds = { roleType: 'jwt', boundClaimsType: '', callbackMode: undefined };
  await writeRole(room, 'r', { ...kinds, settings, token: {} });
  const jwt = await signToken(old, { sub: 'me', iat: Math.floor(clock.now() / 1000) });
  const enter = () => login(room, access.tokens, { role: 'r', jwt, address: '127.0.0.1' });
  expect((await enter()).token.displayName).toBe('jwt-me');
  vi.spyOn(access.tokens, 'login').mockImplementationOnce(async (decide) => {
    await configure(room, fresh.publicPem);
    return access.tokens.login(decide);
  });
  const changed = 'the configuration was changed during the login';
  expect(await failureOf(enter)).toEqual(['unavailable', changed]);
  expect(await failureOf(enter)).toEqual(['invalid', expect.stringContaining('token signature')]);
});

it.each<[string, unknown, string]>([
  ['iss', ['a'], 'array'],
  ['iss', true, 'bool'],
  ['sub', 7, 'number'],
  ['sub', {}, 'object'],
])('a token whose claim %s is %j, and no text, lets nobody in', async (name, value, kind) => {
  const { store, clock, access } = await openRoom();
  const mount = await new Mounts(store, systemRandom, jwtMounts).add('jwt', 'auth/jwt');
  const room = { store, clock, mount };
  await configure(room, old.publicPem);
  const settings = { user_claim: 'user', bound_claims: { user: 'me' } };
  const kinds = { roleType: 'jwt', boundClaimsType: '', callbackMode: undefined };
  await writeRole(room, 'r', { ...kinds, settings, token: {} });
  const claims = { user: 'me', iat: Math.floor(clock.now() / 1000) };
  const enter = async (more: object) => {
    const jwt = await signToken(old, { ...claims, ...more });
    return login(room, access.tokens, { role: 'r', jwt, address: '127.0.0.1' });
  };
  expect((await enter({ [name]: 'a text' })).token.displayName).toBe('jwt-me');
  const [, message] = await failureOf(() => enter({ [name]: value }));
  expect(message).toContain(
    `json: cannot unmarshal ${kind} into Go struct field Claims.${name} of type string`,
  );
});

it('a role that is bound to other networks while a login is under way lets nobody in from elsewhere', async () => {
  const { store, clock, access } = await openRoom();
  const mount = await new Mounts(store, systemRandom, jwtMounts).add('jwt', 'auth/jwt');
  const room = { store, clock, mount };
  await configure(room, old.publicPem);
  const kinds = { roleType: 'jwt', boundClaimsType: '', callbackMode: undefined };
  const settings = { user_claim: 'sub', bound_subject: 'me' };
  const bind = (networks: readonly string[]) =>
    writeRole(room, 'r', { ...kinds, settings, token: { token_bound_cidrs: networks } });
  await bind([]);
  const jwt = await signToken(old, { sub: 'me', iat: Math.floor(clock.now() / 1000) });
  const enter = () => login(room, access.tokens, { role: 'r', jwt, address: '192.0.2.1' });
  expect((await enter()).token.displayName).toBe('jwt-me');
  vi.spyOn(access.tokens, 'login').mockImplementationOnce(async (decide) => {
    await bind(['10.0.0.0/8']);
    return access.tokens.login(decide);
  });
  for (let i = 0; i < 2; i++) expect(await failureOf(enter)).toEqual(['denied', 'permission denied']);
  await bind(['10.0.0.0/8', '192.0.2.1']);
  expect((await enter()).token.displayName).toBe('jwt-me');
});
