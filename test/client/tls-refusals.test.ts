import { readFileSync } from 'node:fs';
import { connect as connectTo, createServer as createConnectionServer, type Server } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/client/http-transport.ts';
import { asCofferError } from '../../src/ground/errors.ts';
import { catalogue } from '../../src/operations/catalogue.ts';
import { selfSigned, temporaryDirectory } from '../servers/serving.ts';

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as { readonly port: number }).port;
}

/** Starts a server that ends each connection after the handshake. */
async function tlsServer(options: TlsOptions = {}) {
  const { cert, key, pem } = readPair();
  const port = await portOf(createServer({ cert, key, ...options }, (socket) => void socket.destroy()));
  return { port, pem };
}

function readPair() {
  const { certificateFile, keyFile, pem } = selfSigned(temporaryDirectory());
  return { cert: readFileSync(certificateFile), key: readFileSync(keyFile), pem };
}

async function refusal(options: Parameters<typeof connect>[0]) {
  const own = connect({ token: 't', ...options });
  onTestFinished(() => own.close());
  const { declaration } = await catalogue.transit.keys.read.load();
  return own.run(declaration, { name: 'k' }, 'transit').then(() => undefined, asCofferError);
}

describe('a user whose TLS connection is refused is told', () => {
  it('that the server requires a client certificate', async () => {
    const { port, pem } = await tlsServer({ requestCert: true, rejectUnauthorized: true });
    const address = `https://localhost:${port}`;
    expect(await refusal({ address, certificateAuthorities: pem })).toMatchObject({
      message: `cannot reach ${address}: the server refused the TLS connection: certificate required`,
      hint: expect.stringContaining('set COFFER_CLIENT_CERT and COFFER_CLIENT_KEY'),
    });
  });

  it('that the server allows only old versions, and is not advised to use http', async () => {
    const { port, pem } = await tlsServer({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1' });
    const address = `https://localhost:${port}`;
    expect(await refusal({ address, certificateAuthorities: pem })).toMatchObject({
      message: `cannot reach ${address}: the server refused the TLS connection: protocol version`,
      hint: 'the server must allow TLS 1.2 or later',
    });
  });

  it('about the certificate of the server, also behind a proxy', async () => {
    const { port } = await tlsServer();
    const proxy = createConnectionServer((socket) => {
      socket.once('data', () => {
        const onward = connectTo(port, '127.0.0.1');
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.pipe(onward).pipe(socket);
        for (const end of [socket, onward]) end.on('error', () => undefined);
      });
    });
    const HTTPS_PROXY = `http://127.0.0.1:${await portOf(proxy)}`;
    const address = 'https://vault.example.test';
    expect(await refusal({ address, proxyEnv: { HTTPS_PROXY } })).toMatchObject({
      message: `cannot reach ${address}: the server's certificate is not trusted`,
      hint: expect.stringContaining('COFFER_CACERT'),
    });
  });
});

it.each([
  ['the proxy', 'other.test, 192.0.2.1, .1.0.0', 'check the proxy'],
  ['the server', 'other.test, 0.0.0.0:1', 'check that "coffer serve" is running'],
  ['the server', '*.0.0.0', 'check that "coffer serve" is running'],
  ['the server', '*', 'check that "coffer serve" is running'],
])('a user with a proxy is advised to check %s where NO_PROXY is %j', async (_, NO_PROXY, hint) => {
  const proxyEnv = { HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY };
  const refused = await refusal({ address: 'https://0.0.0.0:1', proxyEnv });
  expect(refused?.hint).toContain(hint);
});
