import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/ground/random.ts';
import { hmac } from '../../../src/transit/key-types/symmetric.ts';
import { thrownBy } from '../../reference/thrown.ts';

const stored = (bytes: number) => ({ secret: Buffer.alloc(bytes, 7).toString('base64') });

describe('the type hmac', () => {
  it('makes keys of the length asked for, which answer HMACs themselves', async () => {
    for (const bytes of [32, 48, 512]) {
      const made = await hmac.generate(systemRandom, bytes);
      expect(Buffer.from(made.secret ?? '', 'base64')).toHaveLength(bytes);
      expect(hmac.hmacKeyOf?.(made)).toBe(made.secret);
    }
  });

  it('neither encrypts nor signs nor derives', () => {
    expect(hmac).not.toHaveProperty('aead');
    expect(hmac).not.toHaveProperty('signing');
    expect(hmac).not.toHaveProperty('derivation');
    expect(hmac).not.toHaveProperty('publicKey');
  });

  it.each([32, 512])('imports and restores %i bytes', (bytes) => {
    expect(hmac.importing?.secret(Buffer.alloc(bytes, 7))).toEqual(stored(bytes));
    expect(hmac.backup.read({ key: Buffer.alloc(bytes, 7) })).toEqual(stored(bytes));
  });

  it.each([0, 31, 513])('refuses to import or restore %i bytes', (bytes) => {
    const refusal = { kind: 'invalid', message: `invalid key size ${bytes} bytes for key type hmac` };
    expect(thrownBy(() => hmac.importing?.secret(Buffer.alloc(bytes)))).toMatchObject(refusal);
    expect(thrownBy(() => hmac.backup.read({ key: Buffer.alloc(bytes) }))).toMatchObject(refusal);
  });
});
