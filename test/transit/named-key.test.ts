import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../src/ground/random.ts';
import { ed25519 } from '../../src/transit/key-types/ed25519.ts';
import { NamedKey } from '../../src/transit/named-key.ts';
import { publicKeyPrinter } from '../../src/transit/public-keys.ts';
import { thrownBy } from '../reference/thrown.ts';
import { HMAC_KEY, KEY_32, knownKey, knownVersion } from './known-key.ts';

const three = knownKey('aes256-gcm96', [knownVersion(KEY_32), knownVersion(KEY_32), knownVersion(KEY_32)], {
  minDecryptionVersion: 2,
});

describe('an opened key', () => {
  it('is the same for the same document, and parses material once', () => {
    const key = NamedKey.open(three);
    expect(NamedKey.open(three)).toBe(key);
    expect(key.version(2)?.material).toBe(key.version(2)?.material);
    expect(key.version(2)?.hmacKey?.export()).toEqual(HMAC_KEY);
    expect(NamedKey.open({ ...three })).not.toBe(key);
  });

  it('lets only those versions be used that are not below the minimum', () => {
    const key = NamedKey.open(three);
    expect([0, 1, 2, 3, 4].map((number) => key.version(number)?.number)).toEqual([
      undefined,
      undefined,
      2,
      3,
      undefined,
    ]);
    expect(key.storedVersion(1)?.number).toBe(1);
    expect([...key.usableVersions()].map((version) => version.number)).toEqual([2, 3]);
  });

  it('is refused when its type is unknown here', () => {
    const document = { ...three, type: 'rot13' };
    expect(thrownBy(() => NamedKey.open(document))).toMatchObject({
      kind: 'corrupt',
      message: 'key "known" has the unknown type rot13',
    });
  });
});

describe('the public keys of a key', () => {
  it('are shown for each version; those of a derived key for a context alone', async () => {
    const stored = await ed25519.generate(systemRandom, 0);
    const document = knownKey('ed25519', [{ ...knownVersion(KEY_32), ...stored }]);
    const shown = (derived: boolean, context?: string) => {
      const key = NamedKey.open({ ...document, derived, kdf: 1 });
      const version = key.version(1) ?? expect.fail('no version 1');
      return publicKeyPrinter(key, context)(version);
    };
    expect(shown(false)).toBe(ed25519.publicKey?.print(ed25519.open(stored)));
    expect(shown(true)).toBe('');
    expect(shown(true, 'AAAA')).toMatch(/^[\w+/]{43}=$/);
    expect(shown(true, 'AAAA')).not.toBe(shown(true, 'AAAB'));
    expect(shown(true, 'AAAA')).not.toBe(shown(false));
    expect(thrownBy(() => shown(true, '?'))).toMatchObject({
      kind: 'invalid',
      field: 'context',
      message: 'failed to base64-decode context',
    });
  });

  it('are nothing for a symmetric key', () => {
    const key = NamedKey.open(three);
    expect(publicKeyPrinter(key)(key.version(2) ?? expect.fail('no version 2'))).toBe('');
  });
});
