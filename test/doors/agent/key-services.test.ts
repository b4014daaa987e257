import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ClientHttp2Session } from 'node:http2';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Desk } from '../../../src/doors/agent/desk.ts';
import { grpcServer } from '../../../src/doors/agent/grpc/grpc.ts';
import { bytesIn, field, parseFields, textIn } from '../../../src/doors/agent/grpc/protobuf.ts';
import { openKmsDoor } from '../../../src/doors/agent/kms/kms-door.ts';
import { openSopsDoor } from '../../../src/doors/agent/sops/sops-door.ts';
import { processorMs } from '../../processor-time.ts';
import { call, framed, grpcSession } from './grpc-client.ts';
import { sealingDesk } from './sealing-desk.double.ts';

describe('messages of Protocol Buffers', () => {
  it('are read as they were written', () => {
    const entry = fc.tuple(
      fc.integer({ min: 1, max: 2 ** 29 - 1 }),
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
    );
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const fields = parseFields(Buffer.concat(entries.map(([number, bytes]) => field(number, bytes))));
        for (const [number, bytes] of new Map(entries)) {
          expect(bytesIn(fields, number).equals(bytes)).toBe(true);
        }
      }),
    );
  });

  it('pass over what is not known', () => {
    // Field 1 a number, field 2 "ab", field 3 of 8 bytes, field 4 of 4 bytes.
    const message = Buffer.from('0896011202616219000000000000000025000000001a00'.slice(0, 42), 'hex');
    expect(textIn(parseFields(message), 2)).toBe('ab');
  });

  it('have fields of the numbers from 1 to 2^29 - 1', () => {
    const read = (number: number) => textIn(parseFields(field(number, 'x')), number);
    expect([read(1), read(2 ** 29 - 1)]).toEqual(['x', 'x']);
    expect(() => read(2 ** 29)).toThrow('invalid field number 536870912 in the request');
  });

  it.each(['08', '0a05ab', '00', 'ffffffffffffffffffffff', '0b', '0a80808080808080808001'])(
    'are refused when they are none, as %s is',
    (hex) => {
      expect(() => parseFields(Buffer.from(hex, 'hex'))).toThrow();
    },
  );

  it.each([
    { title: 'one field again and again', pattern: '0a00' },
    { title: 'empty messages', pattern: '0a020a00' },
    { title: 'numbers', pattern: '0800' },
    { title: 'long numbers', pattern: '08ffffffffffffffff01' },
    { title: 'fixed numbers', pattern: '0d00000000' },
  ])('are read in proportion to their length, with $title', ({ pattern }) => {
    const ofLength = (length: number): Buffer => {
      const unit = Buffer.from(pattern, 'hex');
      return Buffer.alloc(Math.floor(length / unit.length) * unit.length, unit);
    };
    const [short, long] = [ofLength(1024), ofLength(64 * 1024)];
    const read = (message: Buffer, times: number): number =>
      processorMs(() => {
        for (let count = 0; count < times; count++) parseFields(message);
      });
    read(short, 2000);
    // The same number of bytes either way; what grows with the square of the length takes 64 times as long.
    expect(read(long, 4)).toBeLessThan(8 * read(short, 4 * 64) + 20);
  });

  it('have texts that are UTF-8', () => {
    expect(() => textIn(parseFields(field(1, Buffer.from([0xff]))), 1)).toThrow('UTF-8');
  });
});

describe('a key service', () => {
  const directory = mkdtempSync(join(tmpdir(), 'coffer-grpc-'));
  const { desk, defects, lock } = sealingDesk();
  const servers: Server[] = [];
  const sessions: ClientHttp2Session[] = [];
  let sops: ClientHttp2Session;
  let kms: ClientHttp2Session;

  async function connected(take: (connection: import('node:stream').Duplex) => void, name: string) {
    const path = join(directory, name);
    const server = createServer(take).listen(path);
    await once(server, 'listening');
    servers.push(server);
    const session = grpcSession(path);
    sessions.push(session);
    return session;
  }

  beforeAll(async () => {
    sops = await connected(openSopsDoor(desk), 'sops.sock');
    kms = await connected(openKmsDoor(desk), 'kms.sock');
  });

  afterAll(() => {
    for (const session of sessions) session.destroy();
    for (const server of servers) server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const vaultKey = (name: string): Buffer =>
    field(5, Buffer.concat([field(1, 'http://coffer'), field(2, 'transit'), field(3, name)]));
  const asked = (name: string, data: string | Buffer): Buffer =>
    framed(Buffer.concat([field(1, vaultKey(name)), field(2, data)]));

  it('encrypts and decrypts data keys of sops', async () => {
    const made = await call(sops, '/KeyService/Encrypt', asked('app', 'a data key'));
    expect(made.status).toBe(0);
    const ciphertext = textIn(made.fields, 1);
    expect(ciphertext).toMatch(/^service:v1:/);
    const opened = await call(sops, '/KeyService/Decrypt', asked('app', ciphertext));
    expect(textIn(opened.fields, 1)).toBe('a data key');
    expect(desk.asked).toEqual(['encrypt a file', 'decrypt a file']);
  });

  it('takes no defect of ours for a request that was given up', async () => {
    const stream = sops.request({ ':method': 'POST', ':path': '/KeyService/Encrypt', te: 'trailers' });
    stream.on('error', () => undefined);
    stream.write(asked('app', 'x').subarray(0, 7));
    await call(sops, '/KeyService/Encrypt', asked('app', 'x'));
    stream.destroy();
    await call(sops, '/KeyService/Encrypt', asked('app', 'x'));
    expect(defects).toEqual([]);
  });

  it('refuses a name of any length in few words', async () => {
    const refused = await call(sops, '/KeyService/Encrypt', asked('\u{1f511}'.repeat(15_000), 'x'));
    expect(refused.status).toBe(7);
    expect(refused.message).toMatch(/^transit\/\u{1f511}{10}/u);
    expect(refused.message.length).toBeLessThan(2000);
  });

  it.each([
    { title: 'a key that is not offered', path: '/KeyService/Encrypt', body: asked('other', 'x'), status: 7 },
    {
      title: 'another kind of key',
      path: '/KeyService/Encrypt',
      body: framed(field(1, field(6, field(1, 'age1')))),
      status: 12,
    },
    { title: 'no name of a key', path: '/KeyService/Encrypt', body: asked('', 'x'), status: 3 },
    {
      title: 'no mount of a key',
      path: '/KeyService/Encrypt',
      body: framed(Buffer.concat([field(1, field(5, field(3, 'app'))), field(2, 'x')])),
      status: 3,
    },
    { title: 'no ciphertext', path: '/KeyService/Decrypt', body: asked('app', 'x'), status: 3 },
    { title: 'another method', path: '/KeyService/Delete', body: asked('app', 'x'), status: 12 },
    { title: 'what is no message', path: '/KeyService/Encrypt', body: Buffer.from('x'), status: 3 },
    {
      title: 'a compressed message',
      path: '/KeyService/Encrypt',
      body: Buffer.concat([Buffer.from([1]), framed(Buffer.from('x')).subarray(1)]),
      status: 12,
    },
    {
      title: 'a message that is too long',
      path: '/KeyService/Encrypt',
      body: asked('app', Buffer.alloc(70_000)),
      status: 8,
    },
  ])('refuses $title', async ({ path, body, status }) => {
    expect((await call(sops, path, body)).status).toBe(status);
    expect(defects).toEqual([]);
  });

  it('takes a message of 64 KiB', async () => {
    const longest = (more: number) => {
      const rest = asked('app', Buffer.alloc(65_000)).length - 5 - 65_000;
      return asked('app', Buffer.alloc(64 * 1024 - rest + more));
    };
    expect(longest(0)).toHaveLength(5 + 64 * 1024);
    expect((await call(sops, '/KeyService/Encrypt', longest(0))).status).toBe(0);
    expect(await call(sops, '/KeyService/Encrypt', longest(1))).toMatchObject({
      status: 8,
      message: 'the request is larger than 65536 bytes',
    });
  });

  it.each<[string, Partial<Desk>, string]>([
    [
      'another plaintext comes back',
      {
        run: async (operation, raw, mount) =>
          operation === 'transit decrypt' ? { data: { plaintext: '' } } : desk.run(operation, raw, mount),
      },
      'verification failed: decrypting the new ciphertext gave other data',
    ],
    [
      'the key has no version',
      { run: async () => ({ data: { latest_version: 2, keys: { 1: 1 } } }) },
      'unexpected response about the key: it has no latest version',
    ],
    ['no key is offered', { offers: async () => [] }, 'no key is offered to Kubernetes'],
  ])('tells Kubernetes that it is not healthy where %s', async (what, changed, healthz) => {
    const session = await connected(openKmsDoor({ ...desk, ...changed }), `${what.length}.sock`);
    const { fields } = await call(session, '/v2.KeyManagementService/Status', framed(Buffer.alloc(0)));
    expect(textIn(fields, 2)).toBe(healthz);
  });

  it('tells Kubernetes a key id that follows the version, and no name', async () => {
    const path = '/v2.KeyManagementService';
    const before = await call(kms, `${path}/Status`, framed(Buffer.alloc(0)));
    expect([textIn(before.fields, 1), textIn(before.fields, 2)]).toEqual(['v2', 'ok']);
    const id = textIn(before.fields, 3);
    expect(id).toMatch(/^[\w-]{43}$/);
    const made = await call(
      kms,
      `${path}/Encrypt`,
      framed(Buffer.concat([field(1, 'a seed'), field(2, 'uid')])),
    );
    expect(textIn(made.fields, 2)).toBe(id);
    desk.rotate();
    const after = await call(kms, `${path}/Status`, framed(Buffer.alloc(0)));
    expect(textIn(after.fields, 3)).not.toBe(id);
    const old = await call(
      kms,
      `${path}/Decrypt`,
      framed(Buffer.concat([field(1, bytesIn(made.fields, 1)), field(3, id)])),
    );
    expect(textIn(old.fields, 1)).toBe('a seed');
  });

  it('looks at one message in each turn of the event loop, and lets few calls of a connection be under way', async () => {
    let turn = 0;
    let isOver = false;
    const count = (): void => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    const turns: number[] = [];
    const session = await connected(
      grpcServer(
        {
          '/turn': async (message) => {
            turns.push(turn);
            return message;
          },
        },
        (error) => defects.push(error),
      ),
      'turns.sock',
    );
    // A client that knows how many calls it may have under way waits with the others.
    await once(session, 'remoteSettings');
    count();
    const calls = Array.from({ length: 40 }, () => call(session, '/turn', framed(Buffer.alloc(0))));
    for (const { status } of await Promise.all(calls)) expect(status).toBe(0);
    isOver = true;
    expect(new Set(turns).size).toBe(calls.length);
    expect(session.remoteSettings.maxConcurrentStreams).toBe(16);
  });

  it('says at once that the store is locked', async () => {
    lock();
    const refused = await call(sops, '/KeyService/Encrypt', asked('app', 'x'));
    expect(refused).toMatchObject({ status: 9, message: 'the store is locked' });
    const status = await call(kms, '/v2.KeyManagementService/Status', framed(Buffer.alloc(0)));
    expect(status.status).toBe(0);
    expect(textIn(status.fields, 2)).toBe('the store is locked');
  });
});
