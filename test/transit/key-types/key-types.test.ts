import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  DEFAULT_KEY_TYPE,
  keyTypeNamed,
  keyTypeNames,
  keyTypes,
} from '../../../src/transit/key-types/index.ts';
import { keyTypeContract } from '../../contracts/key-type.ts';
import { isLong } from '../../long.ts';

/** A type whose signatures take a fifth of a second is left to the long proof. */
const takesLong = (name: string): boolean => /^slh-dsa-.*s$/.test(name);
const tested = keyTypes().filter((type) => isLong || !takesLong(type.name));
tested.forEach(keyTypeContract);

describe('the registry of key types', () => {
  it('has every type of the specification', () => {
    expect(keyTypeNames()).toEqual(
      expect.arrayContaining([
        'aes128-gcm96',
        'aes256-gcm96',
        'chacha20-poly1305',
        'ed25519',
        'ecdsa-p256',
        'ecdsa-p384',
        'ecdsa-p521',
        'rsa-2048',
        'rsa-3072',
        'rsa-4096',
      ]),
    );
  });

  it('finds a type by its exact name alone', () => {
    expect(keyTypeNamed(DEFAULT_KEY_TYPE)?.name).toBe('aes256-gcm96');
    expect(keyTypeNamed('AES256-GCM96')).toBeUndefined();
    expect(keyTypeNamed('')).toBeUndefined();
    expect(keyTypeNamed('toString')).toBeUndefined();
  });

  it('gives every type a name of its own, and a number that no other has in the same family', () => {
    expect(new Set(keyTypeNames()).size).toBe(keyTypes().length);
    for (const family of ['openbao', 'vault'] as const) {
      const numbers = keyTypes().flatMap(({ backup, familyNames = [] }) => {
        const number = backup[family];
        // Vault says the rest in a member of its own.
        const sets = family === 'vault' ? familyNames.flatMap(({ parameterSet }) => parameterSet ?? []) : [];
        return number === undefined ? [] : [`${number} ${sets.join()}`];
      });
      expect(new Set(numbers).size).toBe(numbers.length);
    }
  });

  it('loads no heavy package with the types themselves', () => {
    const index = new URL('../../../src/transit/key-types/index.ts', import.meta.url).href;
    const script = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
      await import(${JSON.stringify(index)});
      console.log(JSON.stringify(loaded.filter((url) => url.includes('/node_modules/'))));
    `;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
    });
    expect(JSON.parse(stdout)).toEqual([]);
  });
});
