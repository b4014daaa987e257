/**
 * Floor of served encryption: a node:http route that encrypts with AES-256-GCM under one fixed key, with nonces from a
 * pool as in Coffer, without tokens, policies, audit log, named keys or store. Prints its port.
 */
import { createCipheriv, randomFillSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

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

function encrypt(body: Buffer): string {
  const { plaintext } = JSON.parse(body.toString()) as { plaintext: string };
  const iv = nonce();
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const sealed = Buffer.concat([iv, cipher.update(plaintext, 'base64'), cipher.final(), cipher.getAuthTag()]);
  return JSON.stringify({ data: { ciphertext: `service:v1:${sealed.toString('base64')}` } });
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const answer = encrypt(chunks.length > 1 ? Buffer.concat(chunks) : (chunks[0] ?? Buffer.alloc(0)));
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) })
      .end(answer);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
