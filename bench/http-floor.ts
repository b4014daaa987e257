/**
 * What a served encryption is compared with: a route of the same framework that encrypts with AES-256-GCM under one
 * fixed key, and does nothing else: no tokens, policies, audit trail, named keys or store. Prints its port.
 */
import { createCipheriv, randomFillSync } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';

const key = randomFillSync(Buffer.alloc(32));
const nonces = Buffer.alloc(12 * 1024);
let used = nonces.length;

function nonce(): Buffer {
  if (used === nonces.length) {
    randomFillSync(nonces);
    used = 0;
  }
  used += 12;
  return nonces.subarray(used - 12, used);
}

const app = fastify();
app.post('/v1/transit/encrypt/bench', async (request) => {
  const { plaintext } = request.body as { plaintext: string };
  const iv = nonce();
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const sealed = Buffer.concat([iv, cipher.update(plaintext, 'base64'), cipher.final(), cipher.getAuthTag()]);
  return { data: { ciphertext: `service:v1:${sealed.toString('base64')}` } };
});
await app.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(`${(app.server.address() as AddressInfo).port}\n`);
