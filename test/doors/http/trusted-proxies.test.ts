import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HttpServer } from '../../../src/doors/http/http-server.ts';
import { parseTrustedProxies, TrustedProxies } from '../../../src/doors/http/trusted-proxies.ts';
import { send, startServer, temporaryDirectory } from '../../servers/serving.ts';

const PROXIES = ['10.0.0.0/8', 'fd00::/8', '192.0.2.9'];

const clientOf = (peer: string | undefined, forwarded?: string, proxies = PROXIES): string =>
  new TrustedProxies(parseTrustedProxies(proxies)).clientOf(peer, forwarded);

describe('the address of a client', () => {
  it.each<[what: string, peer: string | undefined, forwarded: string | undefined, client: string]>([
    ['of a connection without the header', '198.51.100.1', undefined, '198.51.100.1'],
    ['that sends the header itself', '198.51.100.1', '10.0.0.7', '198.51.100.1'],
    ['behind a proxy', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['behind a proxy in IPv6 notation', '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['that claims another to the proxy', '10.0.0.1', '203.0.113.5, 198.51.100.1', '198.51.100.1'],
    ['that claims to be a proxy', '10.0.0.1', '10.0.0.8, 198.51.100.1', '198.51.100.1'],
    ['behind several proxies', '10.0.0.1', '203.0.113.5, 198.51.100.1, fd00::2,192.0.2.9', '198.51.100.1'],
    ['that is a proxy', '10.0.0.1', '10.0.0.2, 10.0.0.3', '10.0.0.2'],
    ['in IPv6', 'fd00::1', '2001:db8::7', '2001:db8::7'],
    ['with a port', '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['in IPv6 with brackets', '10.0.0.1', '[2001:db8::7]', '2001:db8::7'],
    ['in IPv6 with a port', '10.0.0.1', '[2001:db8::7]:4711', '2001:db8::7'],
    ['without the header of the proxy', '10.0.0.1', undefined, '10.0.0.1'],
    ['that the proxy does not know', '10.0.0.1', '198.51.100.1, unknown', ''],
    ['behind a proxy with an empty header', '10.0.0.1', '', ''],
    ['behind a proxy that ends with a comma', '10.0.0.1', '198.51.100.1,', ''],
    ['with nothing before a proxy', '10.0.0.1', ',10.0.0.2', ''],
    ['with nothing but commas', '10.0.0.1', ',,', ''],
    ['of a socket that is not trusted', undefined, '198.51.100.1', ''],
  ])('%s is known', (_what, peer, forwarded, client) => {
    expect(clientOf(peer, forwarded)).toBe(client);
  });

  it('behind a proxy at a Unix socket is known if sockets are trusted, and only there', () => {
    expect(clientOf(undefined, '198.51.100.1', ['unix'])).toBe('198.51.100.1');
    expect(clientOf(undefined, undefined, ['unix'])).toBe('');
    expect(clientOf('127.0.0.1', '198.51.100.1', ['unix'])).toBe('127.0.0.1');
  });

  it('is never what the client itself sent to a proxy', () => {
    const claim = fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.constantFrom('10.0.0.3', ',', '10.0.0.3,,'));
    fc.assert(
      fc.property(fc.array(claim), (claims) => {
        expect(clientOf('10.0.0.1', [...claims, '198.51.100.1'].join(','))).toBe('198.51.100.1');
      }),
    );
  });
});

describe('a TCP connection without an address, because it was reset', () => {
  it('is not answered, as if it came through a Unix socket', async () => {
    let answered = 0;
    const http = new HttpServer({
      maxRequestBytes: 1000,
      proxies: new TrustedProxies(['unix']),
      answer: async () => {
        answered += 1;
        return { status: 200, contentType: 'text/plain', body: 'done' };
      },
    });
    http.server.prependListener('connection', (socket) =>
      Object.defineProperty(socket, 'remoteAddress', { get: () => undefined }),
    );
    http.server.listen(0, '127.0.0.1');
    await once(http.server, 'listening');
    onTestFinished(() => http.close());
    const { port } = http.server.address() as AddressInfo;
    const headers = { 'x-forwarded-for': '198.51.100.7' };
    await expect(send(`http://127.0.0.1:${port}`, 'GET', '/', { headers })).rejects.toThrow();
    expect(answered).toBe(0);
  });
});

describe('a trusted proxy', () => {
  it('may be given beside others, with commas', () => {
    expect(parseTrustedProxies(['10.0.0.1, fd00::/8,unix', '10.0.0.2/32'])).toEqual([
      '10.0.0.1',
      'fd00::/8',
      'unix',
      '10.0.0.2',
    ]);
  });

  it.each(['', '10.0.0.0/33', 'proxy.example', '10.0.0.1:80', 'Unix'])(
    'is an address, a network or "unix", not %j',
    (text) => {
      const message = `${JSON.stringify(text)} is neither an IP address nor a CIDR block`;
      expect(() => parseTrustedProxies([text])).toThrow(
        expect.objectContaining({ kind: 'invalid', message }),
      );
    },
  );

  it('has tokens that are bound to networks work for clients behind it, and the audit log names these', async () => {
    const auditFile = join(temporaryDirectory(), 'audit.log');
    const { address, token } = await startServer({ auditFile, trustedProxies: ['127.0.0.0/8'] });
    const from = (client: string) => ({ 'x-forwarded-for': client });
    const role = await send(address, 'POST', '/v1/auth/token/roles/near', {
      token,
      body: { token_bound_cidrs: ['198.51.100.0/24'], allowed_policies: ['default'] },
    });
    expect(role.status).toBe(204);
    const created = await send(address, 'POST', '/v1/auth/token/create/near', { token, body: {} });
    const bound = created.json.auth.client_token as string;
    const look = async (headers: Record<string, string> = {}): Promise<number> =>
      (await send(address, 'GET', '/v1/auth/token/lookup-self', { token: bound, headers })).status;
    expect(await look(from('198.51.100.7'))).toBe(200);
    expect(await look(from('198.51.100.7, 203.0.113.1'))).toBe(403);
    expect(await look()).toBe(403);
    expect(readFileSync(auditFile, 'utf8')).toContain('"remote_address":"198.51.100.7"');
  });
});
