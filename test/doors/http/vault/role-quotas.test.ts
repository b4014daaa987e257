import { describe, expect, it } from 'vitest';
import type { Reply } from '../../../servers/serving.ts';
import { certificateWorld } from './certs.ts';
import { AUDIENCE, ISSUER, keys, tokenOf } from './jwt-world.ts';

const { ca, web, ask, root, asClient } = certificateWorld();

/** So long that no interval ends while a test runs. */
const limit = (path: string, role: string): Promise<Reply> =>
  root('POST', `sys/quotas/rate-limit/${role}`, { rate: 2, interval: '1h', path, role });

const statuses = async (requests: readonly (() => Promise<Reply>)[]): Promise<readonly number[]> => {
  const seen: number[] = [];
  for (const request of requests) seen.push((await request()).status);
  return seen;
};

describe('a rate limit for one role', () => {
  it('counts logins with certificates that name it in any case, or none', async () => {
    await root('POST', 'auth/cert/certs/strict', { certificate: ca.cert, allowed_dns_sans: 'web*' });
    await root('POST', 'auth/cert/certs/lax', { certificate: ca.cert });
    expect((await limit('auth/cert', 'strict')).status).toBe(204);
    const logIn = (name: string) => () => asClient(web, 'auth/cert/login', { name });
    const nobody = () => asClient(undefined, 'auth/cert/login', {});
    expect(
      await statuses([logIn(''), logIn('STRICT'), logIn(''), logIn('strict'), logIn('lax'), nobody, nobody]),
    ).toEqual([200, 200, 429, 429, 200, 400, 400]);
  });

  it('counts logins with signed tokens that name it in any case, or leave it to the mount', async () => {
    await root('POST', 'sys/auth/jwt', { type: 'jwt' });
    await root('POST', 'auth/jwt/config', {
      jwt_validation_pubkeys: [keys.RS256.publicPem],
      bound_issuer: ISSUER,
      default_role: 'Release',
    });
    const role = { role_type: 'jwt', user_claim: 'sub', bound_audiences: AUDIENCE };
    await root('POST', 'auth/jwt/role/release', role);
    await root('POST', 'auth/jwt/role/other', role);
    expect((await limit('auth/jwt', 'release')).status).toBe(204);
    const jwt = await tokenOf();
    const logIn = (name: string) => () => ask('POST', 'auth/jwt/login', { body: { role: name, jwt } });
    expect(
      await statuses([logIn(''), logIn('RELEASE'), logIn(''), logIn(' release '), logIn('other')]),
    ).toEqual([200, 200, 429, 429, 200]);
  });
});
