import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openAgeDoor } from '../../../src/doors/agent/age/age-door.ts';
import type { OpenDoor } from '../../../src/doors/agent/agent-door.ts';
import type { Desk } from '../../../src/doors/agent/desk.ts';
import { openSshDoor } from '../../../src/doors/agent/ssh/ssh-door.ts';
import { denied } from '../../../src/ground/errors.ts';
import { sshBlob } from '../../../src/signatures/ssh-key.ts';
import { string, uint32 } from '../../../src/signatures/ssh-wire.ts';
import { printStanza } from '../../../src/transit/envelope/age/header.ts';
import { ageRecipient } from '../../../src/transit/envelope/age/recipients.ts';
import { printBech32 } from '../../../src/transit/key-types/age/bech32.ts';
import { x25519Kem } from '../../../src/transit/key-types/age/x25519.ts';
import { deskDouble, doubleKeys, publicText } from './desk.double.ts';

const EC = doubleKeys.find(({ name }) => name === 'ec');

const gitSignature = (): Buffer => {
  if (EC === undefined) throw new Error('the desk has another key');
  const blob = sshBlob(createPublicKey(publicText(EC)));
  const file = Buffer.concat([
    Buffer.from('SSHSIG'),
    ...['git', '', 'sha256'].map(string),
    string(Buffer.alloc(32)),
  ]);
  const body = Buffer.concat([Buffer.from([13]), string(blob), string(file), uint32(0)]);
  return Buffer.concat([uint32(body.length), body]);
};

const inbox = printBech32(x25519Kem.recipientPrefix, x25519Kem.publicOf(Buffer.alloc(32, 9)));

const openedFile = async (): Promise<Buffer> => {
  const { type, args, body } = await ageRecipient(inbox).wrap(Buffer.alloc(16));
  const said = [
    { type: 'add-identity', args: ['AGE-PLUGIN-COFFER-1VVM9ZD'], body: Buffer.alloc(0) },
    { type: 'recipient-stanza', args: ['0', type, ...args], body: Buffer.from(body) },
    { type: 'done', args: [], body: Buffer.alloc(0) },
  ];
  return Buffer.from(`identity-v1\n${said.map(printStanza).join('')}`);
};

const ageDesk: Desk = {
  ...deskDouble([]),
  offers: async () => [{ mount: 'transit', key: 'inbox', uses: ['open'], confirm: true }],
  run: async () => ({ data: { keys: { 1: { public_key: inbox } } } }),
};

describe.each<[string, OpenDoor, Desk, () => Buffer | Promise<Buffer>]>([
  ['ssh', openSshDoor, deskDouble(['sign']), gitSignature],
  ['age', openAgeDoor, ageDesk, openedFile],
])('a client of %s that hangs up while somebody is asked about its key', (_, open, desk, request) => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'coffer-hung-up-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it.each([
    ['closes its connection', 'destroy'],
    ['ends its side of it', 'end'],
  ] as const)('ends the question when it %s', async (__, how) => {
    const path = join(directory, 'socket');
    const asked = Promise.withResolvers<AbortSignal>();
    const take = open({
      ...desk,
      async consent({ confirm }, ___, gone) {
        if (!confirm) return;
        asked.resolve(gone);
        if (!gone.aborted) await once(gone, 'abort');
        throw denied('denied');
      },
    });
    // As sockets of agents are made.
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
      socket.on('error', () => undefined);
      take(socket);
      socket.resume();
    });
    server.listen(path);
    await once(server, 'listening');
    const client = connect({ path, allowHalfOpen: true });
    client.on('error', () => undefined);
    client.write(await request());
    const gone = await asked.promise;
    expect(gone.aborted).toBe(false);
    client[how]();
    if (!gone.aborted) await once(gone, 'abort');
    client.destroy();
    server.close();
    await once(server, 'close');
  });
});
