import { execFileSync } from 'node:child_process';
import { createHash, createPublicKey, verify, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RETURN } from '../../src/doors/agent/pkcs11/return-values.ts';
import { ATTRIBUTE as A } from '../../src/doors/agent/pkcs11/rpc/attributes.ts';
import { MECHANISM as M } from '../../src/doors/agent/pkcs11/rpc/wire.ts';
import { attribute, find, openSession, ROOM, RpcClient } from '../doors/agent/pkcs11/rpc-client.ts';
import { hasProcessFiles } from '../hygiene/processes.ts';
import { KEY, leave, placeForAgents, statusOf } from './agent-target.ts';
import type { Place } from './harness.ts';

let place: Place;
let owner: Place;
let socket: string;

const PRIVATE = { type: A.class, value: 3 };
const DIGEST = createHash('sha256').update('hello').digest();

beforeAll(async () => {
  place = placeForAgents();
  owner = place.with(KEY);
  await owner.ok('init');
  await owner.ok(`unlock --audit-log ${place.file('audit.log')}`);
  for (const [name, type] of [
    ['web', 'ecdsa-p256'],
    ['pay', 'rsa-2048'],
    ['app', 'aes256-gcm96'],
  ]) {
    await place.ok(`transit keys create ${name} --type ${type}`);
  }
  socket = (await statusOf(place)).pkcs11;
});

afterAll(() => leave(place));

async function program(): Promise<{ client: RpcClient; session: number }> {
  const connection: Socket = connect(socket);
  const client = await RpcClient.initialized(connection);
  return { client, session: await openSession(client) };
}

async function sign(client: RpcClient, session: number, handle: number) {
  await client.ok('signInit', [session, { type: M.ecdsa }, handle]);
  return client.call('sign', [session, DIGEST, ROOM]);
}

const keyOf = (name: string) => ({ type: A.label, value: Buffer.from(name) });

describe('an agent as a PKCS #11 token', () => {
  it('offers the keys that were named, and only those that p11-kit can use', async () => {
    const { client, session } = await program();
    expect(await find(client, session, [])).toEqual([]);
    for (const name of ['web', 'pay']) await place.ok(`agent offer ${name} --pkcs11`);
    expect(await place.refused('agent offer app --pkcs11', 2)).toContain(
      'p11-kit does not support keys of type aes256-gcm96',
    );
    expect(await find(client, session, [PRIVATE])).toHaveLength(2);
    client.close();
  });

  it('signs with a key of the store, and records who did, with which version', async () => {
    const { client, session } = await program();
    const [handle = 0] = await find(client, session, [PRIVATE, keyOf('web')]);
    const signed = await sign(client, session, handle);
    const [signature] = signed as readonly [Buffer];
    const key = createPublicKey(await place.ok('transit keys public web --format pem'));
    expect(verify('sha256', Buffer.from('hello'), { key, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
    const records = readFileSync(place.file('audit.log'), 'utf8').trim().split('\n');
    const record = records
      .map((line) => JSON.parse(line))
      .findLast(({ request }) => request.path === 'transit/sign/web');
    expect(record).toMatchObject({
      auth: { display_name: 'door/pkcs11', policies: ['door/pkcs11'] },
      request: { data: { key_version: 1 } },
    });
    client.close();
  });

  it('has the certificates of its keys, and of whoever signed them', async () => {
    const ca = place.file('ca.pem');
    const openssl = (line: string, input = ''): string =>
      execFileSync('openssl', line.split(' '), {
        input,
        encoding: 'utf8',
        stdio: ['pipe', 'pipe', 'ignore'],
      });
    const caKey = place.file('ca.key');
    openssl(`req -x509 -newkey rsa:2048 -nodes -keyout ${caKey} -out ${ca} -subj /CN=Authority -days 2`);
    const request = await place.ok('transit keys csr web');
    const leaf = openssl(`x509 -req -CA ${ca} -CAkey ${caKey} -days 1 -set_serial 77`, request);
    await place.ok('transit keys set-certificate web', { input: leaf + readFileSync(ca, 'utf8') });
    const { client, session } = await program();
    const [first = 0, second = 0, ...more] = await find(client, session, [{ type: A.class, value: 1 }]);
    const shown = (handle: number, type: number) => attribute(client, session, handle, type);
    const found = new X509Certificate(leaf);
    expect(more).toEqual([]);
    expect(await shown(first, A.value)).toEqual(found.raw);
    expect(await shown(first, A.id)).toEqual(Buffer.from('web@v1'));
    expect(await shown(first, A.label)).toEqual(Buffer.from('web'));
    expect(await shown(first, A.serialNumber)).toEqual(Buffer.from([2, 1, 77]));
    expect(await shown(first, A.endDate)).toEqual(
      Buffer.from(found.validToDate.toISOString().slice(0, 10).replaceAll('-', '')),
    );
    expect(await shown(second, A.subject)).toEqual(await shown(first, A.issuer));
    expect(await shown(second, A.label)).toEqual(Buffer.from('Authority'));
    client.close();
  });

  it('does not sign with what was offered for another use, or is withdrawn', async () => {
    const { client, session } = await program();
    const [handle = 0] = await find(client, session, [PRIVATE, keyOf('web')]);
    await client.ok('signInit', [session, { type: M.ecdsa }, handle]);
    await place.ok('agent offer web --pkcs11 --use decrypt');
    expect(await client.call('sign', [session, DIGEST, ROOM])).toBe(RETURN.keyFunctionNotPermitted);
    await place.ok('agent offer web --pkcs11');
    expect(await sign(client, session, handle)).toHaveLength(1);
    await place.ok('agent withdraw web');
    expect(await sign(client, session, handle)).toBe(RETURN.keyFunctionNotPermitted);
    expect(await find(client, session, [PRIVATE, keyOf('web')])).toEqual([]);
    await place.ok('agent offer web --pkcs11');
    client.close();
  });

  it('keeps nothing of programs that die in the middle of something', async () => {
    const before = (await statusOf(place)).uses;
    for (let count = 0; count < 50; count++) {
      const { client, session } = await program();
      const [handle = 0] = await find(client, session, [PRIVATE, keyOf('web')]);
      await client.ok('signInit', [session, { type: M.ecdsa }, handle]);
      void client.call('sign', [session, DIGEST, ROOM]);
      client.close();
    }
    const { client, session } = await program();
    const [handle = 0] = await find(client, session, [PRIVATE, keyOf('web')]);
    expect(await sign(client, session, handle)).toHaveLength(1);
    expect((await statusOf(place)).uses).toBeGreaterThan(before);
    client.close();
  });

  it.runIf(hasProcessFiles)('serves two hundred programs at once, in less than 120 MiB', async () => {
    const programs = await Promise.all(Array.from({ length: 200 }, program));
    for (let round = 0; round < 3; round++) {
      const signed = await Promise.all(
        programs.map(async ({ client, session }) => {
          const [handle = 0] = await find(client, session, [PRIVATE, keyOf('web')]);
          return sign(client, session, handle);
        }),
      );
      expect(signed.filter((answer) => typeof answer === 'number')).toEqual([]);
    }
    const { pid } = await statusOf(place);
    const resident = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    expect(resident).toBeLessThan(120 * 1024);
    for (const { client } of programs) client.close();
  });

  it('closes the connections of all programs when it locks', async () => {
    const { client, session } = await program();
    await place.ok('lock');
    expect(await client.call('getSessionInfo', [session])).toBe(-1);
  });
});
