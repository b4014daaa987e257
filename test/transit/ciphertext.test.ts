import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CIPHERTEXT,
  HMAC,
  keyFormat,
  mountFormat,
  type Noun,
  parseVersion,
  parseVersioned,
  printVersioned,
  SIGNATURE,
} from '../../src/transit/ciphertext.ts';
import { thrownBy } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';
import { KEY_32, knownKey, knownVersion } from './known-key.ts';

const service = mountFormat(await freshEngine());
const vault = mountFormat(await freshEngine('vault'));

describe('a versioned text', () => {
  it('starts with the prefix of the mount', () => {
    expect(printVersioned(service, 12, 'AbC=')).toBe('service:v12:AbC=');
    expect(printVersioned(vault, 1, 'AbC=')).toBe('vault:v1:AbC=');
  });

  it('is read with the prefix of either family, whatever the mount writes', () => {
    for (const format of [service, vault]) {
      expect(parseVersioned('vault:v3:AbC=', format, CIPHERTEXT)).toEqual({ version: 3, payload: 'AbC=' });
      expect(parseVersioned('service:v3:AbC=', format, CIPHERTEXT)).toEqual({ version: 3, payload: 'AbC=' });
    }
  });

  it('comes back as it was printed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1 }), fc.base64String(), (version, payload) => {
        expect(parseVersioned(printVersioned(service, version, payload), service, CIPHERTEXT)).toEqual({
          version,
          payload,
        });
      }),
    );
  });

  it.each([
    [CIPHERTEXT, 'ciphertext', 'invalid ciphertext', 'invalid ciphertext'],
    [SIGNATURE, 'signature', 'invalid signature', 'invalid signature'],
    [HMAC, 'hmac', 'invalid HMAC to verify', 'invalid HMAC'],
  ] as [Noun, string, string, string][])(
    'is refused in the words of peers: $1',
    (noun, field, noPrefix, invalid) => {
      const refusal = (text: string): unknown => thrownBy(() => parseVersioned(text, service, noun));
      const kind = 'invalid';
      for (const text of ['', 'v1:AAAA', 'Vault:v1:AAAA', 'vault:1:AAAA', ' vault:v1:AAAA']) {
        expect(refusal(text)).toMatchObject({ kind, field, message: `${noPrefix}: no prefix` });
      }
      expect(refusal('vault:v1')).toMatchObject({ kind, message: `${invalid}: wrong number of fields` });
      for (const text of [
        'vault:v:AAAA',
        'vault:vx:AAAA',
        'vault:v1 :AAAA',
        'vault:v0x1:AAAA',
        'vault:v1_0:A',
      ]) {
        expect(refusal(text)).toMatchObject({
          kind,
          message: `${invalid}: version number could not be decoded`,
        });
      }
    },
  );
});

describe('a version number', () => {
  it.each([
    ['1', 1],
    ['01', 1],
    ['+7', 7],
    ['-3', -3],
    ['0', 0],
    ['9223372036854775807', 2 ** 63],
    ['9223372036854775808', undefined],
    ['-9223372036854775808', -(2 ** 63)],
    ['-9223372036854775809', undefined],
    ['', undefined],
    ['1.0', undefined],
    ['1e3', undefined],
    ['٣', undefined],
  ])('is read from %j as Go reads it', (text, version) => {
    expect(parseVersion(text)).toBe(version);
  });
});

describe('a version template', () => {
  const keyWith = (versionTemplate: string) =>
    knownKey('aes256-gcm96', [knownVersion(KEY_32)], { versionTemplate });

  it('takes the place of the prefix of the mount', async () => {
    const format = keyFormat(await freshEngine(), keyWith('acme/{{version}}/'));
    expect(printVersioned(format, 4, 'AAAA')).toBe('acme/4/AAAA');
    expect(parseVersioned('acme/4/AAAA', format, CIPHERTEXT)).toEqual({ version: 4, payload: 'AAAA' });
    expect(thrownBy(() => parseVersioned('vault:v4:AAAA', format, CIPHERTEXT))).toMatchObject({
      message: 'invalid ciphertext: no prefix',
    });
  });

  it.each(['acme:', '{{version}}{{version}}'])(
    'has its place for the version exactly once: %s',
    async (template) => {
      const engine = await freshEngine();
      expect(thrownBy(() => keyFormat(engine, keyWith(template)))).toMatchObject({
        kind: 'corrupt',
        message: 'error parsing version template',
      });
    },
  );
});
