import { constants, publicEncrypt, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { RETURN } from '../../../../src/doors/agent/pkcs11/return-values.ts';
import { MECHANISM as M } from '../../../../src/doors/agent/pkcs11/rpc/wire.ts';
import { DATA, doorWorld, key, PUBLIC } from './door-world.ts';
import { ROOM } from './rpc-client.ts';

const { desk, program, publicKey } = await doorWorld();

const OAEP = { hash: M.sha256, maskGeneration: 2, source: 0, label: Buffer.alloc(0) };
const encrypted = async (name: string): Promise<Buffer> =>
  publicEncrypt(
    { key: await publicKey(name), padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
    DATA,
  );

describe('encryption with RSA', () => {
  it('is read, by OAEP with SHA-256', async () => {
    const there = await program();
    const { client, session } = there;
    const ciphertext = await encrypted('pay');
    const begin = async () =>
      client.ok('decryptInit', [session, { type: M.rsaOaep, oaep: OAEP }, await key(there, 'pay@v1')]);
    await begin();
    expect(await client.ok('decrypt', [session, ciphertext, 0])).toEqual([190]);
    expect(await client.ok('decrypt', [session, ciphertext, 5])).toEqual([DATA.length]);
    expect(await client.ok('decrypt', [session, ciphertext, ROOM])).toEqual([DATA]);
    expect(await client.call('decrypt', [session, ciphertext, ROOM])).toBe(RETURN.operationNotInitialized);
    await begin();
    expect(await client.call('decrypt', [session, randomBytes(256), ROOM])).toBe(RETURN.encryptedDataInvalid);
    await begin();
    expect(await client.call('decrypt', [session, ciphertext.subarray(1), ROOM])).toBe(
      RETURN.encryptedDataLengthRange,
    );
  });

  it('is not read for a session that was closed meanwhile', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    desk.offer('pay', ['decrypt'], true);
    const there = await program();
    const { client, session } = there;
    await client.ok('decryptInit', [session, { type: M.rsaOaep, oaep: OAEP }, await key(there, 'pay@v1')]);
    desk.thinking = promise;
    const decrypted = client.call('decrypt', [session, await encrypted('pay'), ROOM]);
    await client.ok('closeSession', [session]);
    resolve();
    expect(await decrypted).toBe(RETURN.sessionClosed);
  });

  it('is made with the public key, also of nothing', async () => {
    const there = await program();
    const { client, session } = there;
    for (const data of [DATA, Buffer.alloc(0)]) {
      await client.ok('encryptInit', [
        session,
        { type: M.rsaOaep, oaep: OAEP },
        await key(there, 'pay@v1', PUBLIC),
      ]);
      const [ciphertext] = await client.ok('encrypt', [session, data, ROOM]);
      await client.ok('decryptInit', [session, { type: M.rsaOaep, oaep: OAEP }, await key(there, 'pay@v1')]);
      expect(await client.ok('decrypt', [session, ciphertext as Buffer, ROOM])).toEqual([data]);
    }
  });

  it('is made of as much as fits the key, and waits where there is no room', async () => {
    const there = await program();
    const { client, session } = there;
    const half = await key(there, 'pay@v1', PUBLIC);
    const begin = () => client.ok('encryptInit', [session, { type: M.rsaOaep, oaep: OAEP }, half]);
    await begin();
    for (const room of [0, 255]) expect(await client.ok('encrypt', [session, DATA, room])).toEqual([256]);
    expect(await client.ok('encrypt', [session, Buffer.alloc(190), 256])).toEqual([expect.any(Buffer)]);
    expect(await client.call('encrypt', [session, DATA, 256])).toBe(RETURN.operationNotInitialized);
    await begin();
    expect(await client.call('encrypt', [session, Buffer.alloc(191), ROOM])).toBe(RETURN.dataLengthRange);
  });

  it('is for keys that are offered for it, and for keys and mechanisms of its kind', async () => {
    const there = await program();
    const { client, session } = there;
    const begun = async (name: string, type: number) =>
      client.call('decryptInit', [session, { type, oaep: OAEP }, await key(there, name)]);
    expect(await begun('web@v2', M.rsaOaep)).toBe(RETURN.keyTypeInconsistent);
    expect(await begun('pay@v1', M.rsaPkcs)).toBe(RETURN.mechanismInvalid);
    desk.offer('pay', ['sign']);
    expect(await begun('pay@v1', M.rsaOaep)).toBe(RETURN.keyFunctionNotPermitted);
  });

  it.each([
    ['another hash', { ...OAEP, hash: M.sha1, maskGeneration: 1 }],
    ['a label', { ...OAEP, source: 1, label: Buffer.from('x') }],
  ])('is refused with %s, which the keys of the store do not have', async (_what, oaep) => {
    const there = await program();
    const { client, session } = there;
    const begun = await client.call('decryptInit', [
      session,
      { type: M.rsaOaep, oaep },
      await key(there, 'pay@v1'),
    ]);
    expect(begun).toBe(RETURN.mechanismParameterInvalid);
  });
});
