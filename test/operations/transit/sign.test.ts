import { constants, createHash, verify as nodeVerify, publicDecrypt } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { goEntry } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';
import {
  CONTEXT,
  DERIVED_PUBLIC_KEY,
  DERIVED_SIGNATURE,
  ED25519_KEY,
  ED25519_SIGNATURE,
  FOX,
  ours,
  P256_ENTRY,
} from './vectors.ts';

let operations: Operations;
let rsaKey: string;
let p256Key: string;

beforeAll(async () => {
  operations = await freshOperations();
  const ed25519 = goEntry({ key: ED25519_KEY });
  await operations.restore('ed25519', [ed25519, ed25519], { type: 2 });
  await operations.restore('derived', [ed25519], { type: 2, derived: true, kdf: 1 });
  await operations.restore('p256', [goEntry(P256_ENTRY)], { type: 1 });
  await operations.ask('keys create', { name: 'rsa', type: 'rsa-2048' });
  await operations.ask('keys create', { name: 'aes' });
  [rsaKey, p256Key] = [await publicKeyOf('rsa'), await publicKeyOf('p256')];
});

async function publicKeyOf(name: string): Promise<string> {
  const { keys } = (await operations.ask('keys read', { name })) as {
    keys: Record<string, { public_key: string }>;
  };
  return keys['1']?.public_key ?? '';
}

const sign = (name: string, raw: Raw = {}) => operations.ask('sign', { name, input: FOX, ...raw });

/** The bytes of a signature. */
async function signed(name: string, raw: Raw = {}): Promise<Buffer> {
  const text = await operations.text('sign', { name, input: FOX, ...raw }, 'signature');
  return Buffer.from(
    text.split(':')[2] ?? '',
    raw['marshaling_algorithm'] === 'jws' ? 'base64url' : 'base64',
  );
}

const fox = Buffer.from('the quick brown fox');
const digest = (hash: string): string => createHash(hash).update(fox).digest('base64');
const isEcdsa = (hash: string, signature: Buffer): boolean => nodeVerify(hash, fox, p256Key, signature);
const isPss = (hash: string, signature: Buffer, saltLength: number): boolean =>
  nodeVerify(hash, fox, { key: rsaKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }, signature);
const isPkcs1 = (hash: string, signature: Buffer): boolean =>
  nodeVerify(hash, fox, { key: rsaKey, padding: constants.RSA_PKCS1_PADDING }, signature);

describe('sign', () => {
  it('answers the signature of the input and the version of the key that made it', async () => {
    expect(await sign('ed25519')).toEqual({
      signature: ours(ED25519_SIGNATURE).replace(':v1:', ':v2:'),
      key_version: 2,
    });
  });

  it('signs the empty input, and none only for callers of the family', async () => {
    const nothing = await sign('ed25519', { input: '' });
    expect(nothing).toEqual(await sign('ed25519', { input: null }));
    expect(await rejectionOf(operations.ask('sign', { name: 'ed25519' }))).toMatchObject({
      kind: 'invalid',
      field: 'input',
      message: 'missing input',
    });
    const family = await freshOperations('vault');
    await family.restore('ed25519', [goEntry({ key: ED25519_KEY })], { type: 2 });
    expect(await family.ask('sign', { name: 'ed25519' })).toEqual(
      await family.ask('sign', { name: 'ed25519', input: '' }),
    );
    expect(await rejectionOf(sign('ed25519', { input: 'n!t' }))).toMatchObject({
      kind: 'invalid',
      field: 'input',
      message: 'unable to decode input as base64: illegal base64 data at input byte 1',
    });
  });

  it.each([
    ['nobody', 'not-found', 'signing key not found'],
    ['aes', 'unsupported', 'key type aes256-gcm96 does not support signing'],
  ])('needs a key of the name that signs: %s', async (name, kind, message) => {
    expect(await rejectionOf(sign(name))).toMatchObject({ kind, message });
  });

  it('signs with the key of the context, and shows its public key', async () => {
    expect(await sign('derived', { context: CONTEXT })).toEqual({
      signature: ours(DERIVED_SIGNATURE),
      key_version: 1,
      public_key: DERIVED_PUBLIC_KEY,
    });
    expect(await rejectionOf(sign('derived'))).toMatchObject({ kind: 'invalid', field: 'context' });
    expect(await rejectionOf(sign('derived', { context: 'n!t' }))).toMatchObject({
      message: 'failed to base64-decode context',
    });
  });

  it.each([
    [1, 1],
    ['1', 1],
    [0, 2],
    [null, 2],
  ])('signs with the version %j', async (key_version, used) => {
    expect(await sign('ed25519', { key_version })).toMatchObject({
      signature: expect.stringMatching(`^service:v${used}:`),
      key_version: used,
    });
  });

  it.each([
    [-1, 'requested version for signing is negative'],
    [3, 'requested version for signing is higher than the latest key version'],
  ])('refuses the key_version %j', async (key_version, message) => {
    expect(await rejectionOf(sign('ed25519', { key_version }))).toMatchObject({
      field: 'key_version',
      message,
    });
  });

  it('refuses a version below min_encryption_version', async () => {
    await operations.restore('limited', [goEntry({ key: ED25519_KEY }), goEntry({ key: ED25519_KEY })], {
      type: 2,
      min_encryption_version: 2,
    });
    expect(await rejectionOf(sign('limited', { key_version: 1 }))).toMatchObject({
      message: 'requested version for signing is less than the minimum encryption key version',
    });
  });
});

describe('the hash of sign', () => {
  it.each([
    ['sha1', 'sha1'],
    ['sha2-224', 'sha224'],
    ['sha2-256', 'sha256'],
    ['sha2-384', 'sha384'],
    ['sha2-512', 'sha512'],
    ['sha3-224', 'sha3-224'],
    ['sha3-256', 'sha3-256'],
    ['sha3-384', 'sha3-384'],
    ['sha3-512', 'sha3-512'],
  ])('is made with the hash_algorithm %s', async (hash_algorithm, openssl) => {
    expect(isEcdsa(openssl, await signed('p256', { hash_algorithm }))).toBe(true);
    expect(isPkcs1(openssl, await signed('rsa', { hash_algorithm, signature_algorithm: 'pkcs1v15' }))).toBe(
      true,
    );
  });

  it('is SHA-256 when nothing is said', async () => {
    expect(isEcdsa('sha256', await signed('p256'))).toBe(true);
  });

  it('is the algorithm of old clients where hash_algorithm is absent or empty', async () => {
    expect(isEcdsa('sha512', await signed('p256', { algorithm: 'sha2-512' }))).toBe(true);
    const empty = { algorithm: 'sha2-512', hash_algorithm: '' };
    expect(isEcdsa('sha512', await signed('p256', empty))).toBe(true);
    const both = { algorithm: 'sha2-512', hash_algorithm: 'sha2-384' };
    expect(isEcdsa('sha384', await signed('p256', both))).toBe(true);
  });

  it('plays no part for ed25519, but must be one', async () => {
    const plain = await sign('ed25519');
    expect(await sign('ed25519', { hash_algorithm: 'sha2-512' })).toEqual(plain);
    expect(await sign('ed25519', { hash_algorithm: 'none' })).toEqual(plain);
    expect(await rejectionOf(sign('ed25519', { hash_algorithm: 'sha2-512', prehashed: true }))).toMatchObject(
      {
        kind: 'unsupported',
        field: 'prehashed',
      },
    );
    for (const raw of [{ hash_algorithm: 'md5' }, { algorithm: 'md5' }]) {
      expect(await rejectionOf(sign('ed25519', raw))).toMatchObject({
        kind: 'invalid',
        field: 'hash_algorithm',
        message: 'invalid hash algorithm "md5"',
      });
    }
  });

  it('is none only for a digest in the padding that names no hash', async () => {
    const raw = { hash_algorithm: 'none', prehashed: true, signature_algorithm: 'pkcs1v15' };
    const signature = await signed('rsa', raw);
    expect(publicDecrypt({ key: rsaKey, padding: constants.RSA_PKCS1_PADDING }, signature)).toEqual(fox);
    for (const missing of [{ prehashed: false }, { signature_algorithm: 'pss' }]) {
      expect(await rejectionOf(sign('rsa', { ...raw, ...missing }))).toMatchObject({
        kind: 'invalid',
        message: 'hash_algorithm=none requires both prehashed=true and signature_algorithm=pkcs1v15',
      });
    }
  });

  it('may be none for ML-DSA as well, which hashes by itself', async () => {
    await operations.ask('keys create', { name: 'quantum', type: 'ml-dsa-44' });
    const asked = { input: FOX, hash_algorithm: 'none' };
    const signature = await operations.text('sign', { name: 'quantum', ...asked }, 'signature');
    const answer = { name: 'quantum', input: FOX, signature };
    expect(await operations.ask('verify', answer)).toEqual({ valid: true });
    expect(await rejectionOf(operations.ask('sign', { name: 'p256', ...asked }))).toMatchObject({
      kind: 'invalid',
    });
  });

  it.each(['ed25519', 'ml-dsa-65', 'slh-dsa-sha2-128f'])(
    'is bound to the signature_context, of type %s',
    async (type) => {
      const name = `bound-${type}`;
      await operations.ask('keys create', { name, type });
      const signature = await operations.text(
        'sign',
        { name, input: FOX, signature_context: CONTEXT },
        'signature',
      );
      const valid = (raw: Raw) => operations.ask('verify', { name, input: FOX, signature, ...raw });
      expect(await valid({ signature_context: CONTEXT })).toEqual({ valid: true });
      expect(await valid({})).toEqual({ valid: false });
      expect(await valid({ signature_context: 'AAAA' })).toEqual({ valid: false });
      const items = { signature_context: CONTEXT, batch_input: [{ input: FOX, signature }] };
      expect(await operations.ask('verify', { name, ...items })).toMatchObject({
        batch_results: [{ valid: true }],
      });
    },
  );

  it.each([
    ['p256', CONTEXT, 'unsupported'],
    ['rsa', CONTEXT, 'unsupported'],
    ['ed25519', Buffer.alloc(256).toString('base64'), 'invalid'],
    ['ed25519', 'n!t', 'invalid'],
  ])(
    'is made by %s without the signature_context %j, or not at all',
    async (name, signature_context, kind) => {
      for (const operation of ['sign', 'verify']) {
        const asked = { name, input: FOX, signature: 'service:v1:AAAA', signature_context };
        expect(await rejectionOf(operations.ask(operation, asked))).toMatchObject({
          kind,
          field: 'signature_context',
        });
      }
    },
  );

  it.each([true, 'true', 1])('is not computed again when prehashed is %j', async (prehashed) => {
    const raw = { prehashed, hash_algorithm: 'sha2-384', input: digest('sha384') };
    expect(isEcdsa('sha384', await signed('p256', raw))).toBe(true);
    expect(isPss('sha384', await signed('rsa', raw), constants.RSA_PSS_SALTLEN_AUTO)).toBe(true);
    expect(isPkcs1('sha384', await signed('rsa', { ...raw, signature_algorithm: 'pkcs1v15' }))).toBe(true);
  });

  it('must have the length of a digest when prehashed, for RSA', async () => {
    expect(await rejectionOf(sign('rsa', { prehashed: true }))).toMatchObject({
      kind: 'invalid',
      field: 'input',
      message: 'crypto/rsa: input must be hashed with given hash',
    });
    const pkcs1 = sign('rsa', { prehashed: true, signature_algorithm: 'pkcs1v15' });
    expect(await rejectionOf(pkcs1)).toMatchObject({ message: 'crypto/rsa: input must be hashed message' });
  });
});

describe('the form of a signature', () => {
  it.each(['', 'pss', null])('is PSS for the signature_algorithm %j of RSA', async (signature_algorithm) => {
    const signature = await signed('rsa', { signature_algorithm });
    expect(isPss('sha256', signature, constants.RSA_PSS_SALTLEN_MAX_SIGN)).toBe(true);
  });

  it('is PKCS #1 v1.5 when signature_algorithm says so, and nothing else', async () => {
    expect(isPkcs1('sha256', await signed('rsa', { signature_algorithm: 'pkcs1v15' }))).toBe(true);
    expect(await rejectionOf(sign('rsa', { signature_algorithm: 'rot13' }))).toMatchObject({
      field: 'signature_algorithm',
      message: 'unsupported rsa signature algorithm rot13',
    });
    await sign('ed25519', { signature_algorithm: 'rot13' });
  });

  it('is DER, or the two numbers of JSON Web Signatures when marshaling_algorithm is jws', async () => {
    expect((await signed('p256'))[0]).toBe(0x30);
    const raw = { marshaling_algorithm: 'jws' };
    const { signature } = (await sign('p256', raw)) as { signature: string };
    expect(signature).toMatch(/^service:v1:[\w-]{86}$/);
    const key = { key: p256Key, dsaEncoding: 'ieee-p1363' } as const;
    expect(nodeVerify('sha256', fox, key, await signed('p256', raw))).toBe(true);
    const standard = ours(ED25519_SIGNATURE).replace(':v1:', ':v2:');
    const urlSafe = standard.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
    expect(await sign('ed25519', raw)).toMatchObject({ signature: urlSafe });
  });

  it.each(['', null, 'ASN1', 'raw'])(
    'refuses the marshaling_algorithm %j, which there is not',
    async (marshaling_algorithm) => {
      expect(await rejectionOf(sign('p256', { marshaling_algorithm }))).toMatchObject({
        kind: 'invalid',
        field: 'marshaling_algorithm',
        message: `invalid marshaling type "${marshaling_algorithm ?? ''}"`,
      });
    },
  );

  it.each([
    ['auto', 222],
    ['AUTO', 222],
    ['0', 222],
    ['hash', 32],
    ['-1', 32],
    ['20', 20],
    [20, 20],
    ['222', 222],
  ])('has for the salt_length %j a salt of %i bytes', async (salt_length, bytes) => {
    expect(isPss('sha256', await signed('rsa', { salt_length }), bytes)).toBe(true);
  });

  it.each([
    ['-2', 'salt length is invalid: -2'],
    ['some', "salt length neither 'auto', 'hash', nor an int: some"],
    [null, "salt length neither 'auto', 'hash', nor an int: "],
    ['223', 'requested salt length 223 is invalid'],
  ])('refuses the salt_length %j, which there is not', async (salt_length, message) => {
    expect(await rejectionOf(sign('rsa', { salt_length }))).toMatchObject({ field: 'salt_length', message });
  });
});

describe('sign with batch_input', () => {
  it('answers each item at its place; a failed one does not change the status', async () => {
    const batch_input = [
      { input: FOX, context: CONTEXT, reference: 'one' },
      { context: CONTEXT, reference: 'two' },
      { input: FOX, reference: 'three' },
      { input: 'n!t', context: CONTEXT },
    ];
    const request = { name: 'derived', input: 'n!t', context: 'n!t', batch_input };
    expect(await operations.outcome('sign', request)).toEqual({
      data: {
        batch_results: [
          {
            signature: ours(DERIVED_SIGNATURE),
            key_version: 1,
            publickey: DERIVED_PUBLIC_KEY,
            reference: 'one',
          },
          { error: 'missing input', key_version: 0, reference: 'two' },
          { error: expect.stringMatching(/^error deriving key: /), key_version: 0, reference: 'three' },
          {
            error: 'unable to decode input as base64: illegal base64 data at input byte 1',
            key_version: 0,
            reference: '',
          },
        ],
      },
    });
  });

  it('takes everything but input and context from beside it', async () => {
    const batch_input = [{ input: FOX, key_version: 2, marshaling_algorithm: 'asn1' }];
    const beside = { key_version: 1, marshaling_algorithm: 'jws', batch_input };
    expect(await sign('ed25519', beside)).toEqual({
      batch_results: [
        { signature: expect.stringMatching(/^service:v1:[\w-]{86}$/), key_version: 1, reference: '' },
      ],
    });
    expect(await rejectionOf(sign('ed25519', { batch_input: [] }))).toMatchObject({
      message: 'missing batch input to process',
    });
  });
});
