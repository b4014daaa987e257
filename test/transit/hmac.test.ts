import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { onlyValue, valueOrThrow } from '../../src/transit/batch.ts';
import type { Engine } from '../../src/transit/engine.ts';
import { hmac } from '../../src/transit/hmac.ts';
import type { NamedKeyDocument } from '../../src/transit/key-document.ts';
import { type VerifyItem, verify } from '../../src/transit/verification.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';
import { KEY_32, knownKey, knownVersion, QUICK_FOX_BASE64, storeKey } from './known-key.ts';

const plain = knownKey('aes256-gcm96', [knownVersion(KEY_32)]);

/** Of Python's `hmac`, for the key `01234567890123456789012345678901`. */
const VECTORS = [
  ['sha1', 'FuC2wR0oEs8Q2taEueKCq59KyXY='],
  ['sha2-224', '3p+ZWVquYDvu2dSTCa65Y3fgoMfIAc6fNaBbtg=='],
  ['sha2-256', 'UcBvm5VskkukzZHlPgm3p5P/Yr/PV6xpuOGZISya3A4='],
  ['sha2-384', 'jDB9YXdPjpmr29b1JCIEJO93IydlKVfD9mA2EO9OmJtJQg3QAV5tcRRRb7IQGW9p'],
  ['sha2-512', 'PSXLXvkvKF4CpU65e2bK1tGBZQpcpCEM32fq2iUoiTyQQCfBcGJJItQ+60tMwWXAPQrC290AzTrNJucGrr4GFA=='],
  ['sha3-256', '+px9V/7QYLfdK808zPESC2T/L33uFf4Blzsn9Jy838o='],
  ['sha3-512', 'GrNA8sU88naMPEQ7UZGj9EJl7YJhl03AFHfxcEURFrtvnobdea9ZlZHePpxAx/oCaC7R2HkrAO+Tu3uXPIl3lg=='],
] as const;

async function engineWith(document: NamedKeyDocument): Promise<Engine> {
  const engine = await freshEngine('vault');
  await storeKey(engine, document);
  return engine;
}

const hmacOf = async (
  document: NamedKeyDocument,
  options: { algorithm?: string; keyVersion?: number } = {},
) =>
  onlyValue(
    await hmac(await engineWith(document), 'known', [{ input: QUICK_FOX_BASE64 }], {
      algorithm: 'sha2-256',
      keyVersion: 0,
      ...options,
    }),
  );

async function isValid(document: NamedKeyDocument, item: VerifyItem, hashAlgorithm = 'sha2-256') {
  const request = {
    hashAlgorithm,
    prehashed: false,
    signatureAlgorithm: '',
    marshalingAlgorithm: 'asn1',
    saltLength: 'auto',
  };
  return onlyValue(await verify(await engineWith(document), 'known', [item], { request, single: true }));
}

describe('an HMAC', () => {
  it.each(VECTORS)(
    'with %s is that of another implementation, and is verified',
    async (algorithm, payload) => {
      const made = await hmacOf(plain, { algorithm });
      expect(made).toBe(`vault:v1:${payload}`);
      expect(await isValid(plain, { input: QUICK_FOX_BASE64, hmac: made }, algorithm)).toBe(true);
      expect(await isValid(plain, { input: 'AAAA', hmac: made }, algorithm)).toBe(false);
    },
  );

  it('is made with the HMAC key of the version, whatever the type, and needs no context', async () => {
    const derived = knownKey('ed25519', [knownVersion(KEY_32)], { derived: true, kdf: 1 });
    expect(await hmacOf(derived)).toBe(await hmacOf(plain));
  });

  it('ignores a version template', async () => {
    expect(await hmacOf({ ...plain, versionTemplate: 'acme/{{version}}/' })).toMatch(/^vault:v1:/);
  });

  it('is valid for exactly its bits', async () => {
    const bytes = Buffer.from('UcBvm5VskkukzZHlPgm3p5P/Yr/PV6xpuOGZISya3A4=', 'base64');
    const engine = await engineWith(plain);
    const items = Array.from({ length: bytes.length * 8 }, (_, bit) => {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      return { input: QUICK_FOX_BASE64, hmac: `vault:v1:${changed.toString('base64')}` };
    });
    const request = {
      hashAlgorithm: 'sha2-256',
      prehashed: false,
      signatureAlgorithm: '',
      marshalingAlgorithm: 'asn1',
      saltLength: 'auto',
    };
    const results = await verify(engine, 'known', items, { request, single: false });
    expect(results.map(valueOrThrow)).toEqual(Array(bytes.length * 8).fill(false));
  });

  it('of another length is simply not valid', async () => {
    expect(await isValid(plain, { input: QUICK_FOX_BASE64, hmac: 'vault:v1:' })).toBe(false);
    expect(await isValid(plain, { input: QUICK_FOX_BASE64, hmac: 'vault:v1:UcBv' })).toBe(false);
  });

  it('is verified when it was made, for any input', async () => {
    const engine = await engineWith(plain);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        const input = Buffer.from(bytes).toString('base64');
        const options = { algorithm: 'sha3-384', keyVersion: 0 };
        const made = onlyValue(await hmac(engine, 'known', [{ input }], options));
        expect(await isValid(plain, { input, hmac: made }, 'sha3-384')).toBe(true);
      }),
      { numRuns: 20 },
    );
  });
});

describe('making an HMAC', () => {
  const three = knownKey('aes256-gcm96', [knownVersion(KEY_32), knownVersion(KEY_32), knownVersion(KEY_32)]);

  it.each([
    [0, 3, three],
    [1, 1, three],
    [2, 2, { ...three, minEncryptionVersion: 2 }],
    [3, 3, { ...three, minEncryptionVersion: 3, minDecryptionVersion: 3 }],
  ])('takes, when %i is asked for, the version %i', async (keyVersion, used, key) => {
    expect(await hmacOf(key, { keyVersion })).toMatch(new RegExp(`^vault:v${used}:`));
  });

  it.each([
    [{ minEncryptionVersion: 3 }, 2, 'cannot generate HMAC: version is too old (disallowed by policy)'],
    [{ minEncryptionVersion: 3 }, -1, 'cannot generate HMAC: version is too old (disallowed by policy)'],
    [{}, -1, 'key version does not exist (cannot be negative)'],
    [{}, 4, 'key version does not exist; latest key version is 3'],
    [{ minDecryptionVersion: 2 }, 1, 'no such key version'],
  ])('of a key with %j refuses version %i', async (settings, keyVersion, message) => {
    expect(await rejectionOf(hmacOf({ ...three, ...settings }, { keyVersion }))).toMatchObject({
      kind: 'invalid',
      field: 'key_version',
      message,
    });
  });

  it.each(['none', '', 'SHA2-256', 'md5'])('refuses the algorithm %j', async (algorithm) => {
    expect(await rejectionOf(hmacOf(plain, { algorithm }))).toMatchObject({
      kind: 'invalid',
      field: 'algorithm',
      message: `unsupported algorithm "${algorithm}"`,
    });
  });

  it('fails an item alone', async () => {
    const items = [{}, { input: '?' }, { input: '' }];
    const options = { algorithm: 'sha2-256', keyVersion: 0 };
    expect(await hmac(await engineWith(plain), 'known', items, options)).toMatchObject([
      { error: { kind: 'invalid', message: 'missing input for HMAC' } },
      {
        error: {
          kind: 'invalid',
          message: 'unable to decode input as base64: illegal base64 data at input byte 0',
        },
      },
      { value: expect.stringMatching(/^vault:v1:/) },
    ]);
  });

  it('refuses a missing key, a soft-deleted one, a version without an HMAC key, and no items', async () => {
    const options = { algorithm: 'sha2-256', keyVersion: 0 };
    expect(await rejectionOf(hmac(await freshEngine(), 'nobody', [], options))).toMatchObject({
      kind: 'not-found',
      message: 'encryption key not found',
    });
    expect(await rejectionOf(hmacOf({ ...plain, softDeleted: true }))).toMatchObject({
      kind: 'conflict',
      message: 'refusing to use soft-deleted key',
    });
    const { hmacKey: _, ...without } = knownVersion(KEY_32);
    expect(await rejectionOf(hmacOf(knownKey('aes256-gcm96', [without])))).toMatchObject({
      kind: 'invalid',
      message: 'no HMAC key exists for that key version',
    });
    expect(await rejectionOf(hmac(await engineWith(plain), 'known', [], options))).toMatchObject({
      kind: 'invalid',
      message: 'missing batch input to process',
    });
  });
});

describe('verifying an HMAC', () => {
  const three = knownKey('aes256-gcm96', [knownVersion(KEY_32), knownVersion(KEY_32), knownVersion(KEY_32)], {
    minDecryptionVersion: 2,
  });

  it.each([
    ['x', 'hmac', 'invalid HMAC to verify: no prefix'],
    ['vault:v1', 'hmac', 'invalid HMAC: wrong number of fields'],
    ['vault:vx:AAAA', 'hmac', 'invalid HMAC: version number could not be decoded'],
    [
      'vault:v9:AAA',
      'hmac',
      'unable to decode verification HMAC as base64: illegal base64 data at input byte 0',
    ],
    ['vault:v4:AAAA', 'hmac', 'invalid HMAC: version is too new'],
    ['vault:v1:AAAA', 'hmac', 'cannot verify HMAC: version is too old (disallowed by policy)'],
    ['vault:v0:AAAA', 'hmac', 'cannot verify HMAC: version is too old (disallowed by policy)'],
  ])('refuses the text %j', async (text, field, message) => {
    expect(await rejectionOf(isValid(three, { input: QUICK_FOX_BASE64, hmac: text }))).toMatchObject({
      kind: 'invalid',
      field,
      message,
    });
  });

  it('refuses an unknown hash, and input that is not base64', async () => {
    expect(await rejectionOf(isValid(three, { input: '', hmac: 'x' }, 'md5'))).toMatchObject({
      kind: 'invalid',
      field: 'hash_algorithm',
      message: 'invalid hash algorithm "md5"',
    });
    expect(await rejectionOf(isValid(three, { input: '?', hmac: 'x' }))).toMatchObject({
      kind: 'invalid',
      field: 'input',
      message: 'unable to decode input as base64: illegal base64 data at input byte 0',
    });
  });
});
