import { describe, expect, it } from 'vitest';
import { configureKey } from '../../src/transit/configuration.ts';
import type { NamedKeyDocument } from '../../src/transit/key-document.ts';
import { findKey } from '../../src/transit/named-key.ts';
import { trimKey } from '../../src/transit/rotation.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';
import { KEY_32, knownKey, knownVersion, storeKey } from './known-key.ts';

const five = knownKey(
  'aes256-gcm96',
  Array.from({ length: 5 }, () => knownVersion(KEY_32)),
  { minDecryptionVersion: 3, minEncryptionVersion: 4 },
);

async function engineWith(document: NamedKeyDocument) {
  const engine = await freshEngine();
  await storeKey(engine, document);
  return engine;
}

describe('trimming a key', () => {
  it('deletes the versions before the oldest to keep, for good', async () => {
    const engine = await engineWith(five);
    await trimKey(engine, 'known', 3);
    const after = (await findKey(engine, 'known'))?.document;
    expect(after?.minAvailableVersion).toBe(3);
    expect(Object.keys(after?.versions ?? {})).toEqual(['3', '4', '5']);
    expect(await rejectionOf(configureKey(engine, 'known', { minDecryptionVersion: 1 }))).toMatchObject({
      message: 'min decryption version should not be less then min available version',
    });
  });

  it('may be asked again for the same version', async () => {
    const engine = await engineWith(five);
    const once = await trimKey(engine, 'known', 3);
    expect((await trimKey(engine, 'known', 3)).document).toEqual(once.document);
  });

  it.each([
    ['missing min_available_version', five, undefined],
    ['minimum available version cannot be decremented', { ...five, minAvailableVersion: 3 }, 2],
    [
      'minimum available version cannot be set when minimum encryption version is not set',
      { ...five, minEncryptionVersion: 0 },
      1,
    ],
    [
      'minimum available version cannot be set when minimum decryption version is not set',
      { ...five, minDecryptionVersion: 0 },
      1,
    ],
    ['minimum available version cannot be greater than minmum encryption version', five, 5],
    ['minimum available version cannot be greater than minimum decryption version', five, 4],
    ['minimum available version cannot be negative', { ...five, minAvailableVersion: -2 }, -1],
    ['minimum available version should be positive', five, 0],
  ])('is refused with "%s", and then nothing is changed', async (message, document, oldest) => {
    const engine = await engineWith(document);
    expect(await rejectionOf(trimKey(engine, 'known', oldest))).toMatchObject({
      kind: 'invalid',
      field: 'min_available_version',
      message,
    });
    expect((await findKey(engine, 'known'))?.document).toEqual(document);
  });

  it('is refused for a name that no key has', async () => {
    expect(await rejectionOf(trimKey(await freshEngine(), 'nobody', 1))).toMatchObject({
      kind: 'not-found',
      message: 'invalid key name',
    });
  });
});
