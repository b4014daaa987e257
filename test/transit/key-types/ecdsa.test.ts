import { createPrivateKey, createPublicKey, generateKeyPairSync, verify as nodeVerify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { ecdsa } from '../../../src/transit/key-types/ecdsa.ts';
import type { SignatureOptions } from '../../../src/transit/key-types/key-type.ts';
import { DIGEST_HASHES, type DigestHashName } from '../../../src/transit/key-types/prehash/digest-hash.ts';
import { rejectionOf } from '../../reference/thrown.ts';

const OPTIONS: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  signatureAlgorithm: '',
  marshaling: 'asn1',
  saltLength: 'auto',
};
const message = Buffer.from('the quick brown fox');
const hashes = Object.keys(DIGEST_HASHES) as DigestHashName[];

describe.each(ecdsa.map((type) => [type.name, type] as const))('the key type %s', (_, type) => {
  const stored = type.generate(systemRandom, 0);

  it.each(hashes)('signs and verifies with %s, in both marshalings', async (hash) => {
    const material = await stored;
    const pair = type.open(material);
    const publicKey = createPublicKey({
      key: Buffer.from(material.publicKey ?? '', 'base64'),
      format: 'der',
      type: 'spki',
    });
    for (const [marshaling, dsaEncoding] of [
      ['asn1', 'der'],
      ['jws', 'ieee-p1363'],
    ] as const) {
      const options = { ...OPTIONS, hash, marshaling };
      const signature = (await type.signing?.sign(pair, message, options, systemRandom)) ?? Buffer.alloc(0);
      const { nodeName } = DIGEST_HASHES[hash];
      expect(nodeVerify(nodeName, message, { key: publicKey, dsaEncoding }, signature)).toBe(true);
      expect(await type.signing?.verify(pair, message, signature, options)).toBe(true);
    }
  });

  it('verifies a digest as the message that it is of', async () => {
    const pair = type.open(await stored);
    const digest = Buffer.from('9ecb36561341d18eb65484e833efea61edc74b84cf5e6ae1b81c63533e25fc8f', 'hex');
    const signature = (await type.signing?.sign(pair, message, OPTIONS, systemRandom)) ?? Buffer.alloc(0);
    expect(await type.signing?.verify(pair, digest, signature, { ...OPTIONS, prehashed: true })).toBe(true);
    const ofDigest =
      (await type.signing?.sign(pair, digest, { ...OPTIONS, prehashed: true }, systemRandom)) ??
      Buffer.alloc(0);
    expect(await type.signing?.verify(pair, message, ofDigest, OPTIONS)).toBe(true);
  });

  it('answers false for joined halves of another length', async () => {
    const pair = type.open(await stored);
    const options = { ...OPTIONS, marshaling: 'jws' as const };
    const signature = (await type.signing?.sign(pair, message, options, systemRandom)) ?? Buffer.alloc(0);
    for (const changed of [
      Buffer.alloc(0),
      signature.subarray(0, -1),
      Buffer.concat([signature, Buffer.alloc(1)]),
    ]) {
      expect(await type.signing?.verify(pair, message, changed, options)).toBe(false);
    }
  });

  it('answers false for a signature in the other form, of a message and of a digest', async () => {
    const pair = type.open(await stored);
    for (const [made, read] of [
      ['asn1', 'jws'],
      ['jws', 'asn1'],
    ] as const) {
      for (const prehashed of [false, true]) {
        const signature =
          (await type.signing?.sign(
            pair,
            message,
            { ...OPTIONS, prehashed, marshaling: made },
            systemRandom,
          )) ?? Buffer.alloc(0);
        const options = { ...OPTIONS, prehashed, marshaling: read };
        expect(await type.signing?.verify(pair, message, signature, options)).toBe(false);
      }
    }
  });
});

describe('importing a key on another curve, or of another kind', () => {
  const [p256, p384] = ecdsa;
  const pkcs8 = (key: ReturnType<typeof createPrivateKey>) => key.export({ format: 'der', type: 'pkcs8' });

  it('is refused by its name', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'secp384r1' });
    expect(
      await rejectionOf(Promise.resolve(p256?.importing?.secret(pkcs8(other.privateKey)))),
    ).toMatchObject({
      kind: 'invalid',
      field: 'type',
      message: 'invalid curve: expected P-256, got P-384',
    });
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
    expect(await rejectionOf(Promise.resolve(p384?.importing?.secret(pkcs8(rsa.privateKey))))).toMatchObject({
      kind: 'invalid',
      field: 'type',
      message: 'invalid key type: expected ecdsa, got rsa',
    });
  });
  it('is refused when the scalar is not that of the point beside it', async () => {
    const [mine, other] = [0, 1].map(
      () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey,
    );
    const mixed = { ...mine?.export({ format: 'jwk' }), d: other?.export({ format: 'jwk' }).d };
    const key = createPrivateKey({ key: mixed as never, format: 'jwk' });
    expect(await rejectionOf(Promise.resolve(p256?.importing?.secret(pkcs8(key))))).toMatchObject({
      kind: 'invalid',
      field: 'ciphertext',
      message: 'cannot import key, key pair does not match',
    });
  });
});
