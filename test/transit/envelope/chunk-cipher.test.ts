import { createSecretKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decryption, encryption } from '../../../src/transit/envelope/chunk-cipher.ts';
import { deriveFileKeys } from '../../../src/transit/envelope/envelope.ts';
import { thrownBy } from '../../reference/thrown.ts';

describe('the chunks of one file', () => {
  const key = createSecretKey(Buffer.alloc(32, 7));
  const chunk = Buffer.from('chunk');
  const sealed = Buffer.alloc(5 + 16);
  const last = 2 ** 32 - 1;

  it('are numbered to 4,294,967,295, and no number is used twice', () => {
    const encrypt = encryption(key, 4096);
    const decrypt = decryption(key, 4096);
    expect(encrypt.transform(chunk, last, true, sealed)).toBe(21);
    const opened = Buffer.alloc(5);
    decrypt.transform(sealed, last, true, opened);
    expect(opened).toEqual(chunk);
    for (const stage of [encrypt, decrypt])
      expect(thrownBy(() => stage.transform(sealed, last + 1, true, Buffer.alloc(37)))).toMatchObject({
        kind: 'unsupported',
        message: 'the data is too long for one envelope',
      });
  });

  it('are encrypted under a data key of 32 bytes, and no other', () => {
    const derive = (bytes: number) =>
      deriveFileKeys(Buffer.alloc(bytes, 1), Buffer.alloc(32), Buffer.from('header'));
    expect(derive(32)).toBeDefined();
    for (const bytes of [0, 16, 31, 33])
      expect(thrownBy(() => derive(bytes))).toMatchObject({
        kind: 'invalid',
        message: `the data key has ${bytes} bytes instead of 32`,
      });
  });

  it('are encrypted under keys of their own, and the data key is overwritten when they are derived', () => {
    const dataKey = Buffer.alloc(32, 1);
    const { mac, payload } = deriveFileKeys(dataKey, Buffer.alloc(32), Buffer.from('header'));
    expect(dataKey).toEqual(Buffer.alloc(32));
    expect([mac.length, payload.symmetricKeySize]).toEqual([32, 32]);
  });
});
