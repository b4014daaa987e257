import { EventEmitter } from 'node:events';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asCofferError, printText } from '../../src/ground/errors.ts';
import { type ListenPlace, listening } from '../../src/service/listening.ts';
import { socketPath } from '../../src/service/socket-file.ts';
import { thrownBy } from '../reference/thrown.ts';
import { temporaryDirectory } from '../store/temporary-store.ts';

/** A server that cannot listen, or that can. */
function serverWith(code: string | undefined, asked: object[] = []): Server {
  const server = new EventEmitter();
  const listen = (options: object, done: () => void): void => {
    asked.push(options);
    if (code === undefined) done();
    else server.emit('error', Object.assign(new Error('it cannot'), { code }));
  };
  return Object.assign(server, { listen }) as unknown as Server;
}

async function refusalOf(code: string, place: ListenPlace) {
  const error = await listening(serverWith(code), place).then(
    () => undefined,
    (thrown: unknown) => asCofferError(thrown),
  );
  const { kind, message, field, hint } = error ?? {};
  return { kind, message, field, hint: hint && printText(hint) };
}

describe('the path of a socket', () => {
  it.each([
    ['/run/x.sock', '/run/x.sock'],
    ['x.sock', 'x.sock'],
    ['unix:///run/x.sock', '/run/x.sock'],
    ['unix:/run/x.sock', '/run/x.sock'],
    ['unix:x.sock', 'x.sock'],
    ['./@x', './@x'],
  ])('may be written like an address: %s', (text, path) => {
    expect(socketPath(text)).toBe(path);
  });

  it.each(['@x', 'unix:@x', 'unix:///@x', 'unix://@x'])('is that of a file: not %s', (text) => {
    expect(thrownBy(() => socketPath(text))).toMatchObject({
      kind: 'unsupported',
      message: `"${text}" is an abstract socket, to which every local user could connect`,
      field: 'socket',
    });
  });
});

describe('a server that cannot listen', () => {
  const on = (port: number, host = '127.0.0.1') => ({ host, port });
  it.each([
    [
      'EADDRINUSE',
      on(8200),
      'another program listens there',
      'stop the program that uses this port, or use another port: --listen 127.0.0.1:8201',
    ],
    [
      'EADDRINUSE',
      on(65_534),
      'another program listens there',
      'stop the program that uses this port, or use another port: --listen 127.0.0.1:65535',
    ],
    ['EADDRINUSE', on(65_535), 'another program listens there', undefined],
    [
      'EADDRINUSE',
      on(8200, '::1'),
      'another program listens there',
      'stop the program that uses this port, or use another port: --listen [::1]:8201',
    ],
    [
      'EACCES',
      on(1023),
      'permission denied',
      'ports below 1024 need root; use another port: --listen 127.0.0.1:8200',
    ],
    ['EACCES', on(1024), 'permission denied', undefined],
    ['EADDRNOTAVAIL', on(80, '192.0.2.1'), 'address not available on this machine', undefined],
    ['ENOTFOUND', on(80, 'nowhere.example'), 'host not found', undefined],
    ['EOTHER', on(80), 'EOTHER', undefined],
  ])('says why of %s at %j', async (code, place, why, hint) => {
    expect(await refusalOf(code, place)).toEqual({
      kind: 'unavailable',
      message: `cannot listen on ${place.host === '::1' ? '[::1]' : place.host}:${place.port}: ${why}`,
      field: 'listen',
      hint,
    });
  });

  it('says why of a descriptor that it was given', async () => {
    expect(await refusalOf('EINVAL', { descriptor: 3 })).toEqual({
      kind: 'unavailable',
      message: 'cannot listen on descriptor 3: EINVAL',
      field: 'listen',
      hint: undefined,
    });
  });

  it.each([
    ['EACCES', 'a.sock', 'permission denied'],
    ['EACCES', 'none/a.sock', 'no such directory'],
    ['EINVAL', 'a.sock', 'the path is too long for a socket'],
    ['EADDRINUSE', 'a.sock', 'another program listens there'],
  ])('says why of %s at a socket %s', async (code, name, why) => {
    const socket = join(temporaryDirectory(), name);
    expect(await refusalOf(code, { socket })).toEqual({
      kind: 'unavailable',
      message: `cannot listen on ${socket}: ${why}`,
      field: 'socket',
      hint: undefined,
    });
  });

  it('throws what comes later where it listens already', async () => {
    const asked: object[] = [];
    const server = serverWith(undefined, asked);
    for (const place of [{ descriptor: 3 }, on(80), { socket: '/run/a.sock' }])
      await listening(server, place);
    expect(asked).toEqual([{ fd: 3 }, on(80), { path: '/run/a.sock' }]);
    expect(server.listenerCount('error')).toBe(0);
  });
});
