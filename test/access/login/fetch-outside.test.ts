import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { fetchOutside, isOfLink, lookupOutside } from '../../../src/access/login/fetch-outside.ts';

const bounds = { withinMs: 60_000, mostBytes: 100 };

describe('an address that a caller named', () => {
  it.each([
    ['169.254.169.254', true],
    ['169.255.0.1', false],
    ['fe80::1', true],
    ['febf::1', true],
    ['fec0::1', false],
    ['::ffff:169.254.169.254', true],
    ['::ffff:a9fe:a9fe', true],
    ['64:ff9b::a9fe:a9fe', true],
    ['fd00:ec2::254', true],
    ['168.63.129.16', true],
    ['127.0.0.1', false],
    ['10.0.0.1', false],
    ['crl.example.com', false],
  ])('%s is of the link, or a service for the machine itself: %j', (address, expected) => {
    expect(isOfLink(address)).toBe(expected);
  });

  it('is not asked when it is of the link, however it is written', async () => {
    for (const host of ['169.254.169.254', '0xa9fea9fe', '[fe80::1]', '[::ffff:a9fe:a9fe]']) {
      await expect(fetchOutside(new URL(`http://${host}/`), bounds), host).rejects.toThrow('are refused');
    }
  });

  it('is judged by what its name leads to where it is connected to', async () => {
    const found = (host: string) =>
      new Promise((resolve) => lookupOutside(host, { all: true }, (error, to) => resolve(error ?? to)));
    expect(await found('169.254.169.254')).toEqual(
      expect.objectContaining({ message: expect.stringContaining('are refused') }),
    );
    expect(await found('127.0.0.1')).toEqual([{ address: '127.0.0.1', family: 4 }]);
  });

  it('is found as one address where only one is asked for', async () => {
    const found = new Promise((resolve) =>
      lookupOutside('127.0.0.1', {}, (error, to, family) => resolve([error, to, family])),
    );
    expect(await found).toEqual([null, '127.0.0.1', 4]);
  });

  it('gives nothing when it goes over to another protocol, and the connection ends', async () => {
    const server = createServer();
    const ended = Promise.withResolvers<void>();
    // Nobody asked for that protocol: the server goes over by itself.
    server.on('connection', (socket) => {
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
      );
      socket.once('close', () => ended.resolve());
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await expect(fetchOutside(url, bounds)).rejects.toThrow('the server switched to another protocol');
    await ended.promise;
    server.close();
  });

  it('gives what lies there, in its bounds, and leads nowhere else', async () => {
    let answer = { status: 200, body: 'x'.repeat(100), location: '' };
    const server = createServer((_request, response) =>
      response.writeHead(answer.status, { location: answer.location }).end(answer.body),
    );
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
    const url = new URL(`http://localhost:${(server.address() as AddressInfo).port}/`);
    expect(String(await fetchOutside(url, bounds))).toBe('x'.repeat(100));
    answer = { ...answer, body: 'x'.repeat(101) };
    await expect(fetchOutside(url, bounds)).rejects.toThrow('the response is longer than 100 bytes');
    answer = { status: 302, body: '', location: String(url) };
    await expect(fetchOutside(url, bounds)).rejects.toThrow('the server responded with status 302');
    server.close();
  });
});
