import { createHmac, createPublicKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompactSign } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { send, startServer, temporaryDirectory } from '../../../servers/serving.ts';
import { nowSeconds, signingKey } from '../../../servers/signing-key.ts';
import {
  AUDIENCE,
  claimsNow,
  ISSUER,
  jwtWorld,
  keys,
  SIGNATURE,
  T,
  tokenOf,
  UNKNOWN_KEY,
} from './jwt-world.ts';

const here = jwtWorld();
const stranger = signingKey('RS256', keys.RS256.kid);
/** A signature over whatever is to be the payload. */
const signedRaw = (payload: string): Promise<string> =>
  new CompactSign(Buffer.from(payload)).setProtectedHeader({ alg: 'RS256' }).sign(keys.RS256.privateKey);

describe('a token of an issuer', () => {
  it('lets in with what its role says, and names the caller', async () => {
    await here.world.role('main', {
      token_policies: ['App'],
      token_ttl: '20m',
      claim_mappings: { actor: 'who', '/n/x': 'nx' },
    });
    const jwt = await tokenOf({ actor: 'octocat', n: { x: 'y' } });
    const { status, json } = await here.world.anybody('PUT', 'auth/jwt/login', {
      token: 'cfr.stale',
      body: { role: 'MAIN', jwt },
    });
    expect(status).toBe(200);
    expect(json.data).toBeNull();
    const metadata = { role: 'main', who: 'octocat', nx: 'y' };
    expect(json.auth).toMatchObject({
      policies: ['app', 'default'],
      metadata,
      lease_duration: 1200,
      renewable: true,
      orphan: true,
    });
    const own = await here.world.anybody('GET', 'auth/token/lookup-self', { token: json.auth.client_token });
    expect(own.json.data).toMatchObject({ path: 'auth/jwt/login', display_name: 'jwt-me', meta: metadata });
  });

  it.each(Object.entries(keys))(
    'signed with %s lets in, and with a key of somebody else does not',
    async (alg, key) => {
      await here.world.role(`alg-${alg}`);
      expect((await here.world.login(`alg-${alg}`, await tokenOf({}, key))).status).toBe(200);
      const other = signingKey(key.alg, key.kid);
      expect(await here.world.refusalOf(`alg-${alg}`, await tokenOf({}, other))).toBe(UNKNOWN_KEY);
    },
  );

  it('lets in by the role that the mount says, where it names none', async () => {
    await here.world.enable('jwt', 'preset');
    await here.world.configure('preset', { default_role: 'Usual' });
    const jwt = await tokenOf();
    expect(await here.world.refusalOf('', jwt, 'preset')).toBe('role "usual" could not be found');
    const body = { role_type: 'jwt', user_claim: 'sub', bound_audiences: AUDIENCE };
    await here.world.root('POST', 'auth/preset/role/usual', body);
    expect((await here.world.login('', jwt, 'preset')).json.auth.metadata).toEqual({ role: 'usual' });
  });

  it('lets in from the networks of its role alone', async () => {
    await here.world.role('net', { token_bound_cidrs: ['10.0.0.0/8'] });
    const { status, json } = await here.world.login('net', await tokenOf());
    expect([status, json]).toEqual([403, { errors: ['permission denied'] }]);
    await here.world.role('net', { token_bound_cidrs: ['10.0.0.0/8', '127.0.0.0/8'] });
    expect((await here.world.login('net', await tokenOf())).status).toBe(200);
  });

  it('is renewed by what the role says then, and not once that is gone', async () => {
    await here.world.role('renewed');
    const { client_token } = (await here.world.login('renewed', await tokenOf())).json.auth;
    await here.world.role('renewed', { token_ttl: '7m' });
    const renew = () =>
      here.world.anybody('POST', 'auth/token/renew-self', { token: client_token, body: {} });
    expect((await renew()).json.auth.lease_duration).toBe(420);
    await here.world.root('DELETE', 'auth/jwt/role/renewed');
    expect((await renew()).json.errors).toEqual([
      'failed to renew entry: role "renewed" does not exist during renewal',
    ]);
  });
});

describe('a token that is refused', () => {
  beforeAll(async () => {
    await here.world.role('strict', { bound_subject: 'me', claim_mappings: { actor: 'who' } });
    await here.world.role('times', { user_claim: 'user' });
    await here.world.role('open', { bound_audiences: '', bound_subject: 'me' });
  });

  const now = nowSeconds();
  it.each([
    ['an issuer', { iss: 'https://other.example' }, `${T}invalid issuer (iss) claim`],
    ['no issuer', { iss: undefined }, `${T}invalid issuer (iss) claim`],
    [
      'an issuer that is no text',
      { iss: 1 },
      `${T}json: cannot unmarshal number into Go struct field Claims.iss of type string`,
    ],
    [
      'audiences that are no texts',
      { aud: [AUDIENCE, 1] },
      `${T}go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience`,
    ],
    ['a subject', { sub: 'you' }, `${T}invalid subject (sub) claim`],
    [
      'an audience',
      { aud: ['https://a.example'] },
      `${T}invalid audience (aud) claim: audience claim does not match any expected audience`,
    ],
    [
      'no audience',
      { aud: undefined },
      `${T}invalid audience (aud) claim: audience claim does not match any expected audience`,
    ],
    [
      'no time',
      { iat: undefined, nbf: undefined, exp: undefined },
      `${T}no issued at (iat), not before (nbf), or expiration time (exp) claims in token`,
    ],
    [
      'a time that is text',
      { exp: String(now) },
      `${T}go-jose/go-jose/jwt: expected number value to unmarshal NumericDate`,
    ],
    ['a beginning to come', { nbf: now + 200 }, `${T}invalid not before (nbf) claim: token not yet valid`],
    ['an end that is past', { exp: now - 61 }, `${T}invalid expiration time (exp) claim: token is expired`],
    [
      'an issue to come',
      { iat: now + 200, nbf: now },
      `${T}invalid issued at (iat) claim: token issued in the future`,
    ],
    ['a mapped claim that is no text', { actor: 1 }, "error converting claim 'actor' to string"],
  ])('for %s says so', async (_, claims, message) => {
    expect(await here.world.refusalOf('strict', await tokenOf(claims))).toBe(message);
  });

  it.each([
    ['none', {}, 'claim "user" not found in token'],
    ['null', { user: null }, 'claim "user" not found in token'],
    ['a number', { user: 1 }, 'claim "user" could not be converted to string'],
    ['an empty text', { user: '' }, 'missing name in alias'],
  ])('names no caller: %s', async (_, claims, message) => {
    expect(await here.world.refusalOf('times', await tokenOf(claims))).toBe(message);
  });

  it('has an audience that its role says nothing of', async () => {
    const message = 'audience claim found in JWT but no audiences bound to the role';
    expect(await here.world.refusalOf('open', await tokenOf())).toBe(message);
    expect((await here.world.login('open', await tokenOf({ aud: undefined }))).status).toBe(200);
  });

  it.each([
    ['nothing', 'strict', '', 'missing token'],
    ['no role', '', 'x', 'missing role'],
    ['a role that is not there', 'nosuch', 'x', 'role "nosuch" could not be found'],
    ['one part', 'strict', 'x', `${SIGNATURE}go-jose/go-jose: compact JWS format must have three parts`],
    [
      'five parts, as an encrypted one has',
      'strict',
      'a.b.c.d.e',
      `${SIGNATURE}go-jose/go-jose: compact JWS format must have three parts`,
    ],
    ['no base64', 'strict', '%.YQ.YQ', `${SIGNATURE}illegal base64 data at input byte 0`],
    [
      'no header',
      'strict',
      'YWE.YWE.YWE',
      `${SIGNATURE}invalid character 'a' looking for beginning of value`,
    ],
    [
      'one with a number for the name of its key',
      'strict',
      'eyJhbGciOiJSUzI1NiIsImtpZCI6MX0.YWE.YWE',
      `${SIGNATURE}failed to unmarshal key ID`,
    ],
  ])('is %s', async (_, name, jwt, message) => {
    expect(await here.world.refusalOf(name, jwt)).toBe(message);
  });

  it('has no signature, or one that its public key makes', async () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const none = `${encode({ alg: 'none', typ: 'JWT' })}.${encode(claimsNow())}.`;
    expect(await here.world.refusalOf('strict', none)).toBe(UNKNOWN_KEY);
    const der = createPublicKey(keys.RS256.publicPem).export({ type: 'spki', format: 'der' });
    for (const secret of [keys.RS256.publicPem, keys.RS256.publicPem.trim(), der]) {
      const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claimsNow())}`;
      const mac = createHmac('sha256', secret).update(signed).digest('base64url');
      expect(await here.world.refusalOf('strict', `${signed}.${mac}`)).toBe(UNKNOWN_KEY);
    }
  });

  it('is signed in a way that the mount does not allow, which is told only of a good signature', async () => {
    await here.world.enable('jwt', 'narrow');
    await here.world.configure('narrow', { jwt_supported_algs: ['ES256', 'EdDSA'] });
    const body = { role_type: 'jwt', user_claim: 'sub', bound_audiences: AUDIENCE };
    await here.world.root('POST', 'auth/narrow/role/r', body);
    expect((await here.world.login('r', await tokenOf({}, keys.ES256), 'narrow')).status).toBe(200);
    const unexpected = `${T}invalid algorithm (alg) header parameter: token signed with unexpected algorithm`;
    expect(await here.world.refusalOf('r', await tokenOf(), 'narrow')).toBe(unexpected);
    expect(await here.world.refusalOf('r', await tokenOf({}, stranger), 'narrow')).toBe(UNKNOWN_KEY);
  });

  it.each([
    [
      'claims that stand twice',
      `{"sub":"me","aud":"${AUDIENCE}","iss":"${ISSUER}","exp":${now + 300},"sub":"root"}`,
    ],
    [
      'the same claim in two spellings',
      `{"sub":"me","aud":"${AUDIENCE}","iss":"${ISSUER}","exp":${now + 300},"s\\u0075b":"root"}`,
    ],
    [
      'claims that stand twice within another',
      `{"sub":"me","aud":"${AUDIENCE}","iss":"${ISSUER}","exp":${now + 300},"a":{"b":1,"b":2}}`,
    ],
    ['a list for claims', '[]'],
    ['a token for claims', 'eyJhbGciOiJub25lIn0.e30.'],
    ['no JSON', '{'],
  ])('has %s', async (_, payload) => {
    expect(await here.world.refusalOf('strict', await signedRaw(payload))).toBe(UNKNOWN_KEY);
  });

  it('has critical headers that nobody here understands', async () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const header of [{ crit: ['x'], x: 1 }, { crit: [] }, { b64: false, crit: ['b64'] }]) {
      const signed = `${encode({ alg: 'RS256', ...header })}.${encode(claimsNow())}`;
      const signature = sign('sha256', Buffer.from(signed), keys.RS256.privateKey).toString('base64url');
      expect(await here.world.refusalOf('strict', `${signed}.${signature}`)).toBe(UNKNOWN_KEY);
    }
  });

  it('has 1 MiB of claims, of which no more is read than a stranger may send', async () => {
    const jwt = await tokenOf({ large: 'x'.repeat(2 ** 20) });
    const { status } = await here.world.login('strict', jwt);
    expect(status).toBe(413);
    expect((await here.world.login('strict', await tokenOf({ large: 'x'.repeat(30_000) }))).status).toBe(200);
  });

  it('comes before the mount was configured', async () => {
    await here.world.enable('jwt', 'bare');
    expect(await here.world.refusalOf('r', await tokenOf(), 'bare')).toBe('could not load configuration');
    expect((await here.world.root('GET', 'auth/bare/config')).json).toEqual({ errors: [] });
  });
});

describe('a login with a token', () => {
  it('stands in the audit trail, with neither token in clear, whether it succeeds or not', async () => {
    const auditFile = join(temporaryDirectory(), 'audit.log');
    const server = await startServer({ auditFile });
    const root = (path: string, body: object) =>
      send(server.address, 'POST', `/v1/${path}`, { token: server.token, body });
    await root('sys/auth/jwt', { type: 'jwt' });
    await root('auth/jwt/config', { jwt_validation_pubkeys: [keys.RS256.publicPem] });
    await root('auth/jwt/role/main', { role_type: 'jwt', user_claim: 'sub', bound_audiences: AUDIENCE });
    const jwts = [await tokenOf(), await tokenOf({}, stranger)];
    const statuses = [];
    let issued = '';
    for (const jwt of jwts) {
      const { status, json } = await send(server.address, 'POST', '/v1/auth/jwt/login', {
        body: { role: 'main', jwt },
      });
      statuses.push(status);
      issued ||= json.auth?.client_token ?? '';
    }
    expect(statuses).toEqual([200, 400]);
    const trail = readFileSync(auditFile, 'utf8');
    const records = trail
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ request }) => request.path === 'auth/jwt/login');
    expect(records.map(({ type, response }) => [type, response?.status])).toEqual([
      ['request', undefined],
      ['response', 200],
      ['request', undefined],
      ['response', 400],
    ]);
    expect(records[0].request.data.jwt).toMatch(/^hmac-sha256:/);
    for (const secret of [...jwts, issued]) expect(trail).not.toContain(secret);
  });

  it('that fails very often is answered 429', async () => {
    await here.world.enable('jwt', 'rate');
    const statuses = new Set<number>();
    for (let i = 0; i < 300; i++) statuses.add((await here.world.login('r', 'x', 'rate')).status);
    expect(statuses).toEqual(new Set([400, 429]));
  });
});
