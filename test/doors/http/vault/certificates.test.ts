import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OpenSsl } from '../../../reference/openssl.ts';
import {
  cleanUpAfterAll,
  issueToken,
  send,
  setPolicy,
  startServer,
  type TestServer,
  temporaryDirectory,
} from '../../../servers/serving.ts';

const openssl = new OpenSsl();
afterAll(() => openssl.close());

const later = cleanUpAfterAll();
let server: TestServer;
let auditFile: string;
beforeAll(async () => {
  auditFile = join(temporaryDirectory(later), 'audit.log');
  server = await startServer({ auditFile }, later);
  await post('keys/site', { type: 'ecdsa-p256', exportable: true });
  await post('keys/aes', {});
});

const post = (path: string, body: unknown, token = server.token) =>
  send(server.address, 'POST', `/v1/transit/${path}`, { token, body });
const get = (path: string) => send(server.address, 'GET', `/v1/transit/${path}`, { token: server.token });

const peer = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .publicKey.export({ format: 'pem', type: 'spki' })
  .toString();

describe('certificates over HTTP', () => {
  it('are asked for, signed elsewhere, and kept', async () => {
    const template = openssl.request('-subj /CN=site.example');
    const asked = await post('keys/site/csr', { csr: template });
    expect(asked).toMatchObject({
      status: 200,
      json: { data: { name: 'site', type: 'ecdsa-p256', version: 1, csr: expect.any(String) } },
    });
    const { csr } = asked.json.data;
    expect(openssl.verified(csr)).toContain('CN = site.example');
    const root = openssl.authority('root');
    const certificate_chain = `${openssl.certified(csr, root)}${root.pem}`;
    const kept = await send(server.address, 'PUT', '/v1/transit/keys/site/set-certificate', {
      token: server.token,
      body: { certificate_chain, version: '1' },
    });
    expect(kept).toMatchObject({
      status: 200,
      json: { data: { name: 'site', type: 'ecdsa-p256', certificate_chain } },
    });
    for (const path of ['', '/1', '/v1', '/latest']) {
      expect((await get(`export/certificate-chain/site${path}`)).json.data).toEqual({
        name: 'site',
        type: 'ecdsa-p256',
        keys: { 1: certificate_chain.trim() },
      });
    }
    expect((await get('keys/site')).json.data.keys[1].certificate_chain).toBe(certificate_chain.trim());
  });

  it('answer every mistake of a caller with 400, as clients send others again', async () => {
    for (const [path, body, text] of [
      ['keys/none/csr', {}, "key with provided name 'none' not found"],
      ['keys/aes/csr', {}, 'key type aes256-gcm96 does not support signing'],
      ['keys/site/csr', { version: 2 }, 'could not create the csr: no such key version'],
      ['keys/site/csr', { csr: 'x' }, 'could not decode PEM CSR'],
      ['keys/none/set-certificate', {}, "key with provided name 'none' not found"],
      [
        'keys/site/set-certificate',
        {},
        'provided certificate chain did not contain any valid PEM encoded certificate',
      ],
      ['derive-key/x', {}, 'peer public key not provided'],
      ['derive-key/x', { peer_public_key: peer }, 'specified base key not found'],
      [
        'derive-key/x',
        { peer_public_key: 'x', base_key_name: 'site' },
        'failed to parse supplied peer public key PEM: data does not contain any valid public keys ',
      ],
    ] as const) {
      expect(await post(path, body)).toMatchObject({ status: 400, json: { errors: [text] } });
    }
    await post('keys/bare', { type: 'ed25519' });
    expect(await get('export/certificate-chain/bare')).toMatchObject({
      status: 400,
      json: { errors: ['selected key version does not have a certificate chain imported'] },
    });
    for (const path of ['keys/site/csr', 'keys/site/set-certificate', 'derive-key/x']) {
      expect((await get(path)).status).toBe(405);
    }
  });

  it('need the capability to update, each on its own path', async () => {
    await setPolicy(server.directory, 'asks', 'path "transit/keys/site/csr" { capabilities = ["update"] }');
    await setPolicy(server.directory, 'reads', 'path "transit/*" { capabilities = ["read", "create"] }');
    const asks = await issueToken(server.directory, { policies: ['asks'] });
    const reads = await issueToken(server.directory, { policies: ['reads'] });
    expect((await post('keys/site/csr', {}, asks)).status).toBe(200);
    for (const path of ['keys/site/csr', 'keys/site/set-certificate', 'derive-key/x']) {
      expect((await post(path, {}, reads)).status).toBe(403);
    }
    expect((await post('keys/site/set-certificate', {}, asks)).status).toBe(403);
    expect((await post('derive-key/x', {}, asks)).status).toBe(403);
  });

  it('never show the private key, and leave a record', async () => {
    const exported = (await get('export/signing-key/site')).json.data.keys[1] as string;
    const secret = Buffer.from(exported.replace(/-----.*-----|\n/g, ''), 'base64').subarray(7, 39);
    const derived = await post('derive-key/shared', { base_key_name: 'site', peer_public_key: peer });
    expect(derived).toMatchObject({ status: 204, text: '' });
    const asked = await post('keys/site/csr', {});
    const request = Buffer.from(asked.json.data.csr.replace(/-----.*-----|\n/g, ''), 'base64');
    expect([secret.length, request.includes(secret)]).toEqual([32, false]);
    const records = readFileSync(auditFile, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const path of ['keys/site/csr', 'keys/site/set-certificate', 'derive-key/shared']) {
      const record = records.find(
        ({ type, request: { path: recorded } }) => type === 'response' && recorded === `transit/${path}`,
      );
      expect(record).toMatchObject({ request: { operation: 'update', mount_point: 'transit/' } });
    }
  });
});

describe('what clients of the family do without', () => {
  it('signs the empty input where none is given, and verifies it', async () => {
    await post('keys/releases', { type: 'ed25519' });
    const asFamily = (path: string, body: object) =>
      send(server.address, 'POST', `/v1/transit/${path}`, {
        headers: { 'x-vault-token': server.token },
        body,
      });
    expect(await post('sign/releases', {})).toMatchObject({
      status: 400,
      json: { errors: ['missing input'] },
    });
    const signed = await asFamily('sign/releases', {});
    expect(signed).toMatchObject({ status: 200, json: { data: { key_version: 1 } } });
    const { signature } = signed.json.data;
    expect((await asFamily('verify/releases', { signature })).json.data).toEqual({ valid: true });
    expect(await post('verify/releases', { signature })).toMatchObject({ status: 400 });
    expect((await post('verify/releases', { signature, input: '' })).json.data).toEqual({ valid: true });
    expect((await post('sign/releases', { batch_input: [{}] })).json.data).toEqual({
      batch_results: [{ error: 'missing input', key_version: 0, reference: '' }],
    });
  });
});
