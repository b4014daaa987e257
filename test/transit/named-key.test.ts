import { describe, expect, it } from 'vitest';
import { requireKeyName } from '../../src/transit/key-document.ts';
import { NamedKey } from '../../src/transit/named-key.ts';
import { requireExistingVersion, requireVersion } from '../../src/transit/version-choice.ts';
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

describe('the name of a key', () => {
  it('is shown whole in its refusal up to sixty characters', () => {
    const message = (name: string) => thrownBy(() => requireKeyName(name, 'name'));
    const [most, more] = [`${'a'.repeat(59)}!`, `${'a'.repeat(60)}!`];
    expect(message(most)).toMatchObject({ kind: 'invalid', message: `key name "${most}" is not allowed` });
    expect(message(more)).toMatchObject({ message: `key name "${'a'.repeat(60)}…" is not allowed` });
    expect(message('a/b')).toMatchObject({ message: 'key names cannot be paths', field: 'name' });
  });
});

describe('a version of a key that is asked for', () => {
  const { 3: _, ...versions } = three.versions;
  const key = NamedKey.open({ ...three, versions, minAvailableVersion: 1 });
  const { 2: __, ...others } = three.versions;
  const lossy = NamedKey.open({ ...three, versions: others, minDecryptionVersion: 2 });
  const answer = (work: () => { readonly number: number }): string => {
    try {
      return `version ${work().number}`;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const LOST = (number: number) =>
    `no such key version: version ${number} was not in the backup that this key was restored from`;

  it.each([
    [key, 2, 'version 2'],
    [key, 3, LOST(3)],
    [key, 4, 'no such key version'],
    [key, 1, 'no such key version'],
    [lossy, 2, LOST(2)],
    [lossy, 3, 'version 3'],
  ])('is there, or was lost, or never was (case %#)', (asked, number, found) => {
    expect(answer(() => requireVersion(asked, number))).toBe(found);
  });

  it('may be the latest, and is never negative', () => {
    const whole = NamedKey.open(three);
    const answers = [-1, 2, 3].map((number) => answer(() => requireExistingVersion(whole, number)));
    expect(answers).toEqual(['key version does not exist (cannot be negative)', 'version 2', 'version 3']);
  });
});
