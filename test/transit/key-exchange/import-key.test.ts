import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/transit/engine.ts';
import { transferKey } from '../../../src/transit/key-exchange/byok-export.ts';
import { importKey, type NewImport } from '../../../src/transit/key-exchange/import-key.ts';
import { importVersion } from '../../../src/transit/key-exchange/import-version.ts';
import { wrappingPublicKey } from '../../../src/transit/key-exchange/wrapping.ts';
import { ecdsa } from '../../../src/transit/key-types/ecdsa.ts';
import { keyTypeNames } from '../../../src/transit/key-types/index.ts';
import { listKeys } from '../../../src/transit/lifecycle.ts';
import { findKey } from '../../../src/transit/named-key.ts';
import { rotateKey } from '../../../src/transit/rotation.ts';
import { verify } from '../../../src/transit/verification.ts';
import { wrappedUnder } from '../../reference/incoming-keys.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshEngine } from '../fresh-engine.ts';

const message = Buffer.from('the quick brown fox');
const base64Message = message.toString('base64');

let engine: Engine;
let wrappingKey: KeyObject;

beforeAll(async () => {
  engine = await freshEngine();
  wrappingKey = createPublicKey(await wrappingPublicKey(engine));
});

const wrapped = (target: Uint8Array, oaepHash?: string, under = wrappingKey): string =>
  wrappedUnder(under, target, oaepHash);

const pkcs8 = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'pkcs8' });
const pem = (key: KeyObject): string => key.export({ format: 'pem', type: 'spki' }).toString();

const settings: NewImport = {
  type: 'aes256-gcm96',
  hashFunction: 'SHA256',
  allowRotation: false,
  derived: false,
  exportable: true,
  allowPlaintextBackup: false,
  autoRotatePeriodSeconds: 0,
};

const verifies = async (name: string, signature: Buffer, version = 1): Promise<unknown> => {
  const item = { input: base64Message, signature: `service:v${version}:${signature.toString('base64')}` };
  const request = {
    hashAlgorithm: 'sha2-256',
    prehashed: false,
    signatureAlgorithm: 'pkcs1v15',
    marshalingAlgorithm: 'asn1',
    saltLength: 'auto',
  };
  const [result] = await verify(engine, name, [item], { request, single: true });
  return result !== undefined && 'value' in result ? result.value : result?.error;
};

describe('the wrapping key', () => {
  it('is an RSA key of 4096 bits that stays the same, and in no list', async () => {
    expect(wrappingKey.asymmetricKeyDetails?.modulusLength).toBe(4096);
    const again = await wrappingPublicKey(engine);
    expect(again).toBe(pem(wrappingKey));
    expect(again.endsWith('-----END PUBLIC KEY-----\n')).toBe(true);
    expect((await listKeys(engine, {})).filter((name) => name.includes('import'))).toEqual([]);
  });
});

describe('importing a key', () => {
  it.each([
    ['aes128-gcm96', 16],
    ['aes256-gcm96', 32],
    ['chacha20-poly1305', 32],
    ['xchacha20-poly1305', 32],
    ['hmac', 48],
  ])('takes raw bytes for %s', async (type, bytes) => {
    const secret = Buffer.alloc(bytes, 9);
    const key = await importKey(engine, `raw-${type}`, { ...settings, type, ciphertext: wrapped(secret) });
    expect(key.document).toMatchObject({
      type,
      imported: true,
      allowImportedKeyRotation: false,
      latestVersion: 1,
      keyBytes: type === 'hmac' ? bytes : 0,
      versions: { 1: { secret: secret.toString('base64') } },
    });
  });

  it.each(['SHA1', 'sha224', 'SHA256', 'Sha384', 'SHA512'])(
    'unwraps a key that was wrapped with %s',
    async (hashFunction) => {
      const ciphertext = wrapped(Buffer.alloc(32, 1), hashFunction.toLowerCase());
      const key = await importKey(engine, `hash-${hashFunction}`, { ...settings, hashFunction, ciphertext });
      expect(key.document.imported).toBe(true);
    },
  );

  const onCurve = (namedCurve = '') => generateKeyPairSync('ec', { namedCurve });
  const pairs = {
    'rsa-2048': generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ...Object.fromEntries(ecdsa.map(({ name, publicKey }) => [name, onCurve(publicKey?.label)])),
    ed25519: generateKeyPairSync('ed25519'),
    'ml-dsa-44': generateKeyPairSync('ml-dsa-44' as never) as { privateKey: KeyObject; publicKey: KeyObject },
    'slh-dsa-sha2-128f': generateKeyPairSync('slh-dsa-sha2-128f' as never) as {
      privateKey: KeyObject;
      publicKey: KeyObject;
    },
  };
  const hashed = (type: string): string | null => (/rsa|ecdsa/.test(type) ? 'sha256' : null);

  it.each(Object.entries(pairs))(
    'takes %s as private and as public key, both of which verify',
    async (type, pair) => {
      const signature = sign(hashed(type), message, pair.privateKey);
      const { privateKey } = pair;
      await importKey(engine, `${type}-private`, {
        ...settings,
        type: type.toUpperCase(),
        ciphertext: wrapped(pkcs8(privateKey)),
      });
      await importKey(engine, `${type}-public`, {
        ...settings,
        type,
        publicKey: pem(createPublicKey(privateKey)),
      });
      expect(await verifies(`${type}-private`, signature)).toBe(true);
      expect(await verifies(`${type}-public`, signature)).toBe(true);
      expect((await findKey(engine, `${type}-public`))?.version(1)?.hasSecret).toBe(false);
    },
  );

  it('takes the wrapped key when a public key is given as well, as peers do', async () => {
    const { privateKey, publicKey } = pairs.ed25519;
    const key = await importKey(engine, 'both', {
      ...settings,
      type: 'ed25519',
      ciphertext: wrapped(pkcs8(privateKey)),
      publicKey: pem(publicKey),
    });
    expect(key.version(1)?.hasSecret).toBe(true);
  });

  it('lets a derived ed25519 key be imported with its private part only', async () => {
    const { privateKey, publicKey } = pairs.ed25519;
    const derived = { ...settings, type: 'ed25519', derived: true };
    const key = await importKey(engine, 'derived', { ...derived, ciphertext: wrapped(pkcs8(privateKey)) });
    expect(key.document).toMatchObject({ derived: true, kdf: 1, convergentEncryption: false });
    expect(
      await rejectionOf(importKey(engine, 'derived-public', { ...derived, publicKey: pem(publicKey) })),
    ).toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(
        /^error importing key: unable to import only public key for derived Ed25519 key/,
      ),
    });
  });

  it.each<[string, Partial<NewImport>]>([
    ['allow_rotation must be set to true if auto-rotation is enabled', { autoRotatePeriodSeconds: 60 }],
    ['unknown key type: rsa-1024', { type: 'rsa-1024' }],
    ['unknown hash function: MD5', { hashFunction: 'MD5', ciphertext: 'AAAA' }],
    ['illegal base64 data at input byte 4', { ciphertext: 'AAAA?' }],
    ['provided ciphertext is too short', { ciphertext: Buffer.alloc(512).toString('base64') }],
    ['crypto/rsa: decryption error', { ciphertext: Buffer.alloc(552, 7).toString('base64') }],
    ['provided type does not support public_key import', {}],
    ['provided type does not support public_key import', { publicKey: pem(pairs.ed25519.publicKey) }],
    ['error importing key: error parsing public key: not in PEM format', { type: 'ed25519' }],
    [
      'error importing key: error parsing public key: not in PEM format',
      { type: 'ed25519', publicKey: 'ssh-ed25519 AAAA' },
    ],
    [
      'error importing key: invalid curve: expected P-256, got P-384',
      { type: 'ecdsa-p256', publicKey: pem(onCurve('P-384').publicKey) },
    ],
    [
      'error importing key: invalid key size: expected 512 bytes, got 256 bytes',
      { type: 'rsa-4096', publicKey: pem(pairs['rsa-2048'].publicKey) },
    ],
    [
      'key derivation and convergent encryption not supported for keys of type hmac',
      { type: 'hmac', derived: true },
    ],
  ])('refuses with "%s" the request %j', async (message_, change) => {
    const attempt = importKey(engine, 'refused', { ...settings, ...change });
    expect(await rejectionOf(attempt)).toMatchObject({ message: message_ });
    expect(await findKey(engine, 'refused')).toBeUndefined();
  });

  it.each<[string, string, () => Uint8Array]>([
    [
      'error importing key: invalid key size 31 bytes for key type aes256-gcm96',
      'aes256-gcm96',
      () => Buffer.alloc(31),
    ],
    ['error importing key: invalid key size 31 bytes for key type hmac', 'hmac', () => Buffer.alloc(31)],
    [
      'error importing key: error parsing asymmetric key: not a PKCS#8 private key',
      'ed25519',
      () => Buffer.alloc(32),
    ],
    [
      'error importing key: invalid key type: expected ed25519, got ec',
      'ed25519',
      () => pkcs8(onCurve('P-256').privateKey),
    ],
    [
      'error importing key: invalid key type: expected ml-dsa-65, got ml-dsa-44',
      'ml-dsa-65',
      () => pkcs8(pairs['ml-dsa-44'].privateKey),
    ],
  ])('refuses with "%s" for type %s', async (refusal, type, target) => {
    const attempt = importKey(engine, 'refused', { ...settings, type, ciphertext: wrapped(target()) });
    expect(await rejectionOf(attempt)).toMatchObject({ kind: 'invalid', message: refusal });
  });

  it('refuses a name that is taken, and leaves the key alone', async () => {
    const before = await importKey(engine, 'taken', {
      ...settings,
      ciphertext: wrapped(Buffer.alloc(32, 1)),
    });
    const attempt = importKey(engine, 'taken', { ...settings, ciphertext: wrapped(Buffer.alloc(32, 2)) });
    expect(await rejectionOf(attempt)).toMatchObject({
      kind: 'exists',
      message:
        'the import path cannot be used with an existing key; use import-version to rotate an existing imported key',
    });
    expect((await findKey(engine, 'taken'))?.document).toEqual(before.document);
  });

  it('takes one of two keys that are imported by one name at the same time', async () => {
    const attempts = await Promise.allSettled(
      [3, 4].map((byte) =>
        importKey(engine, 'raced', { ...settings, ciphertext: wrapped(Buffer.alloc(32, byte)) }),
      ),
    );
    const [taken] = attempts.filter(({ status }) => status === 'fulfilled');
    const [refused] = attempts.filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject({ reason: { kind: 'exists' } });
    expect(taken).toMatchObject({ value: { document: (await findKey(engine, 'raced'))?.document } });
  });

  it('knows how to take every type that there is', () => {
    const taken = new Set([
      ...Object.keys(pairs),
      'aes128-gcm96',
      'aes256-gcm96',
      'chacha20-poly1305',
      'xchacha20-poly1305',
      'hmac',
    ]);
    const others = keyTypeNames().filter((name) => !taken.has(name));
    expect(others.every((name) => /^(rsa|ml-dsa|slh-dsa)-|^(mlkem768-)?(x25519|p256)$/.test(name))).toBe(
      true,
    );
  });
});

describe('importing a version', () => {
  const pair = generateKeyPairSync('ed25519');
  const next = generateKeyPairSync('ed25519');
  const hashFunction = 'SHA256';
  const importPublic = (name: string) =>
    importKey(engine, name, { ...settings, type: 'ed25519', publicKey: pem(pair.publicKey) });

  it('adds a version, whose key counts from then on', async () => {
    await importPublic('grown');
    const key = await importVersion(engine, 'grown', {
      hashFunction,
      ciphertext: wrapped(pkcs8(next.privateKey)),
    });
    expect(key.document).toMatchObject({ latestVersion: 2, imported: true });
    expect(await verifies('grown', sign(null, message, pair.privateKey), 1)).toBe(true);
    expect(await verifies('grown', sign(null, message, next.privateKey), 2)).toBe(true);
    expect(await verifies('grown', sign(null, message, next.privateKey), 1)).toBe(false);
  });

  it('completes the latest version when the private key is its own', async () => {
    const before = await importPublic('completed');
    const key = await importVersion(engine, 'completed', {
      hashFunction,
      ciphertext: wrapped(pkcs8(pair.privateKey)),
    });
    expect(key.document.latestVersion).toBe(1);
    expect(key.version(1)?.hasSecret).toBe(true);
    expect(key.document.versions['1']?.hmacKey).toBe(before.document.versions['1']?.hmacKey);
  });

  it('completes an older version that is named', async () => {
    await importPublic('named');
    await importVersion(engine, 'named', { hashFunction, publicKey: pem(next.publicKey) });
    const ciphertext = wrapped(pkcs8(pair.privateKey));
    const key = await importVersion(engine, 'named', { hashFunction, ciphertext, version: 1 });
    expect([key.version(1)?.hasSecret, key.version(2)?.hasSecret]).toEqual([true, false]);
    const refusals: [string, object][] = [
      ['no such key version', { version: 3, ciphertext }],
      ['no such key version', { version: 0, ciphertext }],
      ['private key imported, key version cannot be updated', { version: 1, ciphertext }],
      ['cannot import key, key pair does not match', { version: 2, ciphertext }],
      [
        'cannot add a public key to a key version that already has a public key set',
        { version: 2, publicKey: pem(pair.publicKey) },
      ],
    ];
    for (const [refusal, incoming] of refusals) {
      const attempt = importVersion(engine, 'named', { hashFunction, ...incoming });
      expect(await rejectionOf(attempt)).toMatchObject({ message: refusal });
    }
  });

  it('is for imported keys that were not rotated here', async () => {
    const incoming = { hashFunction, ciphertext: wrapped(Buffer.alloc(32, 3)) };
    expect(await rejectionOf(importVersion(engine, 'nobody', incoming))).toMatchObject({
      kind: 'not-found',
      message: 'no key found with name nobody; to import a new key, use the import/ endpoint',
    });
    const free = { ...settings, allowRotation: true, ciphertext: wrapped(Buffer.alloc(32, 4)) };
    await importKey(engine, 'rotated', free);
    expect((await rotateKey(engine, 'rotated', false)).document.imported).toBe(false);
    expect(await rejectionOf(importVersion(engine, 'rotated', incoming))).toMatchObject({
      kind: 'conflict',
      message: 'the import_version endpoint can only be used with an imported key',
    });
  });

  it('cannot complete a symmetric version', async () => {
    await importKey(engine, 'symmetric', { ...settings, ciphertext: wrapped(Buffer.alloc(32, 5)) });
    const attempt = importVersion(engine, 'symmetric', {
      hashFunction,
      ciphertext: wrapped(Buffer.alloc(32, 6)),
      version: 1,
    });
    expect(await rejectionOf(attempt)).toMatchObject({
      kind: 'unsupported',
      message: 'provided type does not support importing key versions',
    });
  });
});

describe('transferring a key to another server', () => {
  it('gives what the other server imports', async () => {
    const other = await freshEngine();
    await importKey(engine, 'other-server', {
      ...settings,
      type: 'rsa-4096',
      publicKey: await wrappingPublicKey(other),
    });
    await importKey(engine, 'travelling', { ...settings, ciphertext: wrapped(Buffer.alloc(32, 8)) });
    await importVersion(engine, 'travelling', {
      hashFunction: 'SHA256',
      ciphertext: wrapped(Buffer.alloc(32, 9)),
    });
    const { key, wrapped: out } = await transferKey(engine, {
      destination: 'other-server',
      source: 'travelling',
      version: '',
      hash: 'SHA384',
    });
    expect(key.document.name).toBe('travelling');
    expect(Object.keys(out)).toEqual(['1', '2']);
    const arrived = await importKey(other, 'arrived', {
      ...settings,
      hashFunction: 'SHA384',
      ciphertext: out['2'] ?? '',
    });
    expect(arrived.document.versions['1']?.secret).toBe(Buffer.alloc(32, 9).toString('base64'));
  });

  it.each([
    ['no such destination key to export to', { destination: 'nobody' }],
    ['no such source key for export', { source: 'nobody' }],
    ['unsupported key type in use; must be a rsa key', { destination: 'raw-aes256-gcm96' }],
    ['unsupported key type in use; must be a rsa key', { destination: 'ed25519-public' }],
    ['unknown hash function: crc32', { hash: 'crc32' }],
    ['invalid key version', { version: 'x' }],
    ['version does not exist or cannot be found', { version: '9' }],
    ['version for export is below minimum decryption version', { version: '0' }],
    ['version 1 does not contain a private part', { source: 'ed25519-public' }],
  ])('is refused with "%s" for %j', async (refusal, change) => {
    const request = {
      destination: 'other-server',
      source: 'travelling',
      version: '',
      hash: 'SHA256',
      ...change,
    };
    expect(await rejectionOf(transferKey(engine, request))).toMatchObject({ message: refusal });
  });

  it('is refused for a key that is not exportable', async () => {
    const ciphertext = wrapped(Buffer.alloc(32, 1));
    await importKey(engine, 'kept', { ...settings, exportable: false, ciphertext });
    const request = { destination: 'other-server', source: 'kept', version: '', hash: 'SHA256' };
    expect(await rejectionOf(transferKey(engine, request))).toMatchObject({
      kind: 'conflict',
      message: 'key is not exportable',
    });
  });
});
