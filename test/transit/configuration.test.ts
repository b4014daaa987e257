import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  configureKey,
  type KeyConfiguration,
  requireAutoRotatePeriod,
} from '../../src/transit/configuration.ts';
import type { NamedKeyDocument } from '../../src/transit/key-document.ts';
import { findKey } from '../../src/transit/named-key.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';
import { KEY_32, knownKey, knownVersion, storeKey } from './known-key.ts';

const five = knownKey(
  'aes256-gcm96',
  Array.from({ length: 5 }, () => knownVersion(KEY_32)),
  { exportable: false },
);
const trimmed: NamedKeyDocument = {
  ...five,
  minAvailableVersion: 3,
  minDecryptionVersion: 3,
  minEncryptionVersion: 4,
};

/** @returns the result of the change, and the key as it is afterwards. */
async function configure(document: NamedKeyDocument, change: KeyConfiguration) {
  const engine = await freshEngine();
  await storeKey(engine, document);
  let warnings: readonly string[] = [];
  let error: unknown;
  try {
    ({ warnings } = await configureKey(engine, 'known', change));
  } catch (thrown) {
    error = thrown;
  }
  return { warnings, error, after: (await findKey(engine, 'known'))?.document };
}

describe('configuring a key', () => {
  it('changes what is given and nothing else', async () => {
    const { after } = await configure(five, { minDecryptionVersion: 2 });
    expect(after).toEqual({ ...five, minDecryptionVersion: 2 });
  });

  it('moves both minima up and down', async () => {
    const up = await configure(five, { minDecryptionVersion: 4, minEncryptionVersion: 5 });
    expect(up.after).toMatchObject({ minDecryptionVersion: 4, minEncryptionVersion: 5 });
    const down = await configure(up.after ?? five, { minDecryptionVersion: 1, minEncryptionVersion: 0 });
    expect(down.after).toEqual(five);
  });

  it('turns 0 as the oldest version to decrypt into 1, and says so', async () => {
    const { warnings, after } = await configure(five, { minDecryptionVersion: 0 });
    expect(warnings).toEqual([
      'since Vault 0.3 (prior to the OpenBao fork), transit key numbering starts at 1; forcing minimum to 1',
    ]);
    expect(after?.minDecryptionVersion).toBe(1);
  });

  it('allows and forbids deletion', async () => {
    const { after } = await configure(five, { deletionAllowed: true });
    expect(after?.deletionAllowed).toBe(true);
    expect((await configure(after ?? five, { deletionAllowed: false })).after?.deletionAllowed).toBe(false);
  });

  it.each(['exportable', 'allowPlaintextBackup'] as const)('never takes %s back', async (setting) => {
    const { after } = await configure(five, { [setting]: true });
    expect(after?.[setting]).toBe(true);
    expect(await configure(after ?? five, { [setting]: false })).toMatchObject({
      warnings: [],
      error: undefined,
      after: after ?? {},
    });
  });

  it('sets and clears the period of rotation', async () => {
    const { after } = await configure(five, { autoRotatePeriodSeconds: 3600 });
    expect(after?.autoRotatePeriodSeconds).toBe(3600);
    const cleared = await configure(after ?? five, { autoRotatePeriodSeconds: 0 });
    expect(cleared.after?.autoRotatePeriodSeconds).toBe(0);
  });

  it.each([
    [{ minDecryptionVersion: -1 }, five, 'min decryption version cannot be negative'],
    [{ minDecryptionVersion: 6 }, five, 'cannot set min decryption version of 6, latest key version is 5'],
    [{ minEncryptionVersion: -1 }, five, 'min encryption version cannot be negative'],
    [{ minEncryptionVersion: 6 }, five, 'cannot set min encryption version of 6, latest key version is 5'],
    [
      { minDecryptionVersion: 3, minEncryptionVersion: 2 },
      five,
      'cannot set min encryption/decryption values; min encryption version of 2 must be greater than or equal to min decryption version of 3',
    ],
    [
      { minDecryptionVersion: 5 },
      trimmed,
      'cannot set min encryption/decryption values; min encryption version of 4 must be greater than or equal to min decryption version of 5',
    ],
    [{ autoRotatePeriodSeconds: 3599 }, five, 'auto rotate period must be 0 to disable or at least an hour'],
    [
      { minEncryptionVersion: 0 },
      trimmed,
      'min encryption version should not be less than min available version',
    ],
    [
      { minDecryptionVersion: 2 },
      trimmed,
      'min decryption version should not be less then min available version',
    ],
  ] satisfies [KeyConfiguration, NamedKeyDocument, string][])(
    'refuses the change %j, and then changes nothing',
    async (change, document, message) => {
      const { error, after } = await configure(document, { deletionAllowed: true, ...change });
      expect(error).toMatchObject({ kind: 'invalid', message });
      expect(after).toEqual(document);
    },
  );

  it('keeps the order of the minima, whatever is asked', async () => {
    const version = fc.option(fc.integer({ min: -1, max: 7 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ minDecryptionVersion: version, minEncryptionVersion: version }), {
          maxLength: 4,
        }),
        async (changes) => {
          let document: NamedKeyDocument = trimmed;
          for (const change of changes) {
            const given = Object.fromEntries(
              Object.entries(change).filter(([, value]) => value !== undefined),
            );
            document = (await configure(document, given)).after ?? document;
          }
          const { minAvailableVersion, minDecryptionVersion, minEncryptionVersion, latestVersion } = document;
          expect(minAvailableVersion).toBeLessThanOrEqual(minDecryptionVersion);
          expect(minDecryptionVersion).toBeLessThanOrEqual(minEncryptionVersion);
          expect(minEncryptionVersion).toBeLessThanOrEqual(latestVersion);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('refuses a name that no key has', async () => {
    expect(await rejectionOf(configureKey(await freshEngine(), 'nobody', {}))).toMatchObject({
      kind: 'not-found',
      message: 'no existing key named nobody could be found',
    });
  });
});

describe('the time after which a key is rotated', () => {
  it.each([
    [0, undefined],
    [1, 'it was read as 1 second'],
    [2, 'it was read as 2 seconds'],
    [3599, 'it was read as 3599 seconds'],
    [3600, undefined],
  ])('is never, or an hour at least: %i seconds', (seconds, hint) => {
    const work = () => requireAutoRotatePeriod(seconds);
    if (hint === undefined) work();
    else
      expect(work).toThrow(expect.objectContaining({ kind: 'invalid', field: 'auto_rotate_period', hint }));
  });
});
