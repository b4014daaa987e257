import { Agent } from 'node:https';
import { describe, expect, it } from 'vitest';
import type { Reply } from '../../../servers/serving.ts';
import { type Client, certificateWorld, outcome, SERIAL, WEB } from './certs.ts';

const { made, ca, web, ask, root, enable, asClient, tried } = certificateWorld();
const middle = made.authority('middle', { by: ca });
const below = made.make('below', { by: middle });
const withChain = { cert: below.cert + middle.cert, key: below.key };

const role = (name: string, body: object): Promise<Reply> => root('POST', `auth/cert/certs/${name}`, body);
const login = (client: Client | undefined, body: object = {}): Promise<Reply> =>
  asClient(client, 'auth/cert/login', body);
describe('a client with a certificate', () => {
  it('logs in, and its token tells of the certificate', async () => {
    await role('Web', {
      certificate: ca.cert,
      display_name: 'shown',
      token_policies: ['app'],
      token_ttl: '20m',
      allowed_metadata_extensions: '1.2.3.4.5,1.2.3.4.6',
    });
    const { status, json } = await login(web, { name: 'WEB' });
    expect(status).toBe(200);
    expect(json.auth).toMatchObject({
      policies: ['app', 'default'],
      lease_duration: 1200,
      renewable: true,
      orphan: true,
    });
    expect(json.auth.metadata).toEqual({
      '1-2-3-4-5': 'blue-team',
      authority_key_id: expect.stringMatching(/^([0-9a-f]{2}:){19}[0-9a-f]{2}$/),
      cert_name: 'web',
      common_name: 'web1.example.com',
      serial_number: SERIAL,
      subject_key_id: expect.stringMatching(/^([0-9a-f]{2}:){19}[0-9a-f]{2}$/),
    });
    const own = await ask('GET', 'auth/token/lookup-self', { token: json.auth.client_token });
    expect(own.json.data).toMatchObject({ display_name: 'cert-shown', path: 'auth/cert/login' });
    await root('DELETE', 'auth/cert/certs/web');
  });

  it('is named by nothing in headers', async () => {
    const headers = {
      'x-ssl-client-cert': web.cert.replaceAll('\n', '%0A'),
      'x-forwarded-tls-client-cert': web.cert.replaceAll('\n', ''),
    };
    const answer = await ask('POST', 'auth/cert/login', { headers, body: {} });
    expect(outcome(answer)).toEqual([400, ['no client certificate found']]);
  });

  it('is let in by an authority above the one that it sends along, also when its session is taken up again', async () => {
    await enable('resumed');
    await root('POST', 'auth/resumed/certs/one', { certificate: ca.cert });
    const agent = new Agent({ keepAlive: false, maxCachedSessions: 10 });
    const statuses = [];
    for (let i = 0; i < 4; i++) {
      const sent = await ask('POST', 'auth/resumed/login', { client: withChain, agent, body: {} });
      statuses.push(sent.status);
    }
    expect(statuses).toEqual([200, 200, 200, 200]);
    agent.destroy();
  });

  it.each([
    ['any name', {}, 200],
    ['its common name', { allowed_common_names: ['web*.example.com'] }, 200],
    ['another common name', { allowed_common_names: ['db*.example.com'] }, 400],
    ['its host', { allowed_dns_sans: 'db1.example.com,web1.*' }, 200],
    ['another host', { allowed_dns_sans: ['web'] }, 400],
    ['its mailbox', { allowed_email_sans: ['*@example.com'] }, 200],
    ['another mailbox', { allowed_email_sans: ['*@example.org'] }, 400],
    ['its URI', { allowed_uri_sans: ['spiffe://example.com/*'] }, 200],
    ['another URI', { allowed_uri_sans: ['spiffe://example.org/*'] }, 400],
    ['one of its units', { allowed_organizational_units: ['web'] }, 200],
    ['another unit', { allowed_organizational_units: ['db'] }, 400],
    ['a name of any kind', { allowed_names: ['ops@*'] }, 200],
    ['no such name of any kind', { allowed_names: ['spiffe*'] }, 400],
    ['two kinds of names', { allowed_names: ['web*'], allowed_dns_sans: ['web*'] }, 200],
    ['two kinds of names, of which one fails', { allowed_names: ['web*'], allowed_dns_sans: ['x'] }, 400],
    ['its extension', { required_extensions: ['1.2.3.4.5:blue*'] }, 200],
    ['another value', { required_extensions: ['1.2.3.4.5:red*'] }, 400],
    ['an extension that it lacks', { required_extensions: ['1.2.3.4.6:*'] }, 400],
    ['two extensions, of which one fails', { required_extensions: ['1.2.3.4.5:*', '1.2.3.4.6:*'] }, 400],
    ['an extension that is no text', { required_extensions: ['2.5.29.37:'] }, 200],
  ])('of whom a role asks %s', async (_, settings, status) => {
    const answer = await tried(web, { certificate: ca.cert, ...settings });
    expect(answer.status).toBe(status);
    if (status === 200) return;
    expect(answer.json.errors).toEqual([
      'no chain matching all constraints could be found for this login certificate',
    ]);
  });

  it('that is pinned is let in, and no other of the same authority', async () => {
    const twin = made.make('twin', {
      by: ca,
      subject: '/OU=ops/OU=web/CN=web1.example.com',
      extensions: WEB,
    });
    expect((await tried(web, { certificate: web.cert })).status).toBe(200);
    expect(outcome(await tried(twin, { certificate: web.cert }))).toEqual([
      400,
      ['invalid certificate or no client certificate supplied'],
    ]);
  });

  it('gets the strictest role that fits, or the one that it names', async () => {
    await enable('several');
    const write = (name: string, body: object) => root('POST', `auth/several/certs/${name}`, body);
    await write('any', { certificate: ca.cert, token_policies: 'lax' });
    await write('named', { certificate: ca.cert, allowed_dns_sans: 'web*', token_policies: 'strict' });
    await write('others', { certificate: ca.cert, allowed_dns_sans: 'db*', allowed_names: 'db*' });
    const policies = async (body: object) =>
      (await asClient(web, 'auth/several/login', body)).json.auth.token_policies;
    expect(await policies({})).toEqual(['default', 'strict']);
    expect(await policies({ name: 'any' })).toEqual(['default', 'lax']);
    expect(outcome(await asClient(web, 'auth/several/login', { name: 'others' }))[0]).toBe(400);
  });
});

describe('a rate limit for the logins of a role', () => {
  it('counts those that name it and those that come to it without', async () => {
    await enable('limited');
    await root('POST', 'auth/limited/certs/one', { certificate: ca.cert });
    const limit = { rate: 2, interval: '1h', path: 'auth/limited', role: 'one' };
    expect((await root('POST', 'sys/quotas/rate-limit/one', limit)).status).toBe(204);
    const enter = async (client: Client, body: object) =>
      (await asClient(client, 'auth/limited/login', body)).status;
    expect([await enter(web, {}), await enter(web, { name: 'one' }), await enter(web, {})]).toEqual([
      200, 200, 429,
    ]);
    expect(await enter(made.make('of-nobody'), {})).toBe(400);
    await root('DELETE', 'sys/quotas/rate-limit/one');
  });
});

describe('a renewal', () => {
  it('wants the key that logged in, with a certificate that the role still takes, unless the mount lets it be', async () => {
    await role('renewed', { certificate: ca.cert, token_policies: 'one', token_ttl: '5m' });
    const token = (await login(web, { name: 'renewed' })).json.auth.client_token;
    const renew = (client: Client | undefined) => asClient(client, 'auth/token/renew-self', {}, token);
    expect((await renew(web)).json.auth.lease_duration).toBe(300);
    expect(outcome(await renew(undefined))).toEqual([400, ['no client certificate found']]);
    const other = made.make('another', { by: ca });
    expect(outcome(await renew(other))).toEqual([
      400,
      ['client identity during renewal not matching client identity used during login'],
    ]);
    await role('renewed', { allowed_common_names: 'x' });
    expect(outcome(await renew(web))).toEqual([
      400,
      ['no chain matching all constraints could be found for this login certificate'],
    ]);
    await root('POST', 'auth/cert/config', { disable_binding: true });
    expect((await root('GET', 'auth/cert/config')).json.data).toEqual({
      disable_binding: true,
      enable_identity_alias_metadata: false,
      ocsp_cache_size: 0,
    });
    expect((await renew(undefined)).status).toBe(200);
    await role('renewed', { token_policies: 'two' });
    expect(outcome(await renew(web))).toEqual([
      400,
      ['failed to renew entry: policies have changed, not renewing'],
    ]);
    await root('POST', 'auth/cert/config', { disable_binding: false });
    await root('DELETE', 'auth/cert/certs/renewed');
    expect(outcome(await renew(web))[0]).toBe(400);
    for (const size of [1, 100_001]) {
      const bad = await root('POST', 'auth/cert/config', { ocsp_cache_size: size });
      expect(outcome(bad)).toEqual([400, ['invalid cache size, must be >= 2 and <= 100000']]);
    }
    for (const size of [2, 100_000]) {
      expect((await root('POST', 'auth/cert/config', { ocsp_cache_size: size })).status).toBe(204);
    }
  });
});
