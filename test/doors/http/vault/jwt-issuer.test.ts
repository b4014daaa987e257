import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Behaviour, type Issuer, startIssuer } from '../../../servers/issuer.ts';
import { githubClaims } from '../../../servers/issuer-claims.ts';
import { cleanUpAfterAll, send, spawnServer, startServer } from '../../../servers/serving.ts';
import { signingKey, signToken } from '../../../servers/signing-key.ts';
import { type LoginServer, loginServer, putClockForward } from './logins.ts';

let world: LoginServer;
let issuer: Issuer;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  issuer = await startIssuer({}, afterwards);
  world = await loginServer(afterwards);
});
beforeEach(async () => {
  await issuer.behave({
    discovery: 'ordinary',
    keys: 'ordinary',
    issuer: issuer.url,
    jwksUrl: issuer.jwksUrl,
  });
  await issuer.publish([issuer.key]);
  await issuer.forget();
});

const role = { role_type: 'jwt', user_claim: 'sub', bound_audiences: githubClaims['aud'] };
const byDiscovery = () => ({ oidc_discovery_url: issuer.url, oidc_discovery_ca_pem: issuer.ca });
const byKeySet = () => ({ jwks_url: issuer.jwksUrl, jwks_ca_pem: issuer.ca });
const login = (mount: string, jwt: string) =>
  world.anybody('POST', `auth/${mount}/login`, { body: { role: 'r', jwt } });

/** A mount with a role that trusts the issuer, as far as it is configured at once. */
async function mounted(
  path: string,
  config: object,
): Promise<{ status: number; errors?: string[]; warnings?: string[] }> {
  await world.enable('jwt', path);
  await world.root('POST', `auth/${path}/role/r`, role);
  const { status, json } = await world.root('POST', `auth/${path}/config`, config);
  return { status, ...json };
}

describe('keys of an issuer', () => {
  it.each([
    ['the discovery document', byDiscovery, ['/.well-known/openid-configuration', '/keys']],
    ['the address of the key set', byKeySet, ['/keys']],
    ['plain http on this machine', () => ({ jwks_url: issuer.plainJwksUrl }), ['/keys']],
  ])('are found by %s, once for many logins', async (name, config, asked) => {
    const path = name.replaceAll(' ', '-');
    expect((await mounted(path, config())).status).toBe(204);
    const jwt = await issuer.token(githubClaims);
    for (let i = 0; i < 5; i++) expect((await login(path, jwt)).status).toBe(200);
    expect(await issuer.asked()).toEqual(asked);
    expect((await world.root('GET', `auth/${path}/config`)).json.data.status).toBe('valid');
  });

  it('are not fetched without TLS because a document says so that came by TLS', async () => {
    await issuer.behave({ jwksUrl: issuer.plainJwksUrl });
    const answer = await mounted('downgraded', byDiscovery());
    expect([answer.status, answer.errors]).toEqual([400, ['error checking oidc discovery URL']]);
    expect(await issuer.asked()).toEqual(['/.well-known/openid-configuration']);
  });

  it('of another name than the host has are taken where that name is allowed', async () => {
    const { port } = new URL(issuer.jwksUrl);
    const config = { jwks_url: `https://127.0.0.2:${port}/keys`, jwks_ca_pem: issuer.ca };
    // Nobody listens there.
    expect((await mounted('elsewhere', config)).errors).toEqual(['error checking jwks URL']);
    const named = { ...byKeySet(), override_allowed_server_names: ['other.example'] };
    expect((await mounted('misnamed', named)).errors).toEqual(['error checking jwks URL']);
    const right = { ...byKeySet(), override_allowed_server_names: ['other.example', 'localhost'] };
    expect((await mounted('named', right)).status).toBe(204);
  });

  it('are not trusted without the authority of the certificate', async () => {
    const answer = await mounted('untrusted', { oidc_discovery_url: issuer.url });
    expect([answer.status, answer.errors]).toEqual([400, ['error checking oidc discovery URL']]);
    expect(await issuer.asked()).toEqual([]);
  });

  const DISCOVERY = 'error checking oidc discovery URL';
  const KEYS = 'error checking jwks URL';
  const LONG = 'the response is longer than 1048576 bytes';

  it.each<[string, 'discovery' | 'keys', Behaviour]>([
    ['hangs', 'keys', 'hangs'],
    ['answers without end, a byte now and then', 'discovery', { endless: 'slowly' }],
  ])('are not waited for longer than five seconds from an issuer that %s', async (name, where, behaviour) => {
    await issuer.behave({ [where]: behaviour });
    const [config, text] = where === 'keys' ? [byKeySet(), KEYS] : [byDiscovery(), DISCOVERY];
    const patience = new AbortController();
    const limited = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(patience.signal);
    onTestFinished(() => limited.mockRestore());
    const answer = mounted(name.replaceAll(/\W/g, '-'), { ...config, skip_jwks_validation: true });
    await vi.waitUntil(async () => (await issuer.asked()).length > 0, { timeout: 20_000, interval: 10 });
    expect(limited.mock.calls).toEqual([[5_000]]);
    patience.abort();
    const { status, warnings } = await answer;
    expect([status, warnings]).toEqual([200, [`${text}: timed out`]]);
  });

  const misbehaving: [string, 'discovery' | 'keys', Behaviour, string][] = [
    ['answers 10 GiB', 'keys', { endless: 'fast' }, LONG],
    ['answers 10 GiB at discovery', 'discovery', { endless: 'fast' }, LONG],
    ['hangs up', 'keys', 'hangs up', 'socket hang up'],
    ['has an error', 'keys', { status: 500, body: '{"keys":[]}' }, 'the server responded with status 500'],
    ['answers no JSON', 'keys', { status: 200, body: '<html>' }, 'the key set is not a JSON object'],
    ['answers no key set', 'keys', { status: 200, body: '{"keys":{}}' }, 'the key set has no list of keys'],
    ['answers an empty key set', 'keys', { status: 200, body: '{"keys":[]}' }, 'the key set is empty'],
    [
      'answers more keys than anybody has',
      'keys',
      { status: 200, body: JSON.stringify({ keys: Array(101).fill({ kty: 'RSA' }) }) },
      'the key set has more than 100 keys',
    ],
    [
      'names no key set',
      'discovery',
      { status: 200, body: '{}' },
      'the discovery document names another issuer',
    ],
    [
      'goes elsewhere',
      'discovery',
      { redirect: 'https://127.0.0.1:1/' },
      'the server responded with status 302',
    ],
  ];
  it.each(misbehaving)('are not taken from an issuer that %s', async (name, where, behaviour, reason) => {
    await issuer.behave({ [where]: behaviour });
    const [config, text] = where === 'keys' ? [byKeySet(), KEYS] : [byDiscovery(), DISCOVERY];
    const path = name.replaceAll(/\W/g, '-');
    const { status, warnings } = await mounted(path, { ...config, skip_jwks_validation: true });
    expect([status, warnings]).toEqual([200, [`${text}: ${reason}`]]);
  });

  it.each([
    ['elsewhere', 'discovery'],
    ['elsewhere for its keys', 'keys'],
  ] as const)('are not followed %s', async (_, where) => {
    const other = await startIssuer();
    const redirect = where === 'keys' ? other.jwksUrl : `${other.url}/.well-known/openid-configuration`;
    await issuer.behave({ [where]: { redirect } });
    expect((await mounted(`redirect-${where}`, byDiscovery())).errors).toEqual([DISCOVERY]);
    expect(await other.asked()).toEqual([]);
    const { json } = await login(`redirect-${where}`, await issuer.token(githubClaims));
    expect(json.errors).toEqual(['could not load configuration']);
  });

  it.each([
    ['another issuer', (): object => ({ issuer: 'https://other.example' })],
    ['the same one, spelled otherwise', (): object => ({ issuer: `${issuer.url}/` })],
    ['keys over plain http', (): object => ({ jwksUrl: 'http://issuer.example/keys' })],
    ['keys of a file', (): object => ({ jwksUrl: 'file:///etc/passwd' })],
  ])('are not taken where the discovery document names %s', async (name, change) => {
    await issuer.behave(change());
    expect((await mounted(name.replaceAll(/\W/g, '-'), byDiscovery())).errors).toEqual([DISCOVERY]);
  });
});

describe('an issuer', () => {
  it('that changes its keys has tokens of the new one let in', async () => {
    await mounted('rotated', byDiscovery());
    await issuer.forget();
    const next = signingKey('ES256');
    const jwt = await signToken(next, {
      ...githubClaims,
      iss: issuer.url,
      exp: Math.floor(Date.now() / 1000) + 60,
    });
    await issuer.publish([issuer.key, next]);
    expect((await login('rotated', jwt)).status).toBe(200);
    expect(await issuer.asked()).toHaveLength(2);
  });

  it('is not hammered by tokens with keys that nobody knows', async () => {
    await mounted('hammered', byKeySet());
    await issuer.forget();
    const tokens = await Promise.all(
      Array.from({ length: 40 }, () => signToken(signingKey('ES256'), { ...githubClaims, iss: issuer.url })),
    );
    const answers = await Promise.all(tokens.map((jwt) => login('hammered', jwt)));
    for (const { status, json } of answers) {
      expect([status, json.errors]).toEqual([
        400,
        ['error validating token: error verifying token signature: failed to verify id token signature'],
      ]);
    }
    expect(await issuer.asked()).toEqual(['/keys']);
    // Nor does that keep anybody out.
    expect((await login('hammered', await issuer.token(githubClaims))).status).toBe(200);
  });

  it('that is down goes on having its tokens let in, by servers that start after that, too', async () => {
    await mounted('down', byDiscovery());
    const jwt = await issuer.token(githubClaims);
    await issuer.down();
    try {
      expect((await login('down', jwt)).status).toBe(200);
      const stranger = await signToken(signingKey('RS256', 'new'), { ...githubClaims, iss: issuer.url });
      expect((await login('down', stranger)).status).toBe(400);
      expect((await login('down', jwt)).status).toBe(200);
      const later = await startServer({ location: world.server.directory });
      const body = { role: 'r', jwt };
      expect((await send(later.address, 'POST', '/v1/auth/down/login', { body })).status).toBe(200);
    } finally {
      await issuer.up();
    }
  });

  it.each([
    ['one part', 'x', 'go-jose/go-jose: compact JWS format must have three parts'],
    ['no base64', '%.YQ.YQ', 'illegal base64 data at input byte 0'],
    [
      'no signature',
      'eyJhbGciOiJub25lIn0.e30.',
      'unexpected signature algorithm "none"; expected ["RS256" "RS384" "RS512" "ES256" "ES384" "ES512" "PS256" "PS384" "PS512" "EdDSA"]',
    ],
  ])('is not asked about a token that is %s', async (name, jwt, reason) => {
    const path = name.replaceAll(' ', '-');
    await mounted(path, byKeySet());
    await issuer.forget();
    const { status, json } = await login(path, jwt);
    const message = `error validating token: error verifying token signature: oidc: malformed jwt: ${reason}`;
    expect([status, json.errors]).toEqual([400, [message]]);
    expect(await issuer.asked()).toEqual([]);
  });

  it('that was not there yet is asked at the first login', async () => {
    await issuer.behave({ keys: { status: 503, body: '' } });
    const { status, warnings } = await mounted('late', { ...byKeySet(), skip_jwks_validation: true });
    expect([status, warnings]).toEqual([
      200,
      ['error checking jwks URL: the server responded with status 503'],
    ]);
    await issuer.behave({ keys: 'ordinary' });
    expect((await login('late', await issuer.token(githubClaims))).status).toBe(200);
  });

  it('is written anew while it is down with the keys that it gave before, and with none of another one', async () => {
    const failed = 'error checking jwks URL: the server responded with status 503';
    const anew = (config: object) =>
      world.root('POST', 'auth/kept/config', { ...config, skip_jwks_validation: true });
    expect((await mounted('kept', byKeySet())).status).toBe(204);
    await issuer.behave({ keys: { status: 503, body: '' } });
    const refused = await world.root('POST', 'auth/kept/config', { ...byKeySet(), bound_issuer: 'other' });
    expect([refused.status, refused.json.errors]).toEqual([400, ['error checking jwks URL']]);
    const jwt = await issuer.token(githubClaims);
    expect((await login('kept', jwt)).status).toBe(200);
    const kept = await anew(byKeySet());
    expect([kept.status, kept.json.warnings]).toEqual([
      200,
      [failed, 'keys fetched earlier from this issuer stay in use until they are 12 hours old'],
    ]);
    expect((await login('kept', jwt)).status).toBe(200);
    const elsewhere = await anew({ jwks_url: `${issuer.jwksUrl}?other`, jwks_ca_pem: issuer.ca });
    expect(elsewhere.json.warnings).toHaveLength(1);
    expect((await login('kept', jwt)).status).toBe(400);
  });

  it('that can not be asked is told of to who may read the configuration, and to nobody else', async () => {
    await issuer.behave({ keys: { status: 503, body: '' } });
    await mounted('absent', { ...byKeySet(), skip_jwks_validation: true });
    const { json } = await login('absent', await issuer.token(githubClaims));
    expect(json.errors).toEqual([
      'error validating token: error verifying token signature: fetching keys oidc: get keys failed',
    ]);
    const shown = (await world.root('GET', 'auth/absent/config')).json;
    expect(shown.data.status).toBe('invalid');
    expect(shown.warnings).toEqual([
      'failed to construct JWK validator: the server responded with status 503',
    ]);
  });
});

describe('several workers', () => {
  it('know the keys of an issuer that only one of them has asked, also once it is down', async () => {
    const server = await spawnServer({ workers: 2 }, afterwards);
    const root = (path: string, body: object) =>
      send(server.address, 'POST', `/v1/${path}`, { token: server.token, body });
    await root('sys/auth/jwt', { type: 'jwt' });
    await root('auth/jwt/role/r', role);
    expect((await root('auth/jwt/config', byDiscovery())).status).toBe(204);
    await issuer.down();
    try {
      const jwt = await issuer.token(githubClaims);
      // Each on a connection of its own, which the workers take in turn.
      const answers = await Promise.all(
        Array.from({ length: 12 }, () =>
          send(server.address, 'POST', '/v1/auth/jwt/login', { body: { role: 'r', jwt } }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    } finally {
      await issuer.up();
    }
  });

  it('that is down is told of with the configuration, also while earlier keys verify tokens', async () => {
    const KEPT = 'keys fetched earlier from this issuer stay in use until they are 12 hours old';
    const shown = async (): Promise<unknown[]> => {
      const { data, warnings } = (await world.root('GET', 'auth/downed/config')).json;
      return [data.status, warnings ?? []];
    };
    await mounted('downed', byKeySet());
    await issuer.behave({ keys: { status: 503, body: '' } });
    const failure = `the issuer supplies no keys: the server responded with status 503; ${KEPT}`;
    expect(await shown()).toEqual(['valid', [failure]]);
    expect((await login('downed', await issuer.token(githubClaims))).status).toBe(200);
    await issuer.behave({ keys: 'ordinary' });
    putClockForward(10_000);
    expect(await shown()).toEqual(['valid', []]);
  });
});
