import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, Server } from 'node:net';
import { join, relative } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Listeners } from '../../../src/doors/http/http-server.ts';
import { refused } from '../../refusal.ts';
import { freePort } from '../../servers/ports.ts';
import { selfSigned, send, spawnServer, startServer, temporaryDirectory } from '../../servers/serving.ts';

describe('a listener', () => {
  it('speaks TLS with the certificate given, and no plain HTTP then', async () => {
    const { certificateFile, keyFile, pem } = selfSigned(temporaryDirectory());
    const { address, token } = await startServer({ tls: { certificateFile, keyFile } });
    expect(address).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await send(address, 'GET', '/v1/sys/health', { ca: pem })).toMatchObject({ status: 200 });
    expect(await send(address, 'LIST', '/v1/transit/keys', { ca: pem, token })).toMatchObject({
      status: 404,
    });
    const { text } = await send(address, 'GET', '/v1/sys/metrics', { ca: pem, token });
    const ends = new X509Certificate(pem).validToDate.getTime() / 1000;
    expect(text).toContain(`coffer_tls_certificate_end_seconds ${ends}\n`);
    await expect(send(address, 'GET', '/v1/sys/health')).rejects.toThrow(/self-signed/);
    await expect(send(address.replace('https', 'http'), 'GET', '/v1/sys/health')).rejects.toThrow();
  });

  it('is closed again when another one cannot be opened, so that a server that fails ends', async () => {
    const taken = createServer();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const at = (number: number) => ({ host: '127.0.0.1', port: number, maxRequestBytes: 1024 });
    const free = at(await freePort());
    const opened = Listeners.open([free, at(port)], { answer: async () => ({ status: 200 }) });
    await expect(opened).rejects.toMatchObject({ message: expect.stringContaining(`127.0.0.1:${port}`) });
    const again = createServer();
    again.listen(free.port, free.host);
    await once(again, 'listening');
    again.close();
  });

  it('takes up a renewed certificate when it is told to reload', async () => {
    const directory = temporaryDirectory();
    const files = selfSigned(directory);
    const server = await startServer({ tls: files });
    const renewed = selfSigned(directory);
    await server.reload();
    expect(await send(server.address, 'GET', '/v1/sys/health', { ca: renewed.pem })).toMatchObject({
      status: 200,
    });
    await expect(send(server.address, 'GET', '/v1/sys/health', { ca: files.pem })).rejects.toThrow();
  });

  it('keeps its certificate when the renewed one cannot be used, and the log says so', async () => {
    const files = selfSigned(temporaryDirectory());
    const server = await startServer({ tls: files });
    writeFileSync(files.certificateFile, 'no certificate');
    await expect(server.reload()).rejects.toMatchObject({ kind: 'invalid' });
    expect(JSON.parse(server.log.at(-1) ?? '')).toMatchObject({
      time: expect.any(String),
      level: 'error',
      message: 'cannot reload: the old certificate stays in use',
      reason: expect.stringContaining(files.certificateFile),
    });
    expect(await send(server.address, 'GET', '/v1/sys/health', { ca: files.pem })).toMatchObject({
      status: 200,
    });
  });

  it('on a Unix socket with a relative path has an address that works from everywhere', async () => {
    const socket = join(temporaryDirectory(), 'coffer.sock');
    const { address } = await startServer({ listen: [], socket: relative(process.cwd(), socket) });
    expect(address).toBe(`unix:${socket}`);
    expect(await send(address, 'GET', '/v1/sys/health')).toMatchObject({ status: 200 });
  });

  it('on a Unix socket is for its owner alone from the first moment, whatever the umask, which stays', async () => {
    const socket = join(temporaryDirectory(), 'coffer.sock');
    const usual = process.umask(0);
    onTestFinished(() => void process.umask(usual));
    const modes: number[] = [];
    const listen = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (
      this: Server,
      ...given: unknown[]
    ) {
      listen.mockRestore();
      Reflect.apply(this.listen, this, given);
      modes.push(statSync(socket).mode & 0o777);
      return this;
    });
    const { addresses } = await startServer({ listen: [], socket });
    expect(modes).toEqual([0o600]);
    expect(process.umask()).toBe(0);
    expect(addresses).toEqual([`unix:${socket}`]);
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    expect(await send(`unix:${socket}`, 'GET', '/v1/sys/health')).toMatchObject({ status: 200 });
  });

  it('on a Unix socket is for its owner alone with several workers, too, whose umask stays', async () => {
    const socket = join(temporaryDirectory(), 'coffer.sock');
    const usual = process.umask(0);
    onTestFinished(() => void process.umask(usual));
    const { child } = await spawnServer({ listen: [], socket, workers: 2 });
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    expect(await send(`unix:${socket}`, 'GET', '/v1/sys/health')).toMatchObject({ status: 200 });
    const server = child.pid ?? 0;
    const workers = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8').trim().split(' ');
    expect(workers).toHaveLength(2);
    for (const pid of [server, ...workers]) {
      expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^Umask:\t0000$/m);
    }
  });

  it('takes the place of a socket that a killed server left behind', async () => {
    const socket = join(temporaryDirectory(), 'coffer.sock');
    const code = `require('node:net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`;
    await once(spawn(process.execPath, ['-e', code]), 'exit');
    expect(statSync(socket).isSocket()).toBe(true);
    await startServer({ listen: [], socket });
    expect(await send(`unix:${socket}`, 'GET', '/v1/sys/health')).toMatchObject({ status: 200 });
  });

  it('leaves a socket alone on which somebody listens, and a file that is none', async () => {
    const directory = temporaryDirectory();
    const taken = join(directory, 'taken.sock');
    const other = createServer().listen(taken);
    await once(other, 'listening');
    expect(await refused(startServer({ listen: [], socket: taken }))).toMatchObject({
      kind: 'conflict',
      message: `another program is already listening on ${taken}`,
    });
    other.close();
    const file = join(directory, 'file');
    writeFileSync(file, 'precious');
    expect(await refused(startServer({ listen: [], socket: file }))).toMatchObject({
      kind: 'conflict',
      message: `${file} exists and is not a socket`,
    });
  });

  it('is one of several, each with its own limit', async () => {
    const socket = join(temporaryDirectory(), 'coffer.sock');
    const { addresses, token } = await startServer({
      listen: ['127.0.0.1:0', '127.0.0.1:0?max-request-size=100'],
      socket,
      maxRequestBytes: 1000,
    });
    expect(new Set(addresses).size).toBe(3);
    const statuses = await Promise.all(
      addresses.map(async (address) => {
        const body = { input: 'A'.repeat(400) };
        return (await send(address, 'POST', '/v1/transit/hash', { token, body })).status;
      }),
    );
    expect(statuses).toEqual([200, 413, 200]);
  });

  it.each(['0.0.0.0:0', '[::]:0', '192.0.2.1:8200', 'example.org:8200'])(
    'is refused on %s without TLS',
    async (address) => {
      const host = address.replace(/:\d+$/, '').replace(/[[\]]/g, '');
      expect(await refused(startServer({ listen: [address] }))).toEqual({
        kind: 'invalid',
        message: `refusing to listen on ${host} without TLS`,
        field: 'listen',
      });
    },
  );

  it('is allowed everywhere with TLS, or when asked for', async () => {
    const { address } = await startServer({ listen: ['0.0.0.0:0'], allowInsecureListen: true });
    const local = address.replace('0.0.0.0', '127.0.0.1');
    expect(await send(local, 'GET', '/v1/sys/health')).toMatchObject({ status: 200 });
    const files = selfSigned(temporaryDirectory());
    const secure = await startServer({ listen: ['0.0.0.0:0'], tls: files });
    expect(secure.address).toMatch(/^https:\/\/0\.0\.0\.0:\d+$/);
  });

  it('takes no certificate with which it could not speak', async () => {
    const directory = temporaryDirectory();
    const { certificateFile, keyFile } = selfSigned(directory);
    const other = selfSigned(temporaryDirectory());
    const empty = join(directory, 'empty');
    writeFileSync(empty, '', { mode: 0o600 });
    const refusalOf = (files: { certificateFile: string; keyFile: string }) =>
      refused(startServer({ tls: files }));
    expect(await refusalOf({ certificateFile: empty, keyFile })).toEqual({
      kind: 'invalid',
      message: `no certificate in ${empty}`,
      field: 'tls',
    });
    expect(await refusalOf({ certificateFile, keyFile: empty })).toEqual({
      kind: 'invalid',
      message: `no readable private key in ${empty}`,
      field: 'tls-key',
    });
    expect(await refusalOf({ certificateFile, keyFile: other.keyFile })).toEqual({
      kind: 'invalid',
      message: `${other.keyFile} is not the key of the certificate in ${certificateFile}`,
      field: 'tls-key',
    });
  });

  it('is refused where another program listens, and none is left listening then', async () => {
    const { address } = await startServer();
    const { host } = new URL(address);
    expect(await refused(startServer({ listen: ['127.0.0.1:0', host] }))).toEqual({
      kind: 'unavailable',
      message: `cannot listen on ${host}: another program listens there`,
      field: 'listen',
    });
  });

  it.each([
    [
      { tls: { certificateFile: '/none/cert.pem', keyFile: '/none/key.pem' } },
      'cannot read /none/cert.pem: no such file or directory',
    ],
    [{ socket: '/none/coffer.sock' }, 'cannot listen on /none/coffer.sock: no such directory'],
    [
      { socket: '/dev/null/coffer.sock' },
      'cannot listen on /dev/null/coffer.sock: part of the path is not a directory',
    ],
    [
      { socket: `/${'long'.repeat(50)}` },
      `cannot listen on /${'long'.repeat(50)}: the path is too long for a socket`,
    ],
    [{ maxRequestBytes: 0 }, 'the largest request must be a number of bytes above 0'],
    [{ workers: 0 }, 'the number of workers must be 1 to 256'],
  ])('is refused with %j', async (options, message) => {
    expect(await refused(startServer(options))).toMatchObject({ message });
  });
});
