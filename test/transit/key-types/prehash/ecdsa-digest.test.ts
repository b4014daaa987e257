import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
} from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CURVES } from '../../../../src/ground/curves.ts';
import { joinedNumbers } from '../../../../src/transit/key-types/ecdsa.ts';
import {
  signEcdsaDigest,
  verifyEcdsaDigest,
} from '../../../../src/transit/key-types/prehash/ecdsa-digest.ts';
import { orderOf } from '../../../reference/curve-orders.ts';

const message = Buffer.from('the quick brown fox');
const hashes = ['sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha3-256', 'sha3-512'];
const curves = CURVES.map(({ jwkName: namedCurve }) => {
  const order = orderOf(namedCurve);
  return { namedCurve, order, orderBytes: Math.ceil(order.toString(16).length / 2) };
});

describe.each(curves)('ECDSA over a digest on $namedCurve', ({ namedCurve, order, orderBytes }) => {
  const pair = generateKeyPairSync('ec', { namedCurve });
  const other = generateKeyPairSync('ec', { namedCurve });

  it.each(hashes)('agrees, both ways, with the signature of the message with %s', async (hash) => {
    const digest = createHash(hash).update(message).digest();
    for (const dsaEncoding of ['der', 'ieee-p1363'] as const) {
      const ours = await signEcdsaDigest(pair.privateKey, digest, dsaEncoding);
      expect(verify(hash, message, { key: pair.publicKey, dsaEncoding }, ours)).toBe(true);
    }
    const theirs = sign(hash, message, { key: pair.privateKey, dsaEncoding: 'ieee-p1363' });
    expect(await verifyEcdsaDigest(pair.publicKey, digest, theirs)).toBe(true);
    expect(await verifyEcdsaDigest(other.publicKey, digest, theirs)).toBe(false);
  });

  it('uses only the leftmost bits of a longer digest', async () => {
    const whole = Buffer.alloc(100, 0xa5);
    const signature = await signEcdsaDigest(pair.privateKey, whole, 'ieee-p1363');
    expect(await verifyEcdsaDigest(pair.publicKey, whole.subarray(0, orderBytes), signature)).toBe(true);
    expect(await verifyEcdsaDigest(pair.publicKey, whole.subarray(0, orderBytes - 1), signature)).toBe(false);
  });

  it('uses a shorter digest as the number that it is', async () => {
    const signature = await signEcdsaDigest(pair.privateKey, Buffer.from([7]), 'ieee-p1363');
    expect(await verifyEcdsaDigest(pair.publicKey, Buffer.from([0, 0, 7]), signature)).toBe(true);
    expect(await verifyEcdsaDigest(pair.publicKey, Buffer.from([7, 0]), signature)).toBe(false);
  });

  it('signs an empty digest, which counts as zero', async () => {
    const signature = await signEcdsaDigest(pair.privateKey, Buffer.alloc(0), 'ieee-p1363');
    expect(await verifyEcdsaDigest(pair.publicKey, Buffer.alloc(3), signature)).toBe(true);
  });

  it('signs equal digests differently', async () => {
    const digest = Buffer.alloc(32, 1);
    const first = await signEcdsaDigest(pair.privateKey, digest, 'ieee-p1363');
    expect(await signEcdsaDigest(pair.privateKey, digest, 'ieee-p1363')).not.toEqual(first);
  });

  it('accepts the complement of s, since peers do not insist on the lower half', async () => {
    const digest = Buffer.alloc(32, 1);
    const signature = await signEcdsaDigest(pair.privateKey, digest, 'ieee-p1363');
    const s = BigInt(`0x${signature.subarray(orderBytes).toString('hex')}`);
    const flipped = Buffer.from((order - s).toString(16).padStart(2 * orderBytes, '0'), 'hex');
    const complement = Buffer.concat([signature.subarray(0, orderBytes), flipped]);
    expect(await verifyEcdsaDigest(pair.publicKey, digest, complement)).toBe(true);
  });

  it.each([0, 1, 63, 65, 96, 131, 133])(
    'takes %i bytes that are no signature for an invalid one',
    async (length) => {
      const junk = Buffer.alloc(length, 0x30);
      expect(await verifyEcdsaDigest(pair.publicKey, Buffer.alloc(32, 1), junk)).toBe(false);
    },
  );
});

describe('ECDSA over a digest', () => {
  it('verifies a published signature of a peer', async () => {
    const base64url = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url');
    const jwk = {
      kty: 'EC',
      crv: 'P-256',
      x: base64url('7336010a6da5935113d26d9ea4bb61b3b8d102c9a8083ed432f9b58fd7e80686'),
      y: base64url('4040aa31864691a8a9e7e3ec9250e85425b797ad7be34ba8df62bfbad45ebb0e'),
    };
    const digest = Buffer.from('9ecb36561341d18eb65484e833efea61edc74b84cf5e6ae1b81c63533e25fc8f', 'hex');
    const der = Buffer.from(
      'MEUCIAgnEl9V8P305EBAlz68Nq4jZng5fE8k6MactcnlUw9dAiEAvJVePg3dazW6MaW7lRAVtEz82QJDVmR98tXCl8Pc7DA=',
      'base64',
    );
    const numbers = joinedNumbers(der, 'asn1', 32) ?? Buffer.alloc(0);
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    expect(await verifyEcdsaDigest(publicKey, digest, numbers)).toBe(true);
  });

  it('is not done with keys that are on another curve', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'brainpoolP256r1' });
    const key = createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' }));
    await expect(signEcdsaDigest(key, Buffer.alloc(32), 'der')).rejects.toThrow(TypeError);
  });
});
