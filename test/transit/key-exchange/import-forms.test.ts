import {
  constants,
  createPrivateKey,
  createPublicKey,
  verify as cryptoVerify,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { onlyValue } from '../../../src/transit/batch.ts';
import type { Engine } from '../../../src/transit/engine.ts';
import { importKey, type NewImport } from '../../../src/transit/key-exchange/import-key.ts';
import { wrappingPublicKey } from '../../../src/transit/key-exchange/wrapping.ts';
import { verify } from '../../../src/transit/verification.ts';
import { nssPkcs8, wrappedUnder } from '../../reference/incoming-keys.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshEngine } from '../fresh-engine.ts';

const message = Buffer.from('the quick brown fox');

let engine: Engine;
let wrappingKey: KeyObject;

beforeAll(async () => {
  engine = await freshEngine();
  wrappingKey = createPublicKey(await wrappingPublicKey(engine));
});

const wrapped = (target: Uint8Array): string => wrappedUnder(wrappingKey, target);
const pkcs8 = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'pkcs8' });

const settings: NewImport = {
  type: 'aes256-gcm96',
  hashFunction: 'SHA256',
  allowRotation: false,
  derived: false,
  exportable: true,
  allowPlaintextBackup: false,
  autoRotatePeriodSeconds: 0,
};

async function verifies(name: string, signature: Buffer): Promise<boolean> {
  const item = {
    input: message.toString('base64'),
    signature: `service:v1:${signature.toString('base64')}`,
  };
  const request = {
    hashAlgorithm: 'sha2-256',
    prehashed: false,
    signatureAlgorithm: 'pkcs1v15',
    marshalingAlgorithm: 'asn1',
    saltLength: 'auto',
  };
  return onlyValue(await verify(engine, name, [item], { request, single: true }));
}

describe('importing a key in a form of other programs', () => {
  it('takes an RSA key that calls itself one for PSS, which then does what every RSA key does', async () => {
    const { privateKey } = generateKeyPairSync('rsa-pss', {
      modulusLength: 2048,
      hashAlgorithm: 'sha256',
      mgf1HashAlgorithm: 'sha256',
    });
    const target = { ...settings, type: 'rsa-2048', ciphertext: wrapped(pkcs8(privateKey)) };
    const key = await importKey(engine, 'rsa-pss', target);
    const stored = createPrivateKey({
      key: Buffer.from(key.document.versions['1']?.secret ?? '', 'base64'),
      format: 'der',
      type: 'pkcs8',
    });
    expect(stored.asymmetricKeyType).toBe('rsa');
    expect(await verifies('rsa-pss', sign('sha256', message, stored))).toBe(true);
    const pss = sign('sha256', message, { key: privateKey, saltLength: 32 });
    expect(
      cryptoVerify('sha256', message, { key: stored, padding: constants.RSA_PKCS1_PSS_PADDING }, pss),
    ).toBe(true);
    const other = { ...target, type: 'rsa-3072' };
    expect(await rejectionOf(importKey(engine, 'rsa-pss-3072', other))).toMatchObject({
      message: 'error importing key: invalid key size: expected 384 bytes, got 256 bytes',
    });
  });

  it('takes an ed25519 key in the form of NSS, as if it were one on a curve', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const seed = pkcs8(privateKey).subarray(-32);
    const key = await importKey(engine, 'nss', {
      ...settings,
      type: 'ed25519',
      ciphertext: wrapped(nssPkcs8(seed)),
    });
    expect(key.document.versions['1']?.secret).toBe(pkcs8(privateKey).toString('base64'));
    expect(await verifies('nss', sign(null, message, privateKey))).toBe(true);
    for (const [refusal, type, target] of [
      ['error parsing asymmetric key: not a PKCS#8 private key', 'ed25519', nssPkcs8(seed.subarray(1))],
      ['error parsing asymmetric key: not a PKCS#8 private key', 'ed25519', nssPkcs8(seed, '2b656e')],
      ['invalid key type: expected ecdsa, got ed25519', 'ecdsa-p256', nssPkcs8(seed)],
    ] as const) {
      const attempt = importKey(engine, 'nss-refused', { ...settings, type, ciphertext: wrapped(target) });
      expect(await rejectionOf(attempt)).toMatchObject({ message: `error importing key: ${refusal}` });
    }
  });

  it.each([
    ['aes256-gcm96', 32, 0],
    ['chacha20-poly1305', 32, 0],
    ['xchacha20-poly1305', 32, 0],
    // The counter mode makes 32 bytes, which are no key of this type.
    ['aes128-gcm96', 16, 1],
  ])('lets contexts derive their keys from one of %s as peers do', async (type, bytes, kdf) => {
    const ciphertext = wrapped(Buffer.alloc(bytes, 9));
    const key = await importKey(engine, `kdf-${type}`, { ...settings, type, derived: true, ciphertext });
    expect(key.document).toMatchObject({ derived: true, kdf });
  });

  it('refuses a private key in place of a public one, also beside a public or wrapped one, without an echo', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const secret = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const shown = publicKey.export({ format: 'pem', type: 'spki' }).toString();
    const ciphertext = wrapped(pkcs8(privateKey));
    for (const given of [{ publicKey: shown + secret }, { publicKey: secret, ciphertext }]) {
      const error = await rejectionOf(importKey(engine, 'both', { ...settings, ...given, type: 'ed25519' }));
      expect(error).toMatchObject({ kind: 'invalid', message: 'public_key contains a private key' });
      expect(JSON.stringify(error)).not.toContain('BEGIN');
    }
  });
});
