import { createHash, createPublicKey, verify } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RETURN } from '../../src/doors/agent/pkcs11/return-values.ts';
import { ATTRIBUTE as A } from '../../src/doors/agent/pkcs11/rpc/attributes.ts';
import { MECHANISM as M } from '../../src/doors/agent/pkcs11/rpc/wire.ts';
import { find, openSession, ROOM, RpcClient } from '../doors/agent/pkcs11/rpc-client.ts';
import { freePort } from '../servers/ports.ts';
import { type ServerProcess, startServerProcess } from '../servers/server-process.ts';
import { KEY, leave, placeForAgents } from './agent-target.ts';
import { binary, type Place } from './harness.ts';

const DIGEST = createHash('sha256').update('hello').digest();
const PRIVATE = { type: A.class, value: 3 };

describe('a PKCS #11 token of the keys of a server', () => {
  let place: Place;
  let owner: Place;
  let server: ServerProcess;
  let agent: ServerProcess;
  let client: RpcClient;
  let session: number;

  const serve = (listen: string): Promise<ServerProcess> =>
    startServerProcess([binary, 'serve', '--listen', listen, '-q'], { environment: owner.environment() });

  beforeAll(async () => {
    place = placeForAgents();
    owner = place.with(KEY);
    await owner.ok('init');
    await owner.ok('transit keys create web --type ecdsa-p256');
    await owner.ok('transit keys create other --type ecdsa-p256');
    const policy =
      'path "transit/keys/web" { capabilities = ["read"] }\npath "transit/sign/web" { capabilities = ["update"] }';
    await owner.ok('policy write web', { input: policy });
    server = await serve(`127.0.0.1:${await freePort()}`);
    const environment = place.environment({
      COFFER_STORE: undefined,
      COFFER_TOKEN: await owner.ok('token create --policy web'),
    });
    const parameters = ['agent', 'run', '--address', server.address, '--pkcs11', 'web', '--pkcs11', 'other'];
    agent = await startServerProcess([binary, ...parameters], { environment });
    client = await RpcClient.initialized(connect(agent.address.trim().replace(/^unix:/, '')));
    session = await openSession(client);
  });

  afterAll(async () => {
    client.close();
    await agent.stop();
    await server.stop();
    leave(place);
  });

  async function sign() {
    const [handle = 0] = await find(client, session, [PRIVATE]);
    await client.ok('signInit', [session, { type: M.ecdsa }, handle]);
    return client.call('sign', [session, DIGEST, ROOM]);
  }

  it('has what was named, as far as the token may use it', async () => {
    expect(await find(client, session, [PRIVATE])).toHaveLength(1);
    const [signature] = (await sign()) as readonly [Buffer];
    const key = createPublicKey(await owner.ok('transit keys public web --format pem'));
    expect(verify('sha256', Buffer.from('hello'), { key, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
  });

  it('refuses while the server is away, also in the middle of something, and goes on when it is there again', async () => {
    const [handle = 0] = await find(client, session, [PRIVATE]);
    await client.ok('signInit', [session, { type: M.ecdsa }, handle]);
    await server.stop('SIGKILL');
    expect(await client.call('sign', [session, DIGEST, ROOM])).toBe(RETURN.deviceError);
    expect(await client.call('findObjectsInit', [session, []])).toBe(RETURN.deviceError);
    server = await serve(new URL(server.address).host);
    expect(await sign()).toHaveLength(1);
  });
});
