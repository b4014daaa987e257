import { constants, createHash, publicEncrypt, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { schemeOf } from '../../../../src/doors/agent/pkcs11/mechanisms.ts';
import { RETURN } from '../../../../src/doors/agent/pkcs11/return-values.ts';
import { MECHANISM as M, type Mechanism } from '../../../../src/doors/agent/pkcs11/rpc/wire.ts';
import { DATA, doorWorld, key, PKCS11_HASHES, PRIVATE, PUBLIC, sha256 } from './door-world.ts';
import { find, ROOM } from './rpc-client.ts';

const { desk, program, publicKey } = await doorWorld();

const PSS = { hash: M.sha256, maskGeneration: 2, saltBytes: 32 };
const OAEP = { hash: M.sha256, maskGeneration: 2, source: 0, label: Buffer.alloc(0) };

interface Way {
  readonly what: string;
  readonly name: string;
  readonly mechanism: Mechanism;
  /** The program brings the digest. */
  readonly isRaw?: true;
  readonly hash?: string;
  readonly padding?: object;
}

const ECDSA = { dsaEncoding: 'ieee-p1363' } as const;
/** What each hash is for: ECDSA, both paddings of RSA, and PSS of a digest that the program brings. */
const waysOf = ({ node: hash, bytes, ...types }: (typeof PKCS11_HASHES)[number]): readonly Way[] => {
  const pss = { hash: types.digest, maskGeneration: types.mask, saltBytes: bytes };
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: bytes };
  return [
    { what: `ECDSA with ${hash}`, name: 'big@v1', mechanism: { type: types.ecdsa }, hash, padding: ECDSA },
    { what: `RSA with ${hash}`, name: 'pay@v1', mechanism: { type: types.rsa }, hash },
    { what: `PSS with ${hash}`, name: 'pay@v1', mechanism: { type: types.pss, pss }, hash, padding },
    {
      what: `PSS over a digest of ${hash}`,
      name: 'pay@v1',
      mechanism: { type: M.rsaPss, pss },
      isRaw: true,
      hash,
      padding,
    },
  ];
};

const WAYS: readonly Way[] = [
  { what: 'ECDSA over a digest', name: 'web@v2', mechanism: { type: M.ecdsa }, isRaw: true, padding: ECDSA },
  {
    what: 'ECDSA of an older version',
    name: 'web@v1',
    mechanism: { type: M.ecdsa },
    isRaw: true,
    padding: ECDSA,
  },
  { what: 'ECDSA of a short curve', name: 'web@v2', mechanism: { type: M.ecdsaSha256 }, padding: ECDSA },
  ...PKCS11_HASHES.flatMap(waysOf),
];

describe('signatures', () => {
  it.each(WAYS)(
    'are made by $what, in one piece and in several',
    async ({ name, mechanism, isRaw, hash = 'sha256', padding = {} }) => {
      const there = await program(isRaw ? 0 : 2);
      const { client, session } = there;
      const input = isRaw ? createHash(hash).update(DATA).digest() : DATA;
      const [keyName = '', version] = name.split('@v');
      const verifier = { key: await publicKey(keyName, Number(version)), ...padding };
      const handle = await key(there, name);

      await client.ok('signInit', [session, mechanism, handle]);
      const [whole] = await client.ok('sign', [session, input, ROOM]);
      expect(verify(hash, DATA, verifier, whole as Buffer)).toBe(true);

      await client.ok('signInit', [session, mechanism, handle]);
      for (const byte of input) await client.ok('signUpdate', [session, Buffer.from([byte])]);
      const [joined] = await client.ok('signFinal', [session, ROOM]);
      expect(verify(hash, DATA, verifier, joined as Buffer)).toBe(true);

      const half = await key(there, name, PUBLIC);
      await client.ok('verifyInit', [session, mechanism, half]);
      await client.ok('verify', [session, input, joined as Buffer]);
      await client.ok('verifyInit', [session, mechanism, half]);
      await client.ok('verifyUpdate', [session, input]);
      expect(await client.call('verifyFinal', [session, Buffer.alloc((joined as Buffer).length, 1)])).toBe(
        RETURN.signatureInvalid,
      );
    },
  );

  it('are made of a DigestInfo that the program brings', async () => {
    const there = await program();
    const { client, session } = there;
    const info = Buffer.concat([Buffer.from('3031300d060960864801650304020105000420', 'hex'), sha256(DATA)]);
    await client.ok('signInit', [session, { type: M.rsaPkcs }, await key(there, 'pay@v1')]);
    const [signature] = await client.ok('sign', [session, info, ROOM]);
    expect(verify('sha256', DATA, await publicKey('pay'), signature as Buffer)).toBe(true);
  });

  it('go on where there is no room, and tell how much there must be', async () => {
    const there = await program();
    const { client, session } = there;
    await client.ok('signInit', [session, { type: M.ecdsa }, await key(there, 'web@v2')]);
    for (const room of [0, 63, 0xffff_ffff])
      expect(await client.ok('sign', [session, sha256(DATA), room])).toEqual([64]);
    const [signature] = await client.ok('sign', [session, sha256(DATA), 64]);
    expect(signature).toHaveLength(64);
    expect(await client.call('sign', [session, sha256(DATA), 64])).toBe(RETURN.operationNotInitialized);
  });

  it('of several pieces go on where there is no room, and tell how much there must be', async () => {
    const there = await program();
    const { client, session } = there;
    await client.ok('signInit', [session, { type: M.ecdsaSha256 }, await key(there, 'web@v2')]);
    await client.ok('signUpdate', [session, DATA]);
    for (const room of [0, 63]) expect(await client.ok('signFinal', [session, room])).toEqual([64]);
    const [signature] = await client.ok('signFinal', [session, 64]);
    expect(verify('sha256', DATA, { key: await publicKey('web', 2), ...ECDSA }, signature as Buffer)).toBe(
      true,
    );
    expect(await client.call('signFinal', [session, 64])).toBe(RETURN.operationNotInitialized);
  });

  it.each([
    ['a mechanism of other keys', 'web@v2', { type: M.sha256RsaPkcs }, RETURN.keyTypeInconsistent],
    ['a mechanism that does not sign', 'web@v2', { type: M.sha256 }, RETURN.mechanismInvalid],
    ['PSS without parameters', 'pay@v1', { type: M.rsaPss }, RETURN.mechanismParameterInvalid],
    [
      'PSS with two hashes',
      'pay@v1',
      { type: M.rsaPss, pss: { ...PSS, maskGeneration: 1 } },
      RETURN.mechanismParameterInvalid,
    ],
    [
      'PSS without salt',
      'pay@v1',
      { type: M.rsaPss, pss: { ...PSS, saltBytes: 0 } },
      RETURN.mechanismParameterInvalid,
    ],
    [
      'PSS with salt without end',
      'pay@v1',
      { type: M.rsaPss, pss: { ...PSS, saltBytes: -1 } },
      RETURN.mechanismParameterInvalid,
    ],
  ] as const)('are refused by %s', async (_what, name, mechanism, value) => {
    const there = await program();
    const { client, session } = there;
    expect(await client.call('signInit', [session, mechanism, await key(there, name)])).toBe(value);
    expect(await client.call('sign', [session, DATA, ROOM])).toBe(RETURN.operationNotInitialized);
  });

  it('are of the salt and the length that a key of 4,096 bits has room for, and no more', () => {
    const salted = (saltBytes: number) => () =>
      schemeOf({ type: M.rsaPss, pss: { ...PSS, saltBytes } }, 'rsa').words;
    for (const saltBytes of [1, 512]) {
      expect(salted(saltBytes)()).toMatchObject({ salt_length: String(saltBytes) });
    }
    expect(salted(513)).toThrow('mechanismParameterInvalid');
    const { fits } = schemeOf({ type: M.rsaPkcs }, 'rsa');
    expect([fits(Buffer.alloc(501)), fits(Buffer.alloc(502))]).toEqual([true, false]);
  });

  it.each([
    ['no digest', 'web@v2', { type: M.ecdsa }, Buffer.alloc(0)],
    ['more than a digest', 'web@v2', { type: M.ecdsa }, Buffer.alloc(65)],
    ['a digest of another length', 'pay@v1', { type: M.rsaPss, pss: PSS }, Buffer.alloc(20)],
    ['more than an RSA key signs', 'pay@v1', { type: M.rsaPkcs }, Buffer.alloc(600)],
  ] as const)('are refused for %s', async (_what, name, mechanism, data) => {
    const there = await program();
    const { client, session } = there;
    await client.ok('signInit', [session, mechanism, await key(there, name)]);
    expect(await client.call('sign', [session, data, ROOM])).toBe(RETURN.dataLengthRange);
    expect(await client.call('sign', [session, data, ROOM])).toBe(RETURN.operationNotInitialized);
  });

  it('are verified by their length and that of the digest before anything else', async () => {
    const there = await program();
    const { client, session } = there;
    const half = await key(there, 'web@v2', PUBLIC);
    const begin = () => client.ok('verifyInit', [session, { type: M.ecdsa }, half]);
    for (const length of [0, 63, 65]) {
      await begin();
      const signature = Buffer.alloc(length, 1);
      expect(await client.call('verify', [session, sha256(DATA), signature])).toBe(
        RETURN.signatureLengthRange,
      );
    }
    await begin();
    expect(await client.call('verify', [session, Buffer.alloc(65), Buffer.alloc(64, 1)])).toBe(
      RETURN.dataLengthRange,
    );
    await begin();
    expect(await client.call('verify', [session, Buffer.alloc(0), Buffer.alloc(64, 1)])).toBe(
      RETURN.dataLengthRange,
    );
  });

  it('are made by nobody but a private key that is offered for that', async () => {
    const there = await program();
    const { client, session } = there;
    const half = await key(there, 'web@v2', PUBLIC);
    expect(await client.call('signInit', [session, { type: M.ecdsa }, half])).toBe(RETURN.keyHandleInvalid);
    expect(await client.call('signInit', [session, { type: M.ecdsa }, 999_999])).toBe(
      RETURN.keyHandleInvalid,
    );
    desk.offer('web', ['decrypt']);
    expect(await client.call('signInit', [session, { type: M.ecdsa }, await key(there, 'web@v2')])).toBe(
      RETURN.keyFunctionNotPermitted,
    );
  });

  it('are asked for each time where the offer says so', async () => {
    desk.offer('web', ['sign'], true);
    const there = await program();
    const { client, session } = there;
    const sign = async () => {
      await client.ok('signInit', [session, { type: M.ecdsa }, await key(there, 'web@v2')]);
      return client.call('sign', [session, sha256(DATA), ROOM]);
    };
    expect(await sign()).toHaveLength(1);
    expect(desk.asked).toEqual(['web: sign']);
    desk.consents = false;
    expect(await sign()).toBe(RETURN.keyFunctionNotPermitted);
  });

  it('are asked for as soon as the offer says so, by programs too that have found the key before', async () => {
    const there = await program();
    const { client, session } = there;
    const handle = await key(there, 'pay@v1');
    const asked = desk.asked.length;
    desk.offer('pay', ['sign', 'decrypt'], true);
    await client.ok('signInit', [session, { type: M.sha256RsaPkcs }, handle]);
    await client.ok('sign', [session, DATA, ROOM]);
    await client.ok('decryptInit', [session, { type: M.rsaOaep, oaep: OAEP }, handle]);
    await client.ok('decrypt', [session, await encrypted('pay'), ROOM]);
    expect(desk.asked.slice(asked)).toEqual(['pay: sign', 'pay: decrypt']);
  });
});

const encrypted = async (name: string): Promise<Buffer> =>
  publicEncrypt(
    { key: await publicKey(name), padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
    DATA,
  );

describe('keys that change while they are used', () => {
  it.each([
    ['withdrawn', async () => desk.withdraw('short'), RETURN.keyFunctionNotPermitted],
    [
      'deleted',
      async () => {
        await desk.own('transit keys config', { name: 'short', deletion_allowed: true });
        await desk.own('transit keys delete', { name: 'short' });
      },
      RETURN.keyHandleInvalid,
    ],
    [
      'trimmed',
      async () => {
        await desk.own('transit keys rotate', { name: 'short', force: true });
        await desk.own('transit keys config', {
          name: 'short',
          min_encryption_version: 2,
          min_decryption_version: 2,
        });
        await desk.own('transit keys trim', { name: 'short', min_available_version: 2 });
      },
      RETURN.keyFunctionNotPermitted,
    ],
    ['locked', async () => desk.lock(), RETURN.userNotLoggedIn],
  ])('answer so when they were %s in between', async (_what, change, value) => {
    await desk.own('transit keys create', { name: 'short', type: 'ecdsa-p256' });
    desk.offer('short');
    const there = await program();
    const { client, session } = there;
    const handle = await key(there, 'short@v1');
    await client.ok('signInit', [session, { type: M.ecdsa }, handle]);
    await change();
    expect(await client.call('sign', [session, sha256(DATA), ROOM])).toBe(value);
    desk.isLocked = false;
    await desk.own('transit keys config', { name: 'short', deletion_allowed: true }).catch(() => undefined);
    await desk.own('transit keys delete', { name: 'short' }).catch(() => undefined);
    desk.withdraw('short');
  });

  it('are not told apart by their names alone: nobody gets a signature of one that came in their place', async () => {
    const remake = async () => {
      await desk.own('transit keys config', { name: 'same', deletion_allowed: true }).catch(() => undefined);
      await desk.own('transit keys delete', { name: 'same' }).catch(() => undefined);
      await desk.own('transit keys create', { name: 'same', type: 'ecdsa-p256' });
    };
    await remake();
    desk.offer('same');
    const there = await program();
    const { client, session } = there;
    const handle = await key(there, 'same@v1');
    // Seen to be there still, twice of the same store: that must hold for no other one.
    for (let count = 0; count < 2; count++) {
      await client.ok('signInit', [session, { type: M.ecdsaSha256 }, handle]);
      expect(await client.call('sign', [session, DATA, ROOM])).not.toBe(RETURN.deviceError);
    }
    for (const sign of ['whole', 'pieces']) {
      await client.ok('signInit', [session, { type: M.ecdsaSha256 }, handle]);
      await remake();
      if (sign === 'pieces') await client.ok('signUpdate', [session, DATA]);
      const answer =
        sign === 'whole'
          ? await client.call('sign', [session, DATA, ROOM])
          : await client.call('signFinal', [session, ROOM]);
      expect(answer).toBe(RETURN.deviceError);
    }
    desk.withdraw('same');
  });

  it('sign with the version that was chosen after a rotation, and with the new one when asked', async () => {
    await desk.own('transit keys create', { name: 'moving', type: 'ecdsa-p256' });
    desk.offer('moving');
    const there = await program();
    const { client, session } = there;
    await client.ok('signInit', [session, { type: M.ecdsa }, await key(there, 'moving@v1')]);
    await desk.own('transit keys rotate', { name: 'moving', force: true });
    const [old] = await client.ok('sign', [session, sha256(DATA), ROOM]);
    expect(verify('sha256', DATA, { key: await publicKey('moving', 1), ...ECDSA }, old as Buffer)).toBe(true);
    await client.ok('signInit', [session, { type: M.ecdsa }, await key(there, 'moving@v2')]);
    const [fresh] = await client.ok('sign', [session, sha256(DATA), ROOM]);
    expect(verify('sha256', DATA, { key: await publicKey('moving', 2), ...ECDSA }, fresh as Buffer)).toBe(
      true,
    );
    desk.withdraw('moving');
  });

  it('are not found while the store is locked', async () => {
    const { client, session } = await program();
    desk.isLocked = true;
    expect(await client.call('findObjectsInit', [session, []])).toBe(RETURN.userNotLoggedIn);
    desk.isLocked = false;
    expect(await find(client, session, [PRIVATE])).toHaveLength(4);
  });
});
