import { describe, expect, it } from 'vitest';
import { onlyValue } from '../../src/transit/batch.ts';
import { convergentVersionOf } from '../../src/transit/context-keys.ts';
import { decrypt } from '../../src/transit/decrypt.ts';
import type { EncryptItem } from '../../src/transit/encrypt.ts';
import type { NamedKeyDocument } from '../../src/transit/key-document.ts';
import { rejectionOf, thrownBy } from '../reference/thrown.ts';
import { encryptOne, engineWith } from './known-engine.ts';
import {
  KEY_16,
  KEY_32,
  knownKey,
  knownVersion,
  MY_CONTEXT,
  QUICK_FOX,
  QUICK_FOX_BASE64,
} from './known-key.ts';

/** Ciphertexts that Python's `cryptography` made of the same key, context and plaintext. */
const convergent = { derived: true, convergentEncryption: true };
const VECTORS: readonly (readonly [string, NamedKeyDocument, Omit<EncryptItem, 'plaintext'>, string])[] = [
  [
    'convergent version 3, AES-256',
    knownKey('aes256-gcm96', [knownVersion(KEY_32, { convergentVersion: 3 })], {
      ...convergent,
      kdf: 1,
      convergentVersion: -1,
    }),
    { context: MY_CONTEXT },
    'vault:v1:Fe9pARQ9J9e6i2jrGaJTydaXAJt0vwHdtUw9TzJ/vzYX8+0tfmR33z9fVXcJLl0=',
  ],
  [
    'convergent version 3, ChaCha20',
    knownKey('chacha20-poly1305', [knownVersion(KEY_32, { convergentVersion: 3 })], {
      ...convergent,
      kdf: 1,
      convergentVersion: -1,
    }),
    { context: MY_CONTEXT },
    'vault:v1:Fe9pARQ9J9e6i2jrBdlaJDLPL0hNA4exOrpDeRNtGpwOa79ijbLVUSc9+YNbFy4=',
  ],
  [
    'convergent version 3, AES-128',
    knownKey('aes128-gcm96', [knownVersion(KEY_16, { convergentVersion: 3 })], {
      ...convergent,
      kdf: 1,
      convergentVersion: -1,
    }),
    { context: MY_CONTEXT },
    'vault:v1:XbIdmyYHaIMeGpK4WIXZTMk+/y1k1am3AvL1b3FCMkibw+pz4mJbb0FXdFwGoQA=',
  ],
  [
    'convergent version 2',
    knownKey('aes256-gcm96', [knownVersion(KEY_32)], { ...convergent, kdf: 1, convergentVersion: 2 }),
    { context: MY_CONTEXT },
    'vault:v1:HIjntUqlFwJPd7TT2FZ5TR7UugiHQcaN4fYgrLAPSKW41vUWDwVuO82e7O/pAC0=',
  ],
  [
    'convergent version 3 in a key of version 2',
    knownKey('aes256-gcm96', [knownVersion(KEY_32, { convergentVersion: 3 })], {
      ...convergent,
      kdf: 1,
      convergentVersion: 2,
    }),
    { context: MY_CONTEXT },
    'vault:v1:Fe9pARQ9J9e6i2jrGaJTydaXAJt0vwHdtUw9TzJ/vzYX8+0tfmR33z9fVXcJLl0=',
  ],
  ...[0, 1].map(
    (convergentVersion): readonly [string, NamedKeyDocument, Omit<EncryptItem, 'plaintext'>, string] => [
      `convergent version 1, recorded as ${convergentVersion}`,
      knownKey('aes256-gcm96', [knownVersion(KEY_32)], { ...convergent, kdf: 0, convergentVersion }),
      { context: MY_CONTEXT, nonce: 'AAECAwQFBgcICQoL' },
      'vault:v1:IlMiVYR4YC2hPTufhbgUjaFsUCHuMnej2o/w5oMwwF2LWxM=',
    ],
  ),
];

describe('convergent encryption', () => {
  it.each(VECTORS)(
    '%s gives what another implementation gives, both ways',
    async (_, document, item, expected) => {
      const engine = await engineWith(document);
      expect(await encryptOne(engine, { plaintext: QUICK_FOX_BASE64, ...item })).toBe(expected);
      const decrypted = onlyValue(await decrypt(engine, 'known', [{ ciphertext: expected, ...item }]));
      expect(decrypted.toString()).toBe(QUICK_FOX.toString());
    },
  );

  it('gives other ciphertexts for other contexts and plaintexts', async () => {
    const [, document] = VECTORS[0] ?? [];
    if (document === undefined) throw new Error('no vector');
    const engine = await engineWith(document);
    const texts = await Promise.all([
      encryptOne(engine, { plaintext: 'AAAA', context: 'AAAA' }),
      encryptOne(engine, { plaintext: 'AAAA', context: 'AAAB' }),
      encryptOne(engine, { plaintext: 'AAAB', context: 'AAAA' }),
      encryptOne(engine, { plaintext: 'AAAA', context: 'AAAA' }),
    ]);
    expect(new Set(texts).size).toBe(3);
  });

  it('refuses associated data, which would give two tags under one nonce', async () => {
    const [, document] = VECTORS[0] ?? [];
    if (document === undefined) throw new Error('no vector');
    const engine = await engineWith(document);
    const item = { plaintext: 'AAAA', context: 'AAAA', associatedData: 'YWFk' };
    expect(await rejectionOf(encryptOne(engine, item))).toMatchObject({
      kind: 'unsupported',
      field: 'associated_data',
      message: 'associated_data is not supported with convergent encryption',
    });
  });
});

describe('the way in which a convergent key makes nonces', () => {
  it.each([
    // of the key, of the version, used
    [0, 0, 1],
    [1, 0, 1],
    [2, 0, 2],
    [-1, 3, 3],
    [2, 3, 3],
    [2, 1, 1],
  ])('is that of the version, or else of the key: %i, %i', (ofKey, ofVersion, used) => {
    const version = knownVersion(KEY_32, { convergentVersion: ofVersion });
    const key = knownKey('aes256-gcm96', [version], { ...convergent, convergentVersion: ofKey });
    expect(convergentVersionOf(key, version)).toBe(used);
    expect(convergentVersionOf({ ...key, convergentEncryption: false }, version)).toBe(0);
  });

  it('is refused where only a newer release knows it', () => {
    for (const convergentVersion of [4, -2]) {
      const version = knownVersion(KEY_32, { convergentVersion });
      const error = thrownBy(() =>
        convergentVersionOf(knownKey('aes256-gcm96', [version], convergent), version),
      );
      expect(error).toMatchObject({
        kind: 'corrupt',
        message: `key "known" has the unknown convergent version ${convergentVersion}`,
      });
    }
  });
});
