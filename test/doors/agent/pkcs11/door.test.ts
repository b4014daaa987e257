import { createHash, randomBytes } from 'node:crypto';
import { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { RETURN } from '../../../../src/doors/agent/pkcs11/return-values.ts';
import { ATTRIBUTE as A } from '../../../../src/doors/agent/pkcs11/rpc/attributes.ts';
import { writeFrame } from '../../../../src/doors/agent/pkcs11/rpc/frames.ts';
import { MECHANISM as M } from '../../../../src/doors/agent/pkcs11/rpc/wire.ts';
import { DATA, doorWorld, id, key, PKCS11_HASHES, PRIVATE, PUBLIC, sha256 } from './door-world.ts';
import { writeCall } from './rpc/client-codec.ts';
import { attribute, find, HANDSHAKE, openSession, ROOM, RpcClient } from './rpc-client.ts';

const { desk, take, connection, program, publicKey } = await doorWorld();

describe('the objects of the token', () => {
  it('are what is offered, each version with a private and a public key, the latest first', async () => {
    const { client, session } = await program();
    const names = async (kind: typeof PRIVATE) =>
      Promise.all(
        (await find(client, session, [kind])).map(async (handle) => [
          String(await attribute(client, session, handle, A.label)),
          String(await attribute(client, session, handle, A.id)),
        ]),
      );
    const expected = [
      ['web', 'web@v2'],
      ['web@v1', 'web@v1'],
      ['big', 'big@v1'],
      ['pay', 'pay@v1'],
    ];
    expect(await names(PRIVATE)).toEqual(expected);
    expect(await names(PUBLIC)).toEqual(expected);
  });

  it('show what is public on both halves, and nothing that is not', async () => {
    const there = await program();
    const { client, session } = there;
    for (const kind of [PRIVATE, PUBLIC]) {
      const handle = await key(there, 'pay@v1', kind);
      const { n = '' } = (await publicKey('pay')).export({ format: 'jwk' });
      expect(await attribute(client, session, handle, A.modulus)).toEqual(Buffer.from(n, 'base64url'));
      expect(await attribute(client, session, handle, A.modulusBits)).toBe(2048);
    }
    const secrets = [A.privateExponent, A.prime1, A.value, 0x7777, A.sensitive].map((type) => ({
      type,
      room: ROOM,
    }));
    const [values, result] = await client.ok('getAttributeValue', [
      session,
      await key(there, 'pay@v1'),
      secrets,
    ]);
    expect(values.map(({ value }) => value)).toEqual([undefined, undefined, undefined, undefined, true]);
    expect(result).toBe(RETURN.attributeSensitive);
    const [, missing] = await client.ok('getAttributeValue', [
      session,
      await key(there, 'pay@v1', PUBLIC),
      [{ type: A.privateExponent, room: ROOM }],
    ]);
    expect(missing).toBe(RETURN.attributeTypeInvalid);
  });

  it('have their attributes written so that a client can read them, one by one and all at once', async () => {
    const { client, session } = await program();
    const types = Object.values(A);
    for (const handle of await find(client, session, [])) {
      const [all] = await client.ok('getAttributeValue', [
        session,
        handle,
        types.map((type) => ({ type, room: ROOM })),
      ]);
      for (const { type, value } of all)
        expect(await attribute(client, session, handle, type)).toEqual(value);
    }
  });

  it('are found by all attributes of a template, or not at all', async () => {
    const { client, session } = await program();
    const label = { type: A.label, value: Buffer.from('web') };
    expect(await find(client, session, [PRIVATE, label])).toHaveLength(1);
    expect(await find(client, session, [PRIVATE, label, { type: A.sign, value: false }])).toEqual([]);
    expect(await find(client, session, [{ type: A.token, value: false }])).toEqual([]);
    expect(await find(client, session, [{ type: A.ecParams, value: undefined }])).toEqual([]);
  });

  it('keep their handles when a key rotates, and get others when they come back', async () => {
    await desk.own('transit keys create', { name: 'turning', type: 'ecdsa-p256' });
    desk.offer('turning');
    const there = await program();
    const before = await key(there, 'turning@v1');
    await desk.own('transit keys rotate', { name: 'turning', force: true });
    expect(await key(there, 'turning@v1')).toBe(before);
    desk.withdraw('turning');
    const { client, session } = there;
    expect(await find(client, session, [PRIVATE, id('turning@v1')])).toEqual([]);
    expect(await client.call('getObjectSize', [session, before])).toBe(RETURN.objectHandleInvalid);
    desk.offer('turning');
    expect(await key(there, 'turning@v1')).not.toBe(before);
    desk.withdraw('turning');
  });

  it('are not changed, copied or removed through it', async () => {
    const there = await program();
    const { client, session } = there;
    const handle = await key(there, 'web@v2');
    expect(await client.call('destroyObject', [session, handle])).toBe(RETURN.tokenWriteProtected);
    expect(await client.call('createObject', [session, []])).toBe(RETURN.tokenWriteProtected);
    expect(await client.call('copyObject', [session, handle, []])).toBe(RETURN.tokenWriteProtected);
    expect(await client.call('setAttributeValue', [session, handle, []])).toBe(RETURN.tokenWriteProtected);
  });
});

describe('a program', () => {
  it('is told the version that all releases speak, whatever its own', async () => {
    for (const version of [0, 1, 2, 255]) {
      const { client } = await program(version);
      expect(client.agreed).toBe(0);
    }
  });

  it('must say first what it speaks', async () => {
    const client = new RpcClient(connection());
    expect(await client.call('getSlotList', [1, 10])).toBe(RETURN.notInitialized);
    expect(await client.call('initialize', [Buffer.from('hello'), 0, undefined])).toBe(RETURN.argumentsBad);
    await client.ok('initialize', [HANDSHAKE, 0, undefined]);
    expect(await client.call('initialize', [HANDSHAKE, 0, undefined])).toBe(RETURN.alreadyInitialized);
  });

  it('does one thing of a kind at a time in a session', async () => {
    const there = await program();
    const { client, session } = there;
    const handle = await key(there, 'web@v2');
    const begin = () => client.call('signInit', [session, { type: M.ecdsa }, handle]);
    expect(await begin()).toEqual([]);
    expect(await begin()).toBe(RETURN.operationActive);
    await client.ok('signInit', [session, undefined, 0]);
    expect(await begin()).toEqual([]);
    await client.ok('signUpdate', [session, sha256(DATA)]);
    expect(await client.call('sign', [session, DATA, ROOM])).toBe(RETURN.operationActive);
    await client.ok('findObjectsInit', [session, []]);
    expect(await client.call('findObjectsInit', [session, []])).toBe(RETURN.operationActive);
    expect(await client.call('digestFinal', [session, ROOM])).toBe(RETURN.operationNotInitialized);
  });

  it('has sessions that nobody else has, so many and no more', async () => {
    const { client, session } = await program();
    const other = await program();
    expect(await client.call('getSessionInfo', [session + 1])).toBe(RETURN.sessionHandleInvalid);
    await other.client.ok('closeSession', [other.session]);
    expect(await client.ok('getSessionInfo', [session])).toEqual([1, 0, 4, 0]);
    let refused: unknown = 0;
    for (let count = 0; count < 2000 && refused === 0; count++) {
      const opened = await client.call('openSession', [1, 4]);
      if (typeof opened === 'number') refused = opened;
    }
    expect(refused).toBe(RETURN.sessionCount);
    await client.ok('closeAllSessions', [1]);
    expect(await client.call('getSessionInfo', [session])).toBe(RETURN.sessionHandleInvalid);
    expect(await openSession(client)).toBeGreaterThan(session);
  });

  it('logs in with whatever PIN, which changes nothing', async () => {
    const { client, session } = await program();
    expect(await client.call('logout', [session])).toBe(RETURN.userNotLoggedIn);
    await client.ok('login', [session, 1, Buffer.from('0000')]);
    expect(await client.ok('getSessionInfo', [session])).toEqual([1, 1, 4, 0]);
    expect(await client.call('login', [session, 1, undefined])).toBe(RETURN.userAlreadyLoggedIn);
    expect(await client.call('login', [session, 0, undefined])).toBe(RETURN.userTypeInvalid);
    await client.ok('logout', [session]);
  });

  it.each(PKCS11_HASHES)(
    'has digests made with $node, in one piece and in several',
    async ({ node, digest }) => {
      const { client, session } = await program();
      const expected = createHash(node).update(DATA).digest();
      await client.ok('digestInit', [session, { type: digest }]);
      for (const room of [0, expected.length - 1])
        expect(await client.ok('digest', [session, DATA, room])).toEqual([expected.length]);
      expect(await client.ok('digest', [session, DATA, expected.length])).toEqual([expected]);
      await client.ok('digestInit', [session, { type: digest }]);
      for (const byte of DATA) await client.ok('digestUpdate', [session, Buffer.from([byte])]);
      expect(await client.ok('digestFinal', [session, ROOM])).toEqual([expected]);
    },
  );

  it('is told of each mechanism that it may use, and what for', async () => {
    const { client } = await program();
    const [types] = await client.ok('getMechanismList', [1, 100]);
    const uses: string[] = [];
    for (const type of types as readonly number[]) {
      const [, , flags] = await client.ok('getMechanismInfo', [1, type]);
      uses.push(`${type} ${flags & 0xffff}`);
    }
    const [signs, digests, encrypts] = [0x2800, 0x400, 0x300];
    const signing = PKCS11_HASHES.flatMap(({ ecdsa, rsa, pss }) => [ecdsa, rsa, pss]);
    const expected = [
      ...[...signing, M.ecdsa, M.rsaPkcs, M.rsaPss].map((type) => `${type} ${signs}`),
      ...PKCS11_HASHES.map(({ digest }) => `${digest} ${digests}`),
      `${M.rsaOaep} ${encrypts}`,
    ];
    expect(uses.toSorted()).toEqual(expected.toSorted());
  });

  it('has random bytes made', async () => {
    const { client, session } = await program();
    const [bytes] = await client.ok('generateRandom', [session, 1000]);
    expect(new Set(bytes as Buffer).size).toBeGreaterThan(100);
    expect(await client.ok('generateRandom', [session, 0])).toEqual([Buffer.alloc(0)]);
    expect(await client.call('generateRandom', [session, 0x7fff_ffff])).toBe(RETURN.argumentsBad);
  });

  it('is told of mechanisms and of the slot as much as it has room for, or how many there are', async () => {
    const { client } = await program();
    const [all] = await client.ok('getMechanismList', [1, ROOM]);
    const { length } = all as readonly number[];
    expect(length).toBeGreaterThan(20);
    expect(await client.ok('getMechanismList', [1, length])).toEqual([all]);
    for (const room of [0, length - 1]) {
      expect(await client.ok('getMechanismList', [1, room])).toEqual([length]);
    }
    expect(await client.ok('getSlotList', [1, 0])).toEqual([1]);
    expect(await client.ok('getSlotList', [1, 1])).toEqual([[1]]);
    for (const ask of [
      () => client.call('getSlotInfo', [2]),
      () => client.call('getTokenInfo', [2]),
      () => client.call('getMechanismList', [2, ROOM]),
      () => client.call('getMechanismInfo', [2, M.ecdsa]),
      () => client.call('openSession', [2, 4]),
      () => client.call('closeAllSessions', [2]),
    ]) {
      expect(await ask()).toBe(RETURN.slotIdInvalid);
    }
  });

  it('has sessions of the kind that it asks for, and none of a kind that is no more', async () => {
    const { client } = await program();
    const stateOf = async (flags: number) => {
      const [session] = await client.ok('openSession', [1, flags]);
      return (await client.ok('getSessionInfo', [session as number])).slice(1, 3);
    };
    expect(await client.call('openSession', [1, 2])).toBe(RETURN.sessionParallelNotSupported);
    expect([await stateOf(4), await stateOf(6)]).toEqual([
      [0, 4],
      [2, 6],
    ]);
    const [session] = await client.ok('openSession', [1, 4]);
    await client.ok('login', [session as number, 1, Buffer.from('1234')]);
    expect([await stateOf(4), await stateOf(6)]).toEqual([
      [1, 4],
      [3, 6],
    ]);
  });

  it('is told what this is before it says what it speaks, and nothing else', async () => {
    const client = new RpcClient(connection());
    expect(await client.call('getInfo', [])).toHaveLength(5);
    expect(await client.call('getSlotInfo', [1])).toBe(RETURN.notInitialized);
    expect(await client.call('initialize', [undefined, 0, Buffer.alloc(1)])).toBe(RETURN.argumentsBad);
    expect(await client.call('initialize', [HANDSHAKE.subarray(1), 0, Buffer.alloc(1)])).toBe(
      RETURN.argumentsBad,
    );
    expect(await client.call('getSlotInfo', [1])).toBe(RETURN.notInitialized);
    await client.ok('initialize', [HANDSHAKE, 0, Buffer.alloc(1)]);
    expect(await client.call('initialize', [HANDSHAKE, 0, Buffer.alloc(1)])).toBe(RETURN.alreadyInitialized);
    client.close();
  });

  it('gets answers to calls of many sessions at once', async () => {
    const there = await program();
    const { client } = there;
    const handle = await key(there, 'web@v2');
    const signed = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const session = await openSession(client);
        await client.ok('signInit', [session, { type: M.ecdsa }, handle]);
        return client.ok('sign', [session, sha256(DATA), ROOM]);
      }),
    );
    expect(signed.every(([signature]) => (signature as Buffer).length === 64)).toBe(true);
  });

  it('is answered where its message is too large, or none at all', async () => {
    const { client, session } = await program();
    expect(await client.call('digestInit', [session, { type: M.sha256 }])).toEqual([]);
    expect(await client.call('digestUpdate', [session, Buffer.alloc(2 ** 20)])).toBe(RETURN.dataLengthRange);
    expect(await client.call('digestUpdate', [session, Buffer.alloc(2 ** 19)])).toEqual([]);
    for (const junk of [Buffer.alloc(0), Buffer.alloc(3), randomBytes(100)]) {
      expect((await client.send(junk))?.subarray(0, 4)).toEqual(Buffer.alloc(4));
    }
  });

  it('is taken call by call: others have their turn in between, and who does not read holds up itself alone', async () => {
    const [layout, calls] = ['flagged' as const, 200];
    const random = writeFrame(1, writeCall('generateRandom', [1, ROOM], layout));
    const stream = Buffer.concat([
      Buffer.from([2]),
      ...[
        writeCall('initialize', [HANDSHAKE, 0, undefined], layout),
        writeCall('openSession', [1, 4], layout),
      ].map((body) => writeFrame(1, body)),
      ...Array.from({ length: calls }, () => random),
    ]);
    for (const reads of [true, false]) {
      const held: (() => void)[] = [];
      let bytes = 0;
      const program = new Duplex({
        read: () => undefined,
        write(chunk: Buffer, _, done) {
          bytes += chunk.length;
          if (reads) done();
          else held.push(done);
        },
      });
      take(program);
      program.push(stream);
      await new Promise((resolve) => setImmediate(resolve));
      expect(bytes + program.writableLength).toBeLessThan(4 * ROOM);
      for (let turn = 0; turn < 10 * calls; turn++) await new Promise((resolve) => setImmediate(resolve));
      if (reads) expect(bytes).toBeGreaterThan(calls * ROOM);
      else expect(program.writableLength).toBeLessThan(4 * ROOM);
      for (let done = held.shift(); done !== undefined; done = held.shift()) {
        done();
        await new Promise((resolve) => setImmediate(resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(bytes).toBeGreaterThan(calls * ROOM);
      program.destroy();
    }
  });

  it('does not have a flood of values sent to it', async () => {
    const there = await program();
    const { client, session } = there;
    const many = Array.from({ length: 257 }, () => ({ type: A.modulus, room: ROOM }));
    const handle = await key(there, 'pay@v1');
    expect(await client.call('getAttributeValue', [session, handle, many])).toBe(RETURN.argumentsBad);
  });
});
