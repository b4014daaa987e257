import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { givenKeys } from '../../src/access/methods/jwt/keys.ts';
import { isStrong } from '../../src/access/x509/certificate.ts';
import { SessionBindings } from '../../src/doors/agent/ssh/bindings.ts';
import { isSameKey, modulusBitsOf, rsaNumbers } from '../../src/ground/foreign-keys.ts';
import { parsePublicKeys } from '../../src/signatures/public-key.ts';
import { keyOfSshBlob, sshBlob, sshLine } from '../../src/signatures/ssh-key.ts';
import { verifyWireSignature } from '../../src/signatures/ssh-signature.ts';
import { mpint, string } from '../../src/signatures/ssh-wire.ts';
import { isRecipient } from '../../src/team/recipients.ts';
import { sshRecipient } from '../../src/transit/envelope/age/ssh.ts';
import { rsaToBackup } from '../../src/transit/key-types/rsa.ts';

const source = fileURLToPath(new URL('../../src', import.meta.url));
const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
const der = own.privateKey.export({ format: 'der', type: 'pkcs8' });

const odd = (bytes: number): Buffer => Buffer.alloc(bytes, 0x81);
const keyOf = (modulus: Buffer, exponent: Buffer): KeyObject =>
  createPublicKey({
    key: { kty: 'RSA', n: modulus.toString('base64url'), e: exponent.toString('base64url') },
    format: 'jwk',
  });

/** Keys with numbers that OpenSSL does not calculate with, but reads. */
const HUGE: readonly (readonly [string, Buffer, Buffer])[] = [
  ['a modulus of 16,392 bits', odd(2049), Buffer.of(1, 0, 1)],
  ['a modulus of 40,000 bits', odd(5000), Buffer.of(3)],
  ['an exponent of 16,392 bits', odd(256), odd(2049)],
];

/** Everything that takes a public key from elsewhere. */
const TAKERS: Readonly<Record<string, (key: KeyObject, modulus: Buffer, exponent: Buffer) => unknown>> = {
  'its size': modulusBitsOf,
  'a key in PEM': (key) => parsePublicKeys(key.export({ format: 'pem', type: 'spki' }).toString()),
  'a key of SSH': (_, n, e) => keyOfSshBlob(Buffer.concat([string('ssh-rsa'), mpint(e), mpint(n)])),
  'the blob of SSH': sshBlob,
  'a signature of SSH': (key) =>
    verifyWireSignature(key, { algorithm: 'rsa-sha2-256', bytes: odd(10) }, Buffer.of(1)),
  'a session of ssh-agent': (key) =>
    new SessionBindings().add({
      hostKey: sshBlob(key),
      sessionId: odd(32),
      signature: Buffer.concat([string('rsa-sha2-256'), string(odd(256))]),
      isForwarding: false,
    } as never),
  'a recipient of a keyring': (key) => isRecipient(sshLine(key, '').trim()),
  'a recipient of age': (key) => sshRecipient(key, sshBlob(key)),
  'the keys of a mount for tokens': (key) =>
    givenKeys([key.export({ format: 'pem', type: 'spki' }).toString()]),
  'a certificate': isStrong,
  'an import': rsaToBackup,
};

describe('an RSA key with a huge number', () => {
  it.each(Object.keys(TAKERS))('does not make the next key that is opened fail: %s', (name) => {
    for (const [what, modulus, exponent] of HUGE) {
      const key = keyOf(modulus, exponent);
      try {
        TAKERS[name]?.(key, modulus, exponent);
      } catch {
        // A refusal is as good.
      }
      expect(() => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }), what).not.toThrow();
    }
  });

  it('has the size that it has', () => {
    expect(HUGE.map(([, modulus, exponent]) => modulusBitsOf(keyOf(modulus, exponent)))).toEqual([
      16_392, 40_000, 2048,
    ]);
    expect(modulusBitsOf(keyOf(Buffer.concat([Buffer.of(1), odd(255)]), Buffer.of(3)))).toBe(2041);
    expect(modulusBitsOf(own.privateKey)).toBe(2048);
    expect(rsaNumbers(own.publicKey)?.exponent).toEqual(Buffer.of(1, 0, 1));
    expect(modulusBitsOf(generateKeyPairSync('ed25519').publicKey)).toBeUndefined();
  });
});

it('the numbers of an RSA key are asked of Node only where the key is of the store', () => {
  const asking = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .filter((path) =>
      /asymmetricKeyDetails\b(?!.*namedCurve)(?!`)/.test(
        readFileSync(join(source, path), 'utf8').replace(/\/\*[\s\S]*?\*\//g, ''),
      ),
    );
  expect(asking.sort()).toEqual([
    'doors/agent/pkcs11/keys.ts',
    'doors/agent/pkcs11/objects.ts',
    'ground/curves.ts',
    'transit/key-exchange/wrapping.ts',
    'transit/key-types/prehash/rsa-digest.ts',
  ]);
});

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
