import { beforeAll, describe, expect, it, vi } from 'vitest';
import { FilesBackend } from '../../../src/store/backends/files/files-backend.ts';
import { cleanUpAfterAll, send, startServer, type TestServer } from '../../servers/serving.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('a request whose body has come with its head', () => {
  const later = cleanUpAfterAll();
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({}, later);
    await post('keys/cipher', {});
    await post('keys/signer', { type: 'ed25519' });
  });

  const post = (path: string, body: object) =>
    send(server.address, 'POST', `/v1/transit/${path}`, { token: server.token, body });

  /** How often a request that was sent before asks whether the store has changed since. */
  async function looksOf(path: string, body: object): Promise<number> {
    await post(path, body);
    const looks = vi.spyOn(FilesBackend.prototype, 'state');
    try {
      expect((await post(path, body)).status).toBe(200);
      return looks.mock.calls.length;
    } finally {
      looks.mockRestore();
    }
  }

  it.each<[string, object]>([
    ['encrypt/cipher', { plaintext: base64('x') }],
    ['encrypt/cipher', { batch_input: [{ plaintext: base64('x') }, { plaintext: base64('y') }] }],
    ['hmac/cipher', { input: base64('x') }],
    ['sign/signer', { input: base64('x') }],
    ['datakey/wrapped/cipher', {}],
    ['random/16', {}],
    ['hash', { input: base64('x') }],
  ])('is answered by %s after one look at the store, with %j', async (path, body) => {
    expect(await looksOf(path, body)).toBe(1);
  });

  it('is answered by decrypt and rewrap after one look at the store', async () => {
    const { json } = await post('encrypt/cipher', { plaintext: base64('x') });
    const { ciphertext } = json.data;
    for (const path of ['decrypt/cipher', 'rewrap/cipher'])
      expect(await looksOf(path, { ciphertext })).toBe(1);
  });
});
