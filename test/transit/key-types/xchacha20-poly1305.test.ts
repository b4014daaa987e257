import { createSecretKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { xchacha20Poly1305 } from '../../../src/transit/key-types/symmetric.ts';
import { thrownBy } from '../../reference/thrown.ts';
import vectors from '../../vectors/xchacha20-poly1305.json' with { type: 'json' };

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const cipherOf = (key: Buffer) =>
  xchacha20Poly1305.aead?.cipher(createSecretKey(key)) ?? expect.fail('no cipher');

const usable = vectors.filter(
  ({ ivSize, keySize, tagSize }) => ivSize === 192 && keySize === 256 && tagSize === 128,
);

describe('xchacha20-poly1305', () => {
  it('meets enough published cases', () => {
    expect(usable.length).toBeGreaterThan(200);
  });

  it.each(usable)('agrees with Wycheproof case $tcId ($result)', async (vector) => {
    const cipher = await cipherOf(hex(vector.key));
    const nonce = hex(vector.iv);
    const sealed = Buffer.concat([hex(vector.ct), hex(vector.tag)]);
    if (vector.result !== 'valid') {
      expect(thrownBy(() => cipher.decrypt(nonce, sealed, hex(vector.aad)))).toMatchObject({
        kind: 'inauthentic',
        message: 'chacha20poly1305: message authentication failed',
      });
      return;
    }
    expect(Buffer.concat(cipher.encrypt(nonce, hex(vector.msg), hex(vector.aad)))).toEqual(sealed);
    expect(cipher.decrypt(nonce, sealed, hex(vector.aad))).toEqual(hex(vector.msg));
  });

  it('refuses what is too short to hold a tag', async () => {
    const cipher = await cipherOf(Buffer.alloc(32));
    expect(thrownBy(() => cipher.decrypt(Buffer.alloc(24), Buffer.alloc(15)))).toMatchObject({
      message: 'chacha20poly1305: message authentication failed',
    });
  });
});
