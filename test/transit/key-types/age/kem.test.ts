import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openOnce, sealOnce, ZERO_NONCE } from '../../../../src/transit/key-types/age/kem.ts';

describe('a secret that is sealed for one use', () => {
  const key = randomBytes(32);
  const secret = randomBytes(16);
  const sealed = sealOnce(key, ZERO_NONCE, secret);

  it('is opened with its key and its nonce, and nothing may be of any length', () => {
    expect(openOnce(key, ZERO_NONCE, sealed)).toEqual(secret);
    expect(openOnce(key, ZERO_NONCE, sealOnce(key, ZERO_NONCE, Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
    expect(openOnce(randomBytes(32), ZERO_NONCE, sealed)).toBeUndefined();
    expect(openOnce(key, Buffer.alloc(12, 1), sealed)).toBeUndefined();
  });

  it('is not opened when it is cut short anywhere, or goes on', () => {
    for (let length = 0; length < sealed.length; length++)
      expect(openOnce(key, ZERO_NONCE, sealed.subarray(0, length))).toBeUndefined();
    expect(openOnce(key, ZERO_NONCE, Buffer.concat([sealed, Buffer.alloc(1)]))).toBeUndefined();
  });
});
