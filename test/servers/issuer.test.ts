import { spawnSync } from 'node:child_process';
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { startIssuer } from './issuer.ts';
import { githubClaims } from './issuer-claims.ts';
import { send } from './serving.ts';
import { signingKey } from './signing-key.ts';

describe('the issuer that other tests rely on', () => {
  it('answers over TLS while the thread of the tests waits for a command', async () => {
    const issuer = await startIssuer({ issuerPath: '/id/ABC' });
    const url = `${issuer.url}/.well-known/openid-configuration`;
    const ask = `fetch(${JSON.stringify(url)}).then(async (r) => console.log(await r.text()))`;
    const { stdout } = spawnSync(process.execPath, ['-e', ask], {
      env: { NODE_EXTRA_CA_CERTS: issuer.caFile },
    });
    expect(JSON.parse(stdout.toString())).toMatchObject({ issuer: issuer.url, jwks_uri: issuer.jwksUrl });
    expect(await issuer.asked()).toEqual(['/id/ABC/.well-known/openid-configuration']);
  });

  it('signs what another implementation verifies by the key set that it publishes', async () => {
    const issuer = await startIssuer();
    const keys = createRemoteJWKSet(new URL(issuer.plainJwksUrl), {
      cooldownDuration: 0,
      [customFetch]: fetch,
    });
    const token = await issuer.token(githubClaims);
    const { payload } = await jwtVerify(token, keys, {
      issuer: issuer.url,
      audience: 'https://github.com/acme',
    });
    expect(payload['repository']).toBe('acme/app');
    await issuer.publish([signingKey('ES256')]);
    const others = createRemoteJWKSet(new URL(issuer.plainJwksUrl));
    await expect(jwtVerify(token, others)).rejects.toThrow('no applicable key');
  });

  it('hands a job the token of its own for the bearer alone', async () => {
    const issuer = await startIssuer();
    const [{ origin }, token] = [new URL(issuer.url), await issuer.token(githubClaims)];
    await issuer.behave({ jobToken: { bearer: 'b', tokens: { 'https://coffer.example': token } } });
    const path = '/job-token?api-version=2.0&audience=https%3A%2F%2Fcoffer.example';
    const headers = { authorization: 'bearer b' };
    expect((await send(origin, 'GET', path, { headers, ca: issuer.ca })).json).toEqual({ value: token });
    expect((await send(origin, 'GET', path, { ca: issuer.ca })).status).toBe(401);
  });

  it('is gone and there again at the same address', async () => {
    const issuer = await startIssuer();
    await issuer.down();
    await expect(send(issuer.plainUrl, 'GET', '/keys')).rejects.toThrow('ECONNREFUSED');
    await issuer.up();
    expect((await send(issuer.plainUrl, 'GET', '/keys')).status).toBe(200);
  });
});
