import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { NamedKeyDocument } from '../../../src/transit/key-document.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { refused } from '../../refusal.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';

let operations: Operations;
const ask = (words: string, raw: Raw = {}) => operations.ask(words, { name: 'orders', ...raw });
const text = (words: string, raw: Raw, member: string) =>
  operations.text(words, { name: 'orders', ...raw }, member);

/** A key that does everything, with three versions. */
let whole: string;
beforeAll(async () => {
  operations = await freshOperations();
  await ask('keys create', { type: 'rsa-2048', exportable: true, allow_plaintext_backup: true });
  for (let made = 1; made < 3; made++) await ask('keys rotate');
  whole = await text('backup', {}, 'backup');
});

beforeEach(async () => {
  operations = await freshOperations();
  await ask('restore', { backup: whole });
});

const REVOKED = { kind: 'conflict', message: 'version 2 of this key is revoked' };
const DESTROYED = { kind: 'conflict', message: 'version 2 of this key was destroyed' };

/** Everything that can be done with version 2. */
async function usesOfVersion2(): Promise<readonly (() => Promise<unknown>)[]> {
  const input = 'aGVsbG8=';
  const ciphertext = await text('encrypt', { plaintext: input, key_version: 2 }, 'ciphertext');
  const signature = await text('sign', { input, key_version: 2 }, 'signature');
  const hmac = await text('hmac', { input, key_version: 2 }, 'hmac');
  return [
    () => ask('encrypt', { plaintext: input, key_version: 2 }),
    () => ask('decrypt', { ciphertext }),
    () => ask('rewrap', { ciphertext }),
    () => ask('datakey', { type: 'wrapped', key_version: 2 }),
    () => ask('sign', { input, key_version: 2 }),
    () => ask('verify', { input, signature }),
    () => ask('hmac', { input, key_version: 2 }),
    () => ask('verify', { input, hmac }),
    () => ask('keys export', { key_type: 'public-key', version: '2' }),
    () => ask('keys export', { key_type: 'signing-key', version: '2' }),
    () => ask('keys csr', { version: 2 }),
  ];
}

describe('keys revoke', () => {
  it('ends every use of the version with words that say why, and of no other', async () => {
    const uses = await usesOfVersion2();
    for (const use of uses) await use();
    const others = [1, 3].map((key_version) => () => ask('sign', { input: '', key_version }));
    expect(await ask('keys revoke', { version: 2 })).toMatchObject({
      revoked_versions: [2],
      keys: { 1: expect.anything(), 3: expect.anything() },
    });
    for (const use of uses) {
      const { kind, message } = await refused(use());
      expect([kind, message]).toEqual([REVOKED.kind, expect.stringContaining(REVOKED.message)]);
    }
    for (const use of others) await use();
    const read = (await ask('keys read')) as { keys: object };
    expect(Object.keys(read.keys)).toEqual(['1', '3']);
  });

  it('fails the items of a batch that were made with the version, and no others', async () => {
    const [old, revoked, late] = await Promise.all(
      [1, 2, 3].map((key_version) => text('encrypt', { plaintext: 'eA==', key_version }, 'ciphertext')),
    );
    await ask('keys revoke', { version: 2 });
    const batch_input = [old, revoked, late].map((ciphertext) => ({ ciphertext }));
    expect(await ask('decrypt', { batch_input })).toMatchObject({
      batch_results: [{ plaintext: 'eA==' }, { error: REVOKED.message }, { plaintext: 'eA==' }],
    });
  });

  it('says the same when it was done before, and is no version that its backup lacked', async () => {
    const before = await ask('keys revoke', { version: 2 });
    expect(await ask('keys revoke', { version: 2 })).toEqual(before);
    const { warnings } = await operations.outcome('keys config', {
      name: 'orders',
      min_decryption_version: 1,
    });
    expect(warnings).toEqual([]);
  });

  it('names the versions that can be revoked, of which the latest is none', async () => {
    const hint = () => rejectionOf(ask('keys revoke', { version: 9 }));
    expect(await hint()).toMatchObject({ hint: 'use a version from 1 to 2' });
    await ask('keys config', { min_decryption_version: 2, min_encryption_version: 2 });
    await ask('keys trim', { min_available_version: 2 });
    expect(await hint()).toMatchObject({ hint: 'use version 2' });
    await ask('keys config', { min_decryption_version: 3, min_encryption_version: 3 });
    await ask('keys trim', { min_available_version: 3 });
    expect(await hint()).toMatchObject({ hint: 'this key has no version before 3' });
  });

  it.each(['revoke', 'reinstate', 'destroy'])(
    'has no version to %s that there is not, nor the latest',
    async (word) => {
      for (const version of [0, -1, 4, 2 ** 31 - 1]) {
        expect(await refused(ask(`keys ${word}`, { version }))).toMatchObject({
          kind: 'invalid',
          field: 'version',
          message: 'no such key version',
        });
      }
      expect(await refused(ask(`keys ${word}`, { version: 3 }))).toMatchObject({
        kind: 'conflict',
        message: 'the latest version of a key can be neither revoked nor destroyed',
      });
      for (const raw of [{}, { version: 'two' }, { version: 1.5 }, { version: [1] }]) {
        expect(await refused(ask(`keys ${word}`, raw))).toMatchObject({ kind: 'invalid', field: 'version' });
      }
      expect(await refused(ask(`keys ${word}`, { name: 'nobody', version: 1 }))).toMatchObject({
        kind: 'not-found',
        message: 'key not found',
      });
      await ask('keys config', { min_decryption_version: 2, min_encryption_version: 2 });
      await ask('keys trim', { min_available_version: 2 });
      expect(await refused(ask(`keys ${word}`, { version: 1 }))).toMatchObject({ kind: 'invalid' });
    },
  );
});

describe('keys reinstate', () => {
  it('lets the version be used as before, and says the same when it was so already', async () => {
    const uses = await usesOfVersion2();
    const before = await ask('keys read');
    await ask('keys revoke', { version: 2 });
    expect(await ask('keys reinstate', { version: 2 })).toEqual(before);
    for (const use of uses) await use();
    expect(await ask('keys reinstate', { version: 2 })).toEqual(before);
  });

  it('leaves other versions revoked', async () => {
    await ask('keys revoke', { version: 1 });
    await ask('keys revoke', { version: 2 });
    expect(await ask('keys reinstate', { version: 2 })).toMatchObject({ revoked_versions: [1] });
  });
});

describe('keys destroy', () => {
  it.each([true, false])(
    'leaves nothing of a version for good, revoked before: %s',
    async (revokedBefore) => {
      const uses = await usesOfVersion2();
      if (revokedBefore) await ask('keys revoke', { version: 2 });
      const after = await ask('keys destroy', { version: 2 });
      expect(after).toMatchObject({ destroyed_versions: [2] });
      expect(after).not.toHaveProperty('revoked_versions');
      for (const use of uses) {
        const { kind, message } = await refused(use());
        expect([kind, message]).toEqual([DESTROYED.kind, expect.stringContaining(DESTROYED.message)]);
      }
      for (const word of ['revoke', 'reinstate']) {
        expect(await refused(ask(`keys ${word}`, { version: 2 }))).toMatchObject(DESTROYED);
      }
      expect(await ask('keys destroy', { version: 2 })).toEqual(after);
      const { store, keys } = operations.engine;
      const stored = await store.read((view) => view.get({ collection: keys, id: 'orders' }));
      expect(stored).toMatchObject({ revokedVersions: { 2: null } });
      expect(stored).not.toHaveProperty('versions.2');
    },
  );
});

describe('a backup of a key with revoked versions', () => {
  it('brings them back as they were, and gives none of them to those who do not know of it', async () => {
    const [, decrypts] = await usesOfVersion2();
    await ask('keys revoke', { version: 2 });
    await ask('keys destroy', { version: 1 });
    await ask('keys config', { keep_versions: 3 });
    const backup = await text('backup', {}, 'backup');
    const document = JSON.parse(Buffer.from(backup, 'base64').toString()) as {
      policy: { keys: object };
      archived_keys: { keys: { rsa_key: unknown }[] };
      coffer: { revoked_versions: Record<string, unknown> };
    };
    expect(Object.keys(document.policy.keys)).toEqual(['3']);
    expect(document.archived_keys.keys.map(({ rsa_key }) => rsa_key !== null)).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(document.coffer).toMatchObject({
      revoked_versions: { 1: null, 2: expect.anything() },
      keep_versions: 3,
    });
    const { warnings } = await operations.outcome('restore', { name: 'orders', backup, force: true });
    expect(warnings ?? []).toEqual([]);
    expect(await ask('keys read')).toMatchObject({
      revoked_versions: [2],
      destroyed_versions: [1],
      keep_versions: 3,
    });
    expect(await refused(Promise.resolve(decrypts?.()))).toMatchObject(REVOKED);
    await ask('keys reinstate', { version: 2 });
    expect(await decrypts?.()).toMatchObject({ plaintext: 'aGVsbG8=' });
  });

  it('leaves out what an earlier release trimmed, which knows of no revoked versions', async () => {
    await ask('keys revoke', { version: 1 });
    const { store, keys } = operations.engine;
    const ref = { collection: keys, id: 'orders' };
    await store.transact(async (tx) => {
      const { versions, ...key } = (await tx.get<NamedKeyDocument>(ref)) ?? expect.fail('no key');
      const { 1: _, ...others } = versions;
      const minima = { minAvailableVersion: 2, minDecryptionVersion: 2, minEncryptionVersion: 2 };
      tx.put(ref, { ...key, ...minima, versions: others });
    });
    const backup = await text('backup', {}, 'backup');
    await ask('restore', { name: 'other', backup });
    expect(await ask('keys read', { name: 'other' })).not.toHaveProperty('revoked_versions');
  });

  it.each([
    ['a version that is used as well', { revoked_versions: { 3: null } }],
    ['a version that never was', { revoked_versions: { 4: null } }],
    ['a version by no number', { revoked_versions: { __proto__: null, x: null } }],
    ['an empty version', { revoked_versions: { 1: {} } }],
    ['a negative number of versions to keep', { keep_versions: -1 }],
    ['trimming with nothing to keep', { auto_trim: true }],
    ['something of another kind', { revoked_versions: [1] }],
  ])('is refused with %s', async (_, coffer) => {
    await ask('keys destroy', { version: 1 });
    const backup = await text('backup', {}, 'backup');
    const document = JSON.parse(Buffer.from(backup, 'base64').toString()) as object;
    const changed = Buffer.from(JSON.stringify({ ...document, coffer })).toString('base64');
    expect(await refused(ask('restore', { name: 'other', backup: changed }))).toMatchObject({
      kind: 'invalid',
      field: 'backup',
    });
  });
});
