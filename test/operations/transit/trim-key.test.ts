import { beforeEach, describe, expect, it } from 'vitest';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';

let operations: Operations;
const trim = (raw: Raw) => operations.ask('keys trim', { name: 'orders', ...raw });

/** A key with three versions, of which the last two are in use. */
beforeEach(async () => {
  operations = await freshOperations();
  await operations.ask('keys create', { name: 'orders' });
  await operations.ask('keys rotate', { name: 'orders' });
  await operations.ask('keys rotate', { name: 'orders' });
  await operations.ask('keys config', {
    name: 'orders',
    min_decryption_version: 2,
    min_encryption_version: 2,
  });
});

describe('keys trim', () => {
  it('deletes the versions below the oldest to keep, for good', async () => {
    expect(await trim({ min_available_version: 2 })).toMatchObject({
      min_available_version: 2,
      keys: { 2: expect.any(Number), 3: expect.any(Number) },
    });
    const back = operations.ask('keys config', { name: 'orders', min_decryption_version: 1 });
    expect(await rejectionOf(back)).toMatchObject({
      message: 'min decryption version should not be less then min available version',
    });
    const none = operations.ask('keys config', { name: 'orders', min_encryption_version: 0 });
    expect(await rejectionOf(none)).toMatchObject({
      message: 'min encryption version should not be less than min available version',
    });
  });

  it('refuses a request without min_available_version, for which there is no other name', async () => {
    for (const raw of [{}, { min_version: 2 }]) {
      expect(await rejectionOf(trim(raw))).toMatchObject({
        kind: 'invalid',
        field: 'min_available_version',
        message: 'missing min_available_version',
      });
    }
  });

  it.each([
    [3, 'minimum available version cannot be greater than minmum encryption version'],
    [-1, 'minimum available version cannot be decremented'],
    [null, 'minimum available version should be positive'],
  ])('refuses the min_available_version %j', async (oldest, message) => {
    expect(await rejectionOf(trim({ min_available_version: oldest }))).toMatchObject({
      kind: 'invalid',
      message,
    });
  });

  it('is refused while the key has no oldest version to encrypt with, and for a name that no key has', async () => {
    await operations.ask('keys config', { name: 'orders', min_encryption_version: 0 });
    expect(await rejectionOf(trim({ min_available_version: 1 }))).toMatchObject({
      kind: 'invalid',
      message: 'minimum available version cannot be set when minimum encryption version is not set',
    });
    const attempt = operations.ask('keys trim', { name: 'nobody', min_available_version: 1 });
    expect(await rejectionOf(attempt)).toMatchObject({ kind: 'not-found', message: 'invalid key name' });
  });
});
