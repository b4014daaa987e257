import { execFileSync } from 'node:child_process';
import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign as nodeSign,
  verify as nodeVerify,
  privateDecrypt,
  publicEncrypt,
} from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { keyTypeNamed } from '../../../src/transit/key-types/index.ts';
import { storedKey } from '../../../src/transit/key-types/key-pair.ts';
import type { SignatureOptions } from '../../../src/transit/key-types/key-type.ts';
import { DIGEST_HASHES, type DigestHashName } from '../../../src/transit/key-types/prehash/digest-hash.ts';
import { rejectionOf, thrownBy } from '../../reference/thrown.ts';
import { LONGEST_SALT } from './longest-salts.ts';

const rsa2048 = keyTypeNamed('rsa-2048') ?? expect.fail('no such type');
const node = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pair = rsa2048.open(storedKey(node.privateKey));
const message = Buffer.from('the quick brown fox');

const OPTIONS: SignatureOptions = {
  hash: 'sha2-256',
  prehashed: false,
  signatureAlgorithm: '',
  marshaling: 'asn1',
  saltLength: 'auto',
};
const signed = async (options: Partial<SignatureOptions>, input = message): Promise<Buffer> =>
  (await rsa2048.signing?.sign(pair, input, { ...OPTIONS, ...options }, systemRandom)) ?? Buffer.alloc(0);
const isValid = async (signature: Buffer, options: Partial<SignatureOptions>, input = message) =>
  rsa2048.signing?.verify(pair, input, signature, { ...OPTIONS, ...options });

const nodePss = (hash: DigestHashName, saltLength: number, signature: Buffer) =>
  nodeVerify(
    DIGEST_HASHES[hash].nodeName,
    message,
    { key: node.publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength },
    signature,
  );

describe('RSA-OAEP', () => {
  const oaep = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };

  it('uses SHA-256 for label and mask', () => {
    const ours = rsa2048.publicKeyEncryption?.encrypt(pair, message) ?? Buffer.alloc(0);
    expect(privateDecrypt({ key: node.privateKey, ...oaep }, ours)).toEqual(message);
    const theirs = publicEncrypt({ key: node.publicKey, ...oaep }, message);
    expect(rsa2048.publicKeyEncryption?.decrypt(pair, theirs)).toEqual(message);
  });

  it.each([
    ['rsa-2048', 190],
    ['rsa-3072', 318],
    ['rsa-4096', 446],
  ])('with %s takes %i bytes and no more', async (name, most) => {
    const type = keyTypeNamed(name) ?? expect.fail('no such type');
    const key = type.open(await type.generate(systemRandom, 0));
    const longest = Buffer.alloc(most, 1);
    const ciphertext = type.publicKeyEncryption?.encrypt(key, longest) ?? Buffer.alloc(0);
    expect(type.publicKeyEncryption?.decrypt(key, ciphertext)).toEqual(longest);
    expect(thrownBy(() => type.publicKeyEncryption?.encrypt(key, Buffer.alloc(most + 1)))).toMatchObject({
      kind: 'invalid',
      field: 'plaintext',
      message: 'failed to RSA encrypt the plaintext: crypto/rsa: message too long for RSA key size',
    });
  });
});

describe.each(Object.keys(LONGEST_SALT) as DigestHashName[])('RSA-PSS with %s', (hash) => {
  const digestBytes = DIGEST_HASHES[hash].digestBytes;

  it('salts with as much as fits, with the length of the hash, or as told', async () => {
    expect(nodePss(hash, LONGEST_SALT[hash], await signed({ hash }))).toBe(true);
    expect(nodePss(hash, digestBytes, await signed({ hash, saltLength: 'hash' }))).toBe(true);
    expect(nodePss(hash, 7, await signed({ hash, saltLength: 7 }))).toBe(true);
  });

  it('accepts any salt unless told which', async () => {
    const signature = await signed({ hash, saltLength: 7 });
    expect(await isValid(signature, { hash })).toBe(true);
    expect(await isValid(signature, { hash, saltLength: 7 })).toBe(true);
    expect(await isValid(signature, { hash, saltLength: 8 })).toBe(false);
    expect(await isValid(signature, { hash, saltLength: 'hash' })).toBe(false);
  });

  it('is not PKCS#1 v1.5, which names the hash', async () => {
    const signature = await signed({ hash, signatureAlgorithm: 'pkcs1v15' });
    const { nodeName } = DIGEST_HASHES[hash];
    expect(signature).toEqual(nodeSign(nodeName, message, node.privateKey));
    expect(await isValid(signature, { hash, signatureAlgorithm: 'pkcs1v15' })).toBe(true);
    expect(await isValid(signature, { hash, signatureAlgorithm: 'pss' })).toBe(false);
  });
});

describe('an RSA signature', () => {
  it('of a digest is one of the message', async () => {
    const digest = Buffer.from('9ecb36561341d18eb65484e833efea61edc74b84cf5e6ae1b81c63533e25fc8f', 'hex');
    for (const signatureAlgorithm of ['pss', 'pkcs1v15']) {
      const ofDigest = await signed({ prehashed: true, signatureAlgorithm }, digest);
      expect(await isValid(ofDigest, { signatureAlgorithm })).toBe(true);
      const ofMessage = await signed({ signatureAlgorithm });
      expect(await isValid(ofMessage, { prehashed: true, signatureAlgorithm }, digest)).toBe(true);
      expect(await isValid(ofMessage, { prehashed: true, signatureAlgorithm }, digest.subarray(1))).toBe(
        false,
      );
    }
  });

  it('of another length is not valid', async () => {
    const signature = await signed({});
    expect(await isValid(signature.subarray(1), {})).toBe(false);
    expect(await isValid(Buffer.alloc(0), {})).toBe(false);
  });

  it.each(['pss', 'pkcs1v15'])('of %s is not valid without the zero that it begins with', async (scheme) => {
    const options = { signatureAlgorithm: scheme };
    for (let number = 0; ; number++) {
      const input = Buffer.from(`message ${number}`);
      const signature = await signed(options, input);
      if (signature[0] !== 0) continue;
      expect(await isValid(signature, options, input)).toBe(true);
      expect(await isValid(signature.subarray(1), options, input)).toBe(false);
      return;
    }
  });

  it('is refused, made or verified, with a salt that cannot fit and a scheme that nobody knows', async () => {
    const signature = await signed({});
    for (const attempt of [
      (options: Partial<SignatureOptions>) => signed(options),
      (options: Partial<SignatureOptions>) => isValid(signature, options),
    ]) {
      await expect(attempt({ saltLength: 223 })).rejects.toMatchObject({
        kind: 'invalid',
        field: 'salt_length',
        message: 'requested salt length 223 is invalid',
      });
      await expect(attempt({ signatureAlgorithm: 'PSS' })).rejects.toMatchObject({
        kind: 'invalid',
        field: 'signature_algorithm',
        message: 'unsupported rsa signature algorithm PSS',
      });
    }
  });
});

describe('importing an RSA key', () => {
  it('of another size is refused by its size', () => {
    const big = keyTypeNamed('rsa-4096') ?? expect.fail('no such type');
    const pem = createPublicKey(node.privateKey).export({ format: 'pem', type: 'spki' }).toString();
    expect(thrownBy(() => big.importing?.publicKey?.(pem))).toMatchObject({
      kind: 'invalid',
      field: 'type',
      message: 'invalid key size: expected 512 bytes, got 256 bytes',
    });
  });
  const mismatch = {
    kind: 'invalid',
    field: 'ciphertext',
    message: 'cannot import key, key pair does not match',
  };

  it('whose exponents do not belong together is refused', async () => {
    const [mine, other] = [0, 1].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
    const mixed = { ...mine?.export({ format: 'jwk' }), d: other?.export({ format: 'jwk' }).d };
    const key = createPrivateKey({ key: mixed as never, format: 'jwk' });
    const pkcs8 = key.export({ format: 'der', type: 'pkcs8' });
    expect(await rejectionOf(Promise.resolve(rsa2048.importing?.secret(pkcs8)))).toMatchObject(mismatch);
  });

  it.each([
    ['0', 'AA'],
    ['1, with which everybody can compute signatures', 'AQ'],
    ['even', 'Ag'],
    ['too large for Vault', 'gAAAAQ'],
  ])('that is public is refused if its exponent is %s', async (_, e) => {
    const { n = '' } = node.publicKey.export({ format: 'jwk' });
    const key = createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' });
    const pem = key.export({ format: 'pem', type: 'spki' }).toString();
    expect(thrownBy(() => rsa2048.importing?.publicKey?.(pem))).toMatchObject({
      kind: 'invalid',
      field: 'public_key',
      message: 'error parsing public key: not a usable RSA key',
    });
  });

  it('of three primes is refused: a backup would bring back two of them', async () => {
    const generate = [
      '-algorithm',
      'RSA',
      '-pkeyopt',
      'rsa_keygen_bits:2048',
      '-pkeyopt',
      'rsa_keygen_primes:3',
    ];
    const pem = execFileSync('openssl', ['genpkey', ...generate], { stdio: ['ignore', 'pipe', 'ignore'] });
    const pkcs8 = createPrivateKey(pem).export({ format: 'der', type: 'pkcs8' });
    expect(await rejectionOf(Promise.resolve(rsa2048.importing?.secret(pkcs8)))).toMatchObject(mismatch);
  });
});
