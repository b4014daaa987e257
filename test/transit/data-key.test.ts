import { describe, expect, it } from 'vitest';
import { onlyValue } from '../../src/transit/batch.ts';
import { dataKey } from '../../src/transit/data-key.ts';
import { decrypt } from '../../src/transit/decrypt.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';
import { KEY_32, knownKey, knownVersion, storeKey } from './known-key.ts';

async function engineWithKey(type = 'aes256-gcm96') {
  const engine = await freshEngine();
  await storeKey(engine, knownKey(type, [knownVersion(KEY_32)]));
  return engine;
}

describe('a data key', () => {
  it.each([128, 256, 512])('of %i bits comes in the clear and encrypted', async (bits) => {
    const engine = await engineWithKey();
    const made = await dataKey(engine, 'known', { withPlaintext: true, bits });
    const [result] = await decrypt(engine, 'known', [{ ciphertext: made.ciphertext }]);
    expect(made.keyVersion).toBe(1);
    expect(Buffer.from(made.plaintext ?? '', 'base64')).toHaveLength(bits / 8);
    expect(result).toEqual({ value: Buffer.from(made.plaintext ?? '', 'base64') });
  });

  it('stays wrapped when that is asked for, and is bound to its associated data', async () => {
    const engine = await engineWithKey();
    const made = await dataKey(engine, 'known', { withPlaintext: false, bits: 256, associatedData: 'YWFk' });
    expect(made).toEqual({ ciphertext: expect.stringMatching(/^service:v1:/), keyVersion: 1 });
    const item = { ciphertext: made.ciphertext, associatedData: 'YWFk' };
    expect(onlyValue(await decrypt(engine, 'known', [item]))).toHaveLength(32);
  });

  it('is never the same twice', async () => {
    const engine = await engineWithKey();
    const one = await dataKey(engine, 'known', { withPlaintext: true, bits: 256 });
    const other = await dataKey(engine, 'known', { withPlaintext: true, bits: 256 });
    expect(one.plaintext).not.toBe(other.plaintext);
  });

  it.each([
    [{ bits: 192 }, { kind: 'invalid', field: 'bits', message: 'invalid bit length' }],
    [{ context: '?' }, { kind: 'invalid', field: 'context', message: 'failed to base64-decode context' }],
    [
      { nonce: 'AAECAwQFBgcICQoL' },
      { kind: 'invalid', field: 'nonce', message: 'provided nonce not allowed for this key' },
    ],
    [
      { keyVersion: 2 },
      { message: 'requested version for encryption is higher than the latest key version' },
    ],
  ])('is refused with %j', async (request, refusal) => {
    const attempt = dataKey(await engineWithKey(), 'known', { withPlaintext: true, bits: 256, ...request });
    expect(await rejectionOf(attempt)).toMatchObject(refusal);
  });

  it('is refused for a missing key, and associated data for a key without them', async () => {
    const request = { withPlaintext: true, bits: 256, associatedData: 'YWFk' };
    expect(await rejectionOf(dataKey(await freshEngine(), 'nobody', request))).toMatchObject({
      kind: 'not-found',
      message: 'encryption key not found',
    });
    expect(await rejectionOf(dataKey(await engineWithKey('rsa-2048'), 'known', request))).toMatchObject({
      kind: 'unsupported',
      message: "'associated_data' provided for non-AEAD cipher suite rsa-2048",
    });
  });
});
