import { writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { selfSigned, send, spawnServer, startServer, temporaryDirectory } from '../../../servers/serving.ts';
import { type Client, certificateWorld, outcome, PAST } from './certs.ts';

const { made, ca, web, ask, tried } = certificateWorld();
const otherCa = made.authority('other', { subject: '/CN=ca' });
describe('a server', () => {
  it('asks for certificates, and changes nothing for those who have none, or some of nobody', async () => {
    const odd = made.make('odd', PAST);
    for (const client of [undefined, web, odd]) {
      const seen = await ask('GET', 'sys/health', { client });
      expect(seen.status).toBe(200);
    }
  });

  it('hands the certificate to the worker that answers', async () => {
    const tls = selfSigned(temporaryDirectory());
    const many = await spawnServer({ tls, workers: 2 });
    const ask = (method: string, path: string, options: object) =>
      send(many.address, method, `/v1/${path}`, { ca: tls.pem, ...options });
    await ask('POST', 'sys/auth/cert', { token: many.token, body: { type: 'cert' } });
    await ask('POST', 'auth/cert/certs/one', { token: many.token, body: { certificate: ca.cert } });
    const client = { cert: web.cert, key: web.key };
    const padding = 'x'.repeat(100_000);
    // Large with a good token, so that it is worked on by yet another process.
    const large = { token: many.token, client, body: { padding } };
    const agent = new Agent({ keepAlive: false });
    const answers = await Promise.all(
      [{ client, agent, body: {} }, { client, agent, body: {} }, large].map((options) =>
        ask('POST', 'auth/cert/login', options),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 413]);
    const renewed = await ask('POST', 'auth/token/renew-self', {
      client,
      token: answers[0]?.json.auth.client_token,
      body: {},
    });
    expect(renewed.status).toBe(200);
  });

  it('sees none that is longer than any in use', async () => {
    const withText = (length: number): Client =>
      made.make('wordy', { by: ca, extensions: [`1.2.3.4=ASN1:UTF8String:${'x'.repeat(length)}`] });
    const [long, longer] = [withText(10_000), withText(12_500)];
    expect((await tried(long, { certificate: ca.cert })).status).toBe(200);
    expect(outcome(await tried(longer, { certificate: ca.cert }))).toEqual([
      400,
      ['no client certificate found'],
    ]);
  });

  it('asks for none when it is told so', async () => {
    const tls = selfSigned(temporaryDirectory());
    const quiet = await startServer({ tls: { ...tls, asksNoClient: true } });
    const ask = (method: string, path: string, options: object = {}) =>
      send(quiet.address, method, `/v1/${path}`, { ca: tls.pem, ...options });
    await ask('POST', 'sys/auth/cert', { token: quiet.token, body: { type: 'cert' } });
    await ask('POST', 'auth/cert/certs/one', { token: quiet.token, body: { certificate: ca.cert } });
    const answer = await ask('POST', 'auth/cert/login', { client: web, body: {} });
    expect(outcome(answer)).toEqual([400, ['no client certificate found']]);
  });

  it('takes nobody but whom given authorities signed, also when it was told to reload', async () => {
    const directory = temporaryDirectory();
    const clientAuthoritiesFile = join(directory, 'clients.pem');
    writeFileSync(clientAuthoritiesFile, ca.cert);
    const tls = selfSigned(directory);
    const strict = await startServer({ tls: { ...tls, clientAuthoritiesFile } });
    // Connections of their own, which may take up sessions of earlier ones.
    const agent = new Agent({ keepAlive: false });
    const health = (client?: Client) =>
      send(strict.address, 'GET', '/v1/sys/health', {
        ca: tls.pem,
        agent,
        client: client ? { cert: client.cert, key: client.key } : undefined,
      }).then(
        ({ status }) => status,
        () => 'refused',
      );
    const stranger = made.make('stranger', { by: otherCa });
    expect([await health(web), await health(web), await health(), await health(stranger)]).toEqual([
      200,
      200,
      'refused',
      'refused',
    ]);
    writeFileSync(clientAuthoritiesFile, otherCa.cert);
    await strict.reload();
    expect([await health(web), await health(stranger)]).toEqual(['refused', 200]);
  });
});
