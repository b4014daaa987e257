import { createPrivateKey, createPublicKey, verify as nodeVerify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { onlyValue } from '../../src/transit/batch.ts';
import type { Engine } from '../../src/transit/engine.ts';
import type { NamedKeyDocument, VersionDocument } from '../../src/transit/key-document.ts';
import { keyTypeNamed } from '../../src/transit/key-types/index.ts';
import { type SignatureRequest, type SignItem, sign } from '../../src/transit/signing.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';
import {
  KEY_32,
  knownKey,
  knownVersion,
  MY_CONTEXT,
  QUICK_FOX,
  QUICK_FOX_BASE64,
  storeKey,
} from './known-key.ts';

const DEFAULTS = {
  hashAlgorithm: 'sha2-256',
  prehashed: false,
  signatureAlgorithm: '',
  marshalingAlgorithm: 'asn1',
  saltLength: 'auto',
  keyVersion: 0,
};

const made = await Promise.all(
  ['ed25519', 'ecdsa-p256', 'rsa-2048'].map(async (type): Promise<[string, VersionDocument]> => {
    const material = await keyTypeNamed(type)?.generate(systemRandom, 0);
    if (material === undefined) throw new Error(`no type ${type}`);
    return [type, { ...knownVersion(KEY_32), ...material }];
  }),
);
const versions = new Map(made);

/** A key of `count` versions that all have the same material. */
function keyOf(type: string, overrides: Partial<NamedKeyDocument> = {}, count = 1): NamedKeyDocument {
  const version = versions.get(type) ?? knownVersion(KEY_32);
  return knownKey(type, Array(count).fill(version), overrides);
}

const SEED_PKCS8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), KEY_32]);
const knownEd25519 = (overrides: Partial<NamedKeyDocument> = {}) =>
  knownKey('ed25519', [knownVersion(SEED_PKCS8)], overrides);

async function engineWith(document: NamedKeyDocument): Promise<Engine> {
  const engine = await freshEngine('vault');
  await storeKey(engine, document);
  return engine;
}

const signOne = async (
  document: NamedKeyDocument,
  change: Partial<SignatureRequest & { keyVersion: number }> = {},
  item: SignItem = { input: QUICK_FOX_BASE64 },
) => onlyValue(await sign(await engineWith(document), 'known', [item], { ...DEFAULTS, ...change }));

describe('signing with ed25519', () => {
  it('gives the signature of another implementation', async () => {
    expect(await signOne(knownEd25519())).toEqual({
      signature:
        'vault:v1:OZORekOQiAkX+r0lQwgpVDF+nm4IFKGAnX15wMqffzhClKn67u/NbsuGqOqrCgYylUgQZYM2rgXPBuGAea7mDA==',
      keyVersion: 1,
    });
  });

  it('gives a derived signature and its public key as another implementation does', async () => {
    const item = { input: QUICK_FOX_BASE64, context: MY_CONTEXT };
    expect(await signOne(knownEd25519({ derived: true, kdf: 1 }), {}, item)).toEqual({
      signature:
        'vault:v1:kXZfwfEvi5pakYUyuHfl7GU9sAdGd2VScF3DmaT3m4XgGjlxEGIhAixoeajmDVksLBIAxRhc5hI6GLmgJAqFBA==',
      keyVersion: 1,
      publicKey: 'OIvIl/P5BgXI5mVbCspIin8B4+5fbJBqqp0rjRBwXjc=',
    });
  });

  it('ignores the hash, as the scheme has its own, also when that is none', async () => {
    const usual = await signOne(knownEd25519());
    expect(await signOne(knownEd25519(), { hashAlgorithm: 'sha2-512' })).toEqual(usual);
    expect(await signOne(knownEd25519(), { hashAlgorithm: 'none' })).toEqual(usual);
  });

  it('refuses a digest, whose signature would be another scheme’s', async () => {
    const attempt = signOne(knownEd25519(), { hashAlgorithm: 'sha2-512', prehashed: true });
    expect(await rejectionOf(attempt)).toMatchObject({ kind: 'unsupported', field: 'prehashed' });
  });

  it('makes the signature of RFC 8032 that is bound to a context', async () => {
    const seed = '0305334e381af78f141cb666f6199f57bc3495335a256a95bd2a55bf546663f6';
    const pkcs8 = Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex');
    const input = Buffer.from('f726936d19c800494e3fdaff20b276a8', 'hex').toString('base64');
    const expected =
      '55a4cc2f70a54e04288c5f4cd1e45a7bb520b36292911876cada7323198dd87a' +
      '8b36950b95130022907a7fb7c4e9b2d5f6cca685a587b4b21f4b888e4e7edb0d';
    const request = { signatureContext: Buffer.from('foo').toString('base64') };
    const { signature } = await signOne(knownKey('ed25519', [knownVersion(pkcs8)]), request, { input });
    expect(Buffer.from(signature.split(':')[2] ?? '', 'base64').toString('hex')).toBe(expected);
  });

  it('takes a context of up to 255 bytes', async () => {
    const signatureContext = (bytes: number): string => Buffer.alloc(bytes, 1).toString('base64');
    await expect(signOne(knownEd25519(), { signatureContext: signatureContext(255) })).resolves.toMatchObject(
      { keyVersion: 1 },
    );
    expect(
      await rejectionOf(signOne(knownEd25519(), { signatureContext: signatureContext(256) })),
    ).toMatchObject({
      kind: 'invalid',
      field: 'signature_context',
      message: 'signature_context has 256 bytes',
    });
  });

  it('needs the context of a derived key', async () => {
    expect(await rejectionOf(signOne(knownEd25519({ derived: true, kdf: 1 })))).toMatchObject({
      kind: 'invalid',
      field: 'context',
      message: expect.stringMatching(/^error deriving key: missing 'context' for key derivation; /),
    });
  });
});

describe('a signature', () => {
  it('is base64url without padding, for every type, when it is marshaled for JWS', async () => {
    for (const type of versions.keys()) {
      const { signature } = await signOne(keyOf(type), { marshalingAlgorithm: 'jws' });
      expect(signature).toMatch(/^vault:v1:[A-Za-z0-9_-]+$/);
    }
  });

  it('of ECDSA is DER, or r and s for JWS', async () => {
    const payload = async (marshalingAlgorithm: string, encoding: BufferEncoding) => {
      const { signature } = await signOne(keyOf('ecdsa-p256'), { marshalingAlgorithm });
      return Buffer.from(signature.slice(9), encoding);
    };
    const publicKey = createPublicKey({
      key: Buffer.from(versions.get('ecdsa-p256')?.publicKey ?? '', 'base64'),
      format: 'der',
      type: 'spki',
    });
    expect(nodeVerify('sha256', QUICK_FOX, publicKey, await payload('asn1', 'base64'))).toBe(true);
    const joined = await payload('jws', 'base64url');
    expect(joined).toHaveLength(64);
    expect(nodeVerify('sha256', QUICK_FOX, { key: publicKey, dsaEncoding: 'ieee-p1363' }, joined)).toBe(true);
  });

  it('of a key with a template has the format of that template', async () => {
    const { signature } = await signOne(knownEd25519({ versionTemplate: 'acme/{{version}}/' }));
    expect(signature).toMatch(/^acme\/1\/OZOR/);
  });
});

describe('signing', () => {
  it.each([
    [
      { hashAlgorithm: 'md5', marshalingAlgorithm: 'xml', saltLength: 'x' },
      'hash_algorithm',
      'invalid hash algorithm "md5"',
    ],
    [{ hashAlgorithm: '' }, 'hash_algorithm', 'invalid hash algorithm ""'],
    [
      { marshalingAlgorithm: 'xml', saltLength: 'x' },
      'marshaling_algorithm',
      'invalid marshaling type "xml"',
    ],
    [{ marshalingAlgorithm: '' }, 'marshaling_algorithm', 'invalid marshaling type ""'],
    [{ saltLength: '-2' }, 'salt_length', 'salt length is invalid: -2'],
    [{ saltLength: 'long' }, 'salt_length', "salt length neither 'auto', 'hash', nor an int: long"],
    [{ saltLength: '' }, 'salt_length', "salt length neither 'auto', 'hash', nor an int: "],
    [{ saltLength: '1.5' }, 'salt_length', "salt length neither 'auto', 'hash', nor an int: 1.5"],
  ])('refuses %j before it looks for the key', async (change, field, message) => {
    const attempt = sign(await freshEngine(), 'nobody', [], { ...DEFAULTS, ...change });
    expect(await rejectionOf(attempt)).toMatchObject({ kind: 'invalid', field, message });
  });

  it.each(['auto', 'AUTO', 'hash', 'Hash', '0', '-1', '20', '+20'])(
    'takes the salt_length %s',
    async (saltLength) => {
      await expect(signOne(keyOf('rsa-2048'), { saltLength })).resolves.toMatchObject({ keyVersion: 1 });
    },
  );

  it('refuses a missing key, one that does not sign, and no items', async () => {
    expect(await rejectionOf(sign(await freshEngine(), 'nobody', [], DEFAULTS))).toMatchObject({
      kind: 'not-found',
      message: 'signing key not found',
    });
    expect(await rejectionOf(signOne(knownKey('aes256-gcm96', [knownVersion(KEY_32)])))).toMatchObject({
      kind: 'unsupported',
      message: 'key type aes256-gcm96 does not support signing',
      hint: 'create a signing key with "coffer transit keys create NAME --type ed25519", or compute an HMAC with "coffer transit hmac known"',
    });
    const noItems = sign(await engineWith(knownEd25519()), 'known', [], DEFAULTS);
    expect(await rejectionOf(noItems)).toMatchObject({
      kind: 'invalid',
      message: 'missing batch input to process',
    });
  });

  it.each(['ecdsa-p256', 'rsa-2048'])(
    'without a hash takes a digest and PKCS#1 v1.5, else %s refuses',
    async (type) => {
      for (const change of [{}, { prehashed: true }, { signatureAlgorithm: 'pkcs1v15' }]) {
        const attempt = signOne(keyOf(type), { hashAlgorithm: 'none', ...change });
        expect(await rejectionOf(attempt)).toMatchObject({
          kind: 'invalid',
          field: 'hash_algorithm',
          message: 'hash_algorithm=none requires both prehashed=true and signature_algorithm=pkcs1v15',
        });
      }
      const allowed = { hashAlgorithm: 'none', prehashed: true, signatureAlgorithm: 'pkcs1v15' };
      await expect(signOne(keyOf(type), allowed)).resolves.toMatchObject({ keyVersion: 1 });
    },
  );

  it.each([
    [{ keyVersion: -1 }, {}, 'requested version for signing is negative'],
    [{ keyVersion: 4 }, {}, 'requested version for signing is higher than the latest key version'],
    [
      { keyVersion: 1 },
      { minEncryptionVersion: 2 },
      'requested version for signing is less than the minimum encryption key version',
    ],
    [{ keyVersion: 1 }, { minDecryptionVersion: 2 }, 'no such key version'],
  ])('refuses the version of %j when the key has %j', async (change, settings, message) => {
    expect(await rejectionOf(signOne(keyOf('ed25519', settings, 3), change))).toMatchObject({
      kind: 'invalid',
      field: 'key_version',
      message,
    });
  });

  it('uses any version that may be used', async () => {
    expect(await signOne(keyOf('ed25519', {}, 3), { keyVersion: 2 })).toMatchObject({
      signature: expect.stringMatching(/^vault:v2:/),
      keyVersion: 2,
    });
  });

  it('refuses a version that is a public key alone', async () => {
    const { secret: _, ...publicOnly } = versions.get('ecdsa-p256') ?? knownVersion(KEY_32);
    expect(await rejectionOf(signOne(knownKey('ecdsa-p256', [publicOnly])))).toMatchObject({
      kind: 'unsupported',
      message: 'requested version for signing does not contain a private part',
    });
  });

  it.each([
    [{ signatureAlgorithm: 'x931' }, 'signature_algorithm', 'unsupported rsa signature algorithm x931'],
    [{ saltLength: '223' }, 'salt_length', 'requested salt length 223 is invalid'],
    [{ prehashed: true }, 'input', 'crypto/rsa: input must be hashed with given hash'],
    [
      { prehashed: true, signatureAlgorithm: 'pkcs1v15' },
      'input',
      'crypto/rsa: input must be hashed message',
    ],
  ])('with an RSA key refuses the options %j', async (change, field, message) => {
    expect(await rejectionOf(signOne(keyOf('rsa-2048'), change))).toMatchObject({
      kind: 'invalid',
      field,
      message,
    });
  });

  it('fails an item alone', async () => {
    const items = [{}, { input: '?' }, { input: '', context: '?' }, { input: '' }];
    const results = await sign(await engineWith(knownEd25519()), 'known', items, DEFAULTS);
    expect(results).toMatchObject([
      { error: { kind: 'invalid', message: 'missing input' } },
      {
        error: {
          kind: 'invalid',
          message: 'unable to decode input as base64: illegal base64 data at input byte 0',
        },
      },
      { error: { kind: 'invalid', message: 'failed to base64-decode context' } },
      { value: { keyVersion: 1 } },
    ]);
  });

  it('refuses a soft-deleted key', async () => {
    expect(await rejectionOf(signOne(knownEd25519({ softDeleted: true })))).toMatchObject({
      kind: 'conflict',
      message: 'refusing to use soft-deleted key',
    });
  });
});

describe('the seed that the vectors are made of', () => {
  it('has the public key that they name', () => {
    const key = createPublicKey(createPrivateKey({ key: SEED_PKCS8, format: 'der', type: 'pkcs8' }));
    expect(key.export({ format: 'der', type: 'spki' }).toString('hex')).toContain(
      '03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8',
    );
  });
});
