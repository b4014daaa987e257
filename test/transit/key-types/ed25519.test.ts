import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { ed25519 } from '../../../src/transit/key-types/ed25519.ts';
import type { SignatureOptions } from '../../../src/transit/key-types/key-type.ts';
import { rejectionOf, thrownBy } from '../../reference/thrown.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const OPTIONS: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  signatureAlgorithm: '',
  marshaling: 'asn1',
  saltLength: 'auto',
};

/** RFC 8032, 7.1, tests 1 and 2. */
const VECTORS = [
  {
    seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: '72',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  },
];

describe('ed25519', () => {
  it.each(VECTORS)('signs $message as RFC 8032 does', async ({ seed, publicKey, message, signature }) => {
    const stored = await ed25519.backup.read({ key: hex(seed + publicKey) });
    const pair = ed25519.open(stored);
    const made = await ed25519.signing?.sign(pair, hex(message), OPTIONS, systemRandom);
    expect(made?.toString('hex')).toBe(signature);
    expect(await ed25519.signing?.verify(pair, hex(message), hex(signature), OPTIONS)).toBe(true);
    expect(ed25519.publicKey?.print(pair)).toBe(hex(publicKey).toString('base64'));
  });

  it('refuses a backup whose halves differ, and keys of the wrong length', async () => {
    const [first, second] = VECTORS;
    const seed = hex(first?.seed ?? '');
    const wrongPublic = hex(second?.publicKey ?? '');
    const read = (key: Buffer, publicKey?: string) =>
      rejectionOf(Promise.resolve().then(() => ed25519.backup.read({ key, publicKey })));
    const mismatch = {
      kind: 'invalid',
      field: 'backup',
      message: 'backup has an ed25519 private key that does not match its public key',
    };
    expect(await read(Buffer.concat([seed, wrongPublic]))).toMatchObject(mismatch);
    const right = Buffer.concat([seed, hex(first?.publicKey ?? '')]);
    expect(await read(right, wrongPublic.toString('base64'))).toMatchObject(mismatch);
    expect(await read(seed)).toMatchObject({
      kind: 'invalid',
      message: 'backup has an ed25519 key of the wrong length',
    });
  });

  it('refuses to import keys of other types', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    expect(thrownBy(() => ed25519.importing?.publicKey?.(pem))).toMatchObject({
      kind: 'invalid',
      field: 'type',
      message: 'invalid key type: expected ed25519, got ec',
    });
    expect(thrownBy(() => ed25519.importing?.publicKey?.('no pem'))).toMatchObject({
      kind: 'invalid',
      field: 'public_key',
      message: 'error parsing public key: not in PEM format',
    });
  });

  it('has its public half alone in the backup of a public key, which has 32 bytes', async () => {
    const { publicKey: shown = '' } = await ed25519.backup.write(await ed25519.generate(systemRandom, 0));
    const read = (publicKey: string) => Promise.resolve().then(() => ed25519.backup.read({ publicKey }));
    expect(await ed25519.backup.write(await read(shown))).toEqual({ publicKey: shown });
    for (const wrong of [
      '',
      Buffer.alloc(31, 1).toString('base64'),
      Buffer.alloc(33, 1).toString('base64'),
    ]) {
      expect(await rejectionOf(read(wrong))).toMatchObject({
        kind: 'invalid',
        message: 'backup has no ed25519 key',
      });
    }
  });
});
