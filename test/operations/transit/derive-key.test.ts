import { createDecipheriv, createECDH, createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';

let operations: Operations;
let ask: Operations['ask'];
beforeAll(async () => {
  operations = await freshOperations();
  ({ ask } = operations);
  for (const curve of ['p256', 'p384', 'p521']) {
    await ask('keys create', { name: curve, type: `ecdsa-${curve}` });
  }
  await ask('keys rotate', { name: 'p256', force: true });
  await ask('keys create', { name: 'aes' });
  await ask('keys create', { name: 'signs', type: 'ed25519' });
});

const CURVES = { p256: 'prime256v1', p384: 'secp384r1', p521: 'secp521r1' } as const;
type Base = keyof typeof CURVES;

const pemOf = (key: KeyObject): string => key.export({ format: 'pem', type: 'spki' }).toString();
const pairOn = (base: Base) => generateKeyPairSync('ec', { namedCurve: CURVES[base] });
const PEER = pairOn('p256');
const peer = pemOf(PEER.publicKey);

const derive = (name: string, raw: Raw = {}) =>
  ask('derive-key', { name, base_key_name: 'p256', peer_public_key: peer, ...raw });
const read = async (name: string) =>
  (await ask('keys read', { name })) as Raw & { keys: Record<number, { public_key: string }> };

/** What the other side computes: ECDH by another interface of OpenSSL's, and HKDF (RFC 5869) written out. */
async function computed(base: Base, version: number, privateKey: KeyObject, bytes: number): Promise<Buffer> {
  const ecdh = createECDH(CURVES[base]);
  ecdh.setPrivateKey(Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url'));
  const der = Buffer.from(
    ((await read(base)).keys[version]?.public_key ?? '').replace(/-----.*-----|\n/g, ''),
    'base64',
  );
  const point = der.subarray(der.length - (2 * Math.ceil({ p256: 256, p384: 384, p521: 521 }[base] / 8) + 1));
  const extracted = createHmac('sha256', Buffer.alloc(32)).update(ecdh.computeSecret(point)).digest();
  return createHmac('sha256', extracted)
    .update(Buffer.from([1]))
    .digest()
    .subarray(0, bytes);
}

/** What a key of the other side opens. */
function opened(cipher: 'aes-128-gcm' | 'aes-256-gcm', key: Buffer, ciphertext: string): string {
  const sealed = Buffer.from(ciphertext.split(':')[2] ?? '', 'base64');
  const decipher = createDecipheriv(cipher, key, sealed.subarray(0, 12), { authTagLength: 16 });
  decipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString();
}

const sealedBy = (name: string, raw: Raw = {}) =>
  operations.text('encrypt', { name, plaintext: 'aGVsbG8=', ...raw }, 'ciphertext');

describe('derive-key', () => {
  it.each<Base>(['p256', 'p384', 'p521'])(
    'makes the key that the other side computes, on %s',
    async (base) => {
      const theirs = pairOn(base);
      const name = `with-${base}`;
      expect(
        await derive(name, { base_key_name: base, peer_public_key: pemOf(theirs.publicKey) }),
      ).toBeUndefined();
      const key = await computed(base, base === 'p256' ? 2 : 1, theirs.privateKey, 32);
      expect(opened('aes-256-gcm', key, await sealedBy(name))).toBe('hello');
    },
  );

  it('makes an imported key that is neither exported nor rotated', async () => {
    await derive('imported');
    expect(await read('imported')).toMatchObject({
      type: 'aes256-gcm96',
      imported_key: true,
      imported_key_allow_rotation: false,
      exportable: false,
      allow_plaintext_backup: false,
      derived: false,
      latest_version: 1,
      min_decryption_version: 1,
    });
    expect(await rejectionOf(ask('keys rotate', { name: 'imported' }))).toMatchObject({
      kind: 'unsupported',
    });
  });

  it('uses the version of the base key that is asked for', async () => {
    await derive('older', { base_key_version: 1 });
    const key = await computed('p256', 1, PEER.privateKey, 32);
    expect(opened('aes-256-gcm', key, await sealedBy('older'))).toBe('hello');
  });

  it.each([
    ['aes128-gcm96', 'aes-128-gcm', 16],
    ['AES256-gcm96', 'aes-256-gcm', 32],
  ] as const)('makes a key of the type %s', async (type, cipher, bytes) => {
    await derive(type, { derived_key_type: type });
    expect(await read(type)).toMatchObject({ type: type.toLowerCase() });
    const key = await computed('p256', 2, PEER.privateKey, bytes);
    expect(opened(cipher, key, await sealedBy(type))).toBe('hello');
  });

  it.each(['chacha20-poly1305', 'xchacha20-poly1305'])('makes a key of the type %s, too', async (type) => {
    await derive(type, { derived_key_type: type });
    const ciphertext = await sealedBy(type);
    expect(await ask('decrypt', { name: type, ciphertext })).toEqual({ plaintext: 'aGVsbG8=' });
  });

  it('adds a version to an imported key, of the type that this has', async () => {
    await derive('grown', { derived_key_type: 'chacha20-poly1305' });
    const old = await sealedBy('grown');
    await derive('grown', { base_key_version: 1 });
    expect(await read('grown')).toMatchObject({
      latest_version: 2,
      type: 'chacha20-poly1305',
      imported_key: true,
    });
    expect(await ask('decrypt', { name: 'grown', ciphertext: old })).toEqual({ plaintext: 'aGVsbG8=' });
    for (const [derived_key_type, message] of [
      ['aes128-gcm96', 'error importing key: invalid key size 16 bytes for key type chacha20-poly1305'],
      ['aes256-gcm96', 'error importing key: invalid key type: expected chacha20-poly1305, got aes256-gcm96'],
    ]) {
      expect(await rejectionOf(derive('grown', { derived_key_type }))).toMatchObject({
        kind: 'invalid',
        field: 'derived_key_type',
        message,
      });
    }
    expect(await read('grown')).toMatchObject({ latest_version: 2 });
  });

  it('adds none to a key that was made here', async () => {
    expect(await rejectionOf(derive('aes'))).toMatchObject({
      kind: 'conflict',
      message: 'derive-key can add a version to an imported key only',
    });
    expect(await rejectionOf(derive('p256'))).toMatchObject({ kind: 'conflict' });
    expect(await read('aes')).toMatchObject({ latest_version: 1 });
  });

  const PRIVATE = PEER.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const ED25519 = pemOf(generateKeyPairSync('ed25519').publicKey);
  const UNREADABLE =
    'failed to parse supplied peer public key PEM: data does not contain any valid public keys ';

  it.each<[Raw, string, string, string]>([
    [
      { key_derivation_algorithm: 'ECDH' },
      'invalid',
      'key_derivation_algorithm',
      'key derivation algorithm ECDH not supported',
    ],
    [{ peer_public_key: '' }, 'invalid', 'peer_public_key', 'peer public key not provided'],
    [{ derived_key_type: 'rsa-2048' }, 'invalid', 'derived_key_type', 'unknown key type rsa-2048'],
    [{ derived_key_type: 'hmac' }, 'invalid', 'derived_key_type', 'unknown key type hmac'],
    [{ base_key_name: 'none' }, 'not-found', 'base_key_name', 'specified base key not found'],
    [{ base_key_name: '' }, 'not-found', 'base_key_name', 'specified base key not found'],
    [{ base_key_name: '../p256' }, 'not-found', 'base_key_name', 'specified base key not found'],
    [
      { base_key_name: 'aes' },
      'unsupported',
      'base_key_name',
      'base key type aes256-gcm96 does not support key agreement',
    ],
    [
      { base_key_name: 'signs' },
      'unsupported',
      'base_key_name',
      'base key type ed25519 does not support key agreement',
    ],
    [{ peer_public_key: 'x' }, 'invalid', 'peer_public_key', UNREADABLE],
    [{ peer_public_key: PRIVATE }, 'invalid', 'peer_public_key', UNREADABLE],
    [{ peer_public_key: peer.replace(/\n.{9}/, '\nAAAAAAAAA') }, 'invalid', 'peer_public_key', UNREADABLE],
    [
      { peer_public_key: ED25519 },
      'invalid',
      'peer_public_key',
      'supplied peer public key is not an ECDSA key',
    ],
    [
      { base_key_name: 'p384' },
      'invalid',
      'peer_public_key',
      'base private key type ecdsa-p384 does not match peer public key curve',
    ],
    [
      { base_key_version: 3 },
      'invalid',
      'base_key_version',
      'requested version of the base key is higher than the latest key version',
    ],
    [
      { base_key_version: -1 },
      'invalid',
      'base_key_version',
      'requested version of the base key is negative',
    ],
  ])('refuses %j', async (raw, kind, field, message) => {
    expect(await rejectionOf(derive('refused', raw))).toMatchObject({ kind, field, message });
    expect(await rejectionOf(read('refused'))).toMatchObject({ kind: 'not-found' });
  });

  it('refuses a point that is not on the curve', async () => {
    const der = PEER.publicKey.export({ format: 'der', type: 'spki' });
    der[der.length - 1] = (der.at(-1) ?? 0) ^ 1;
    const peer_public_key = `-----BEGIN PUBLIC KEY-----\n${der.toString('base64')}\n-----END PUBLIC KEY-----`;
    expect(await rejectionOf(derive('refused', { peer_public_key }))).toMatchObject({ message: UNREADABLE });
  });

  it('refuses a base version that was trimmed, or of which only the public key is known', async () => {
    await ask('keys create', { name: 'trimmed', type: 'ecdsa-p256' });
    await ask('keys rotate', { name: 'trimmed', force: true });
    await ask('keys config', { name: 'trimmed', min_decryption_version: 2, min_encryption_version: 2 });
    const old = { base_key_name: 'trimmed', base_key_version: 1 };
    expect(await rejectionOf(derive('refused', old))).toMatchObject({ message: 'no such key version' });
    await ask('keys trim', { name: 'trimmed', min_available_version: 2 });
    expect(await rejectionOf(derive('refused', old))).toMatchObject({
      message: 'requested version of the base key is less than the minimum available key version',
    });
    await derive('oldest', { ...old, base_key_version: 2 });
    await ask('import', { name: 'half', type: 'ecdsa-p256', public_key: peer });
    expect(await rejectionOf(derive('refused', { base_key_name: 'half' }))).toMatchObject({
      kind: 'unsupported',
      message: 'requested version of the base key does not contain a private part',
    });
  });

  it('refuses keys that are soft-deleted', async () => {
    await derive('sleeping');
    await ask('keys soft-delete', { name: 'sleeping' });
    expect(await rejectionOf(derive('sleeping'))).toMatchObject({
      message: 'refusing to use soft-deleted key',
    });
    await ask('keys create', { name: 'base', type: 'ecdsa-p256' });
    await ask('keys soft-delete', { name: 'base' });
    expect(await rejectionOf(derive('refused', { base_key_name: 'base' }))).toMatchObject({
      message: 'refusing to use soft-deleted key',
    });
  });
});
