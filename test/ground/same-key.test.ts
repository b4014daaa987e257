import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isSameKey } from '../../src/ground/same-key.ts';

const edwards = generateKeyPairSync('ed25519');
const nist = generateKeyPairSync('ec', { namedCurve: 'P-256' });

describe('two keys', () => {
  it('are the same only if their type and all of their numbers are', () => {
    expect(isSameKey(edwards.publicKey, edwards.publicKey)).toBe(true);
    expect(isSameKey(edwards.publicKey, generateKeyPairSync('ed25519').publicKey)).toBe(false);
    expect(isSameKey(edwards.publicKey, nist.publicKey)).toBe(false);
  });

  it('of different types are compared without harm to a private key that is read next', () => {
    const key = nist.privateKey.export({ format: 'der', type: 'pkcs8' });
    expect(isSameKey(edwards.publicKey, nist.publicKey)).toBe(false);
    expect(createPrivateKey({ key, format: 'der', type: 'pkcs8' }).equals(nist.privateKey)).toBe(true);
  });
});
