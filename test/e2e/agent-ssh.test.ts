import { createHash, createPublicKey, verify } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, LOCKED, leave, placeForAgents, statusOf } from './agent-target.ts';
import type { Place } from './harness.ts';
import { EXTENSION_FAILURE, FAILURE, login, SshAgentClient, SUCCESS, sshString } from './ssh-agent-client.ts';
import { typedAt } from './typed.ts';

let place: Place;
let owner: Place;
let socket: string;
let client: SshAgentClient;

const RSA_SHA2_256 = 2;
const RSA_SHA2_512 = 4;

beforeAll(async () => {
  place = placeForAgents();
  owner = place.with(KEY);
  await owner.ok('init');
  await owner.ok(`unlock --audit-log ${place.file('audit.log')}`);
  for (const [name, type] of [
    ['laptop', 'ed25519'],
    ['p256', 'ecdsa-p256'],
    ['p521', 'ecdsa-p521'],
    ['rsa', 'rsa-2048'],
    ['app', 'aes256-gcm96'],
  ]) {
    await place.ok(`transit keys create ${name} --type ${type}`);
  }
  socket = (await statusOf(place)).ssh;
  client = await SshAgentClient.connect(socket);
});

afterAll(() => {
  client.close();
  leave(place);
});

/** What ssh-keygen has signed for a file. */
const message = (namespace = 'file'): Buffer =>
  Buffer.concat([
    Buffer.from('SSHSIG'),
    ...[namespace, '', 'sha512'].map((text) => sshString(text)),
    sshString(createHash('sha512').update('hello').digest()),
  ]);

const blobOf = async (name: string): Promise<Buffer> => {
  const found = (await client.list()).find(({ comment }) => comment === name);
  if (found === undefined) throw new Error(`${name} is not offered`);
  return found.blob;
};

const publicPem = (name: string): Promise<string> => place.ok(`transit keys public ${name} --format pem`);

describe('an agent of ssh', () => {
  it('offers nothing by itself', async () => {
    expect(await client.list()).toEqual([]);
    expect(await place.json('agent list')).toEqual({ offers: [] });
    const { stdout, stderr } = await typedAt(place, 'agent list');
    expect(`${stdout}${stderr}`).toContain('No keys are offered. Offer one: coffer agent offer NAME --ssh\n');
  });

  it('offers the keys that were named, in that order, and only those that SSH has', async () => {
    for (const name of ['laptop', 'p256', 'p521', 'rsa']) await place.ok(`agent offer ${name} --ssh`);
    expect(await place.refused('agent offer app --ssh', 2)).toContain(
      'SSH does not support keys of type aes256-gcm96',
    );
    expect((await client.list()).map(({ comment }) => comment)).toEqual(['laptop', 'p256', 'p521', 'rsa']);
    for (const { blob, comment } of await client.list()) {
      const line = await place.ok(`transit keys public ${comment} --format ssh`);
      expect(line.split(' ')[1]).toBe(blob.toString('base64'));
    }
  });

  it.each([
    { name: 'laptop', flags: 0, algorithm: 'ssh-ed25519' },
    { name: 'p256', flags: 0, algorithm: 'ecdsa-sha2-nistp256', hash: 'sha256', width: 32 },
    { name: 'p521', flags: 0, algorithm: 'ecdsa-sha2-nistp521', hash: 'sha512', width: 66 },
    { name: 'rsa', flags: RSA_SHA2_256, algorithm: 'rsa-sha2-256', hash: 'sha256' },
    { name: 'rsa', flags: RSA_SHA2_512, algorithm: 'rsa-sha2-512', hash: 'sha512' },
  ])('signs with $name by $algorithm', async ({ name, flags, algorithm, hash, width }) => {
    const blob = await blobOf(name);
    const key = createPublicKey(await publicPem(name));
    for (const data of [login(blob), message()]) {
      const signed = await client.sign(blob, data, flags);
      expect(signed?.algorithm).toBe(algorithm);
      const bytes = signed?.bytes ?? Buffer.alloc(0);
      const raw = width === undefined ? bytes : joined(bytes, width);
      expect(verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, raw)).toBe(true);
    }
  });

  it('refuses what it must not sign', async () => {
    const blob = await blobOf('laptop');
    const rsa = await blobOf('rsa');
    const p256 = await blobOf('p256');
    expect(await client.sign(rsa, login(rsa), 0)).toBeUndefined();
    expect(await client.sign(blob, Buffer.from('anything'))).toBeUndefined();
    expect(await client.sign(blob, login(p256))).toBeUndefined();
    expect(await client.sign(Buffer.from('no key'), login(blob))).toBeUndefined();
    expect(await client.sign(blob, login(blob))).toBeDefined();
  });

  it('says in the audit trail which door used which version of which key', () => {
    const records = readFileSync(place.file('audit.log'), 'utf8').trim().split('\n');
    const found = records
      .map((line) => JSON.parse(line))
      .filter(
        ({ auth, request }) => auth.display_name === 'door/ssh' && request.path.includes('sign/laptop'),
      );
    expect(found.length).toBeGreaterThan(0);
    expect(found[0].request.data.key_version).toBe(1);
    expect(found[0].response.status).toBe(200);
    expect(found[0].auth.policies).toEqual(['door/ssh']);
  });

  it('takes the uses that were named', async () => {
    await place.ok('agent offer laptop --ssh --use sign');
    const blob = await blobOf('laptop');
    expect(await client.sign(blob, login(blob))).toBeUndefined();
    expect(await client.sign(blob, message())).toBeDefined();
    await place.ok('agent offer laptop --ssh --use login --use any');
    expect(await client.sign(blob, login(blob))).toBeDefined();
    expect(await client.sign(blob, Buffer.from('anything'))).toBeDefined();
    await place.ok('agent offer laptop --ssh');
    expect(await place.refused('agent offer laptop --ssh --use encrypt', 2)).toContain(
      'unknown use "encrypt" for --ssh',
    );
  });

  it('refuses to be changed from outside', async () => {
    for (const type of [1, 9, 17, 18, 19, 20, 21, 25, 26, 200]) {
      expect((await client.ask(type, sshString('x'))).type).toBe(FAILURE);
    }
    expect((await client.ask(27, sshString('unknown@example.org'))).type).toBe(FAILURE);
    expect((await client.list()).length).toBe(4);
  });

  it('closes with a passphrase, and opens with the same', async () => {
    const blob = await blobOf('laptop');
    expect((await client.ask(23, sshString('x'))).type).toBe(FAILURE);
    expect((await client.ask(22, sshString('secret'))).type).toBe(SUCCESS);
    const other = await SshAgentClient.connect(socket);
    expect(await other.list()).toEqual([]);
    expect(await other.sign(blob, login(blob))).toBeUndefined();
    other.close();
    expect((await client.ask(22, sshString('secret'))).type).toBe(FAILURE);
    expect((await client.ask(23, sshString('wrong'))).type).toBe(FAILURE);
    expect((await client.ask(23, sshString('secret'))).type).toBe(SUCCESS);
    expect(await client.sign(blob, login(blob))).toBeDefined();
  });

  it('ends a connection that sends what can be no message, and goes on', async () => {
    for (const bytes of ['00000000', 'ffffffff', '00040001']) {
      const broken = await SshAgentClient.connect(socket);
      broken.raw(Buffer.from(bytes, 'hex'));
      expect(await broken.answer()).toBeUndefined();
    }
    expect((await client.ask(13, Buffer.from('0000'))).type).toBe(FAILURE);
    expect((await client.list()).length).toBe(4);
  });

  it('answers requests in their order, however they come in', async () => {
    const list = Buffer.from('000000010b', 'hex');
    const unknown = Buffer.from('00000001c8', 'hex');
    for (const byte of Buffer.concat([list, unknown, list])) client.raw(Buffer.from([byte]));
    const types = [await client.answer(), await client.answer(), await client.answer()];
    expect(types.map((answer) => answer?.[0])).toEqual([12, FAILURE, 12]);
  });

  it('offers every version that may still sign, and none that was withdrawn, trimmed or deleted', async () => {
    const first = await blobOf('laptop');
    await place.ok('transit keys rotate laptop --force');
    expect((await client.list()).map(({ comment }) => comment)).toEqual([
      ...['laptop', 'p256', 'p521', 'rsa'],
      'laptop@v1',
    ]);
    expect(await client.sign(first, login(first))).toBeDefined();
    await place.ok('transit keys config laptop --min-encryption-version 2');
    expect(await client.sign(first, login(first))).toBeUndefined();
    expect((await client.list()).length).toBe(4);
    const p521 = await blobOf('p521');
    await place.ok('agent withdraw p521');
    expect(await client.sign(p521, message())).toBeUndefined();
    expect(await place.refused('agent withdraw p521', 3)).toContain('not offered');
    const p256 = await blobOf('p256');
    await place.ok('transit keys config p256 --deletion-allowed --yes');
    await place.ok('transit keys delete p256 --yes');
    expect(await client.sign(p256, message())).toBeUndefined();
    await place.ok('transit keys create p256 --type ecdsa-p256');
    expect(await client.sign(p256, message())).toBeUndefined();
    expect((await client.list()).map(({ comment }) => comment)).toEqual(['laptop', 'p256', 'rsa']);
  });

  it('refuses a session that the host has not signed', async () => {
    const { type } = await client.ask(
      27,
      ...['session-bind@openssh.com', 'no key', 'a session', 'no signature'].map((text) => sshString(text)),
      Buffer.from([0]),
    );
    expect(type).toBe(EXTENSION_FAILURE);
  });

  it('is gone with the lock', async () => {
    await place.ok('lock');
    expect(await client.answer()).toBeUndefined();
    expect(existsSync(socket)).toBe(false);
    expect((await place.run('agent status -q')).exitCode).toBe(LOCKED);
  });
});

/** The two numbers of an ECDSA signature of SSH, padded and joined. */
function joined(bytes: Buffer, width: number): Buffer {
  const first = bytes.readUInt32BE(0);
  const numbers = [bytes.subarray(4, 4 + first), bytes.subarray(8 + first)];
  return Buffer.concat(
    numbers.map((number) => {
      const digits = number[0] === 0 ? number.subarray(1) : number;
      return Buffer.concat([Buffer.alloc(width - digits.length), digits]);
    }),
  );
}
