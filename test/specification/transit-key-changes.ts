import { ok } from 'node:assert/strict';
import {
  ask,
  b64,
  type Chapter,
  expectLike,
  freeName,
  freshKey,
  gives,
  holds,
  key,
  member,
  outcomeOf,
  refuses,
} from './row.ts';

const SYMMETRIC = ['aes128-gcm96', 'aes256-gcm96', 'chacha20-poly1305'];
const ECDSA = ['ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521'];
const exists = (value: unknown): boolean => value !== undefined;

const deleteKey: Chapter = {
  title: 'Delete key',
  rows: [
    refuses(
      'a key is not deleted unless deletion_allowed is set',
      'delete',
      { name: freshKey() },
      /deletion is not allowed|may not be deleted/,
    ),
    holds('deletion_allowed allows it', async (side) => {
      const name = await freshKey()(side);
      await ask(side, 'config', { name, deletion_allowed: true });
      await ask(side, 'delete', { name });
      ok('refusal' in (await outcomeOf(side, 'read', { name })));
    }),
    holds('what a deleted key encrypted can no longer be decrypted', async (side) => {
      const name = await freshKey()(side);
      const ciphertext = await member('encrypt', { name, plaintext: b64('x') }, 'ciphertext')(side);
      await ask(side, 'config', { name, deletion_allowed: true });
      await ask(side, 'delete', { name });
      ok('refusal' in (await outcomeOf(side, 'decrypt', { name, ciphertext })));
    }),
    holds('a key whose deletion_allowed was set back to false is not deleted', async (side) => {
      const name = await freshKey()(side);
      await ask(side, 'config', { name, deletion_allowed: true });
      await ask(side, 'config', { name, deletion_allowed: false });
      ok('refusal' in (await outcomeOf(side, 'delete', { name })));
    }),
    refuses('a key that is not there cannot be deleted', 'delete', { name: freeName }),
  ],
};

const configure: Chapter = {
  title: 'Update key configuration',
  rows: [
    gives(
      'deletion_allowed can be set',
      'config',
      { name: freshKey(), deletion_allowed: true },
      { deletion_allowed: true },
    ),
    gives('exportable can be set', 'config', { name: freshKey(), exportable: true }, { exportable: true }),
    gives(
      'allow_plaintext_backup can be set',
      'config',
      { name: freshKey(), allow_plaintext_backup: true },
      {
        allow_plaintext_backup: true,
      },
    ),
    gives(
      'min_decryption_version can be set',
      'config',
      { name: freshKey({}, 3), min_decryption_version: 2 },
      {
        min_decryption_version: 2,
      },
    ),
    gives(
      'min_encryption_version can be set',
      'config',
      { name: freshKey({}, 3), min_encryption_version: 2 },
      {
        min_encryption_version: 2,
      },
    ),
    gives(
      'min_encryption_version may be 0, which is the latest',
      'config',
      { name: freshKey({}, 2), min_encryption_version: 0 },
      {
        min_encryption_version: 0,
      },
    ),
    gives(
      'min_decryption_version of 0 counts as the first',
      'config',
      { name: freshKey({}, 2), min_decryption_version: 0 },
      {
        min_decryption_version: 1,
      },
    ),
    holds('min_encryption_version may not be below min_decryption_version', async (side) => {
      const name = await freshKey({}, 3)(side);
      await ask(side, 'config', { name, min_decryption_version: 3 });
      ok('refusal' in (await outcomeOf(side, 'config', { name, min_encryption_version: 2 })));
      expectLike(await ask(side, 'config', { name, min_encryption_version: 3 }), {
        min_encryption_version: 3,
      });
    }),
    refuses('min_decryption_version may not be above the latest', 'config', {
      name: freshKey(),
      min_decryption_version: 2,
    }),
    refuses('min_encryption_version may not be above the latest', 'config', {
      name: freshKey(),
      min_encryption_version: 2,
    }),
    holds('ciphertext below min_decryption_version is not decrypted', async (side) => {
      const name = await freshKey()(side);
      const ciphertext = await member('encrypt', { name, plaintext: b64('x') }, 'ciphertext')(side);
      await ask(side, 'rotate', { name });
      await ask(side, 'config', { name, min_decryption_version: 2 });
      ok('refusal' in (await outcomeOf(side, 'decrypt', { name, ciphertext })));
    }),
    holds('a signature below min_decryption_version is not verified', async (side) => {
      const name = await freshKey({ type: 'ed25519' })(side);
      const signature = await member('sign', { name, input: b64('x') }, 'signature')(side);
      await ask(side, 'rotate', { name, force: true });
      await ask(side, 'config', { name, min_decryption_version: 2 });
      ok('refusal' in (await outcomeOf(side, 'verify', { name, input: b64('x'), signature })));
    }),
    holds('an HMAC below min_decryption_version is not verified', async (side) => {
      const name = await freshKey()(side);
      const hmac = await member('hmac', { name, input: b64('x') }, 'hmac')(side);
      await ask(side, 'rotate', { name });
      await ask(side, 'config', { name, min_decryption_version: 2 });
      ok('refusal' in (await outcomeOf(side, 'verify', { name, input: b64('x'), hmac })));
    }),
    ...(
      [
        ['encrypt', { plaintext: b64('x') }],
        ['hmac', { input: b64('x') }],
      ] as const
    ).map(([operation, more]) =>
      holds(`${operation} with a version below min_encryption_version is refused`, async (side) => {
        const name = await freshKey({}, 2)(side);
        await ask(side, 'config', { name, min_encryption_version: 2 });
        ok('refusal' in (await outcomeOf(side, operation, { name, key_version: 1, ...more })));
        await ask(side, operation, { name, key_version: 2, ...more });
      }),
    ),
    holds('sign with a version below min_encryption_version is refused', async (side) => {
      const name = await freshKey({ type: 'ed25519' }, 2)(side);
      await ask(side, 'config', { name, min_encryption_version: 2 });
      ok('refusal' in (await outcomeOf(side, 'sign', { name, key_version: 1, input: b64('x') })));
    }),
    refuses('a key that is not there cannot be configured', 'config', {
      name: freeName,
      deletion_allowed: true,
    }),
  ],
};

const rotate: Chapter = {
  title: 'Rotate key',
  rows: [
    ...SYMMETRIC.map((type) =>
      gives(
        `rotation adds a version to ${type}`,
        'rotate',
        { name: freshKey({ type }) },
        { latest_version: 2 },
      ),
    ),
    gives(
      'rotation adds a version to rsa-2048, which encrypts as well',
      'rotate',
      { name: freshKey({ type: 'rsa-2048' }) },
      {
        latest_version: 2,
      },
    ),
    gives(
      'later encryption uses the new version',
      'encrypt',
      { name: freshKey({}, 2), plaintext: b64('x') },
      {
        ciphertext: /^service:v2:/,
      },
    ),
    ...['ed25519', ...ECDSA].map((type) =>
      refuses(
        `a key of ${type}, which does not encrypt, does not rotate`,
        'rotate',
        { name: freshKey({ type }) },
        /only supported/,
      ),
    ),
    holds('existing ciphertext is upgraded by rewrap', async (side) => {
      const name = await freshKey()(side);
      const ciphertext = await member('encrypt', { name, plaintext: b64('x') }, 'ciphertext')(side);
      await ask(side, 'rotate', { name });
      expectLike(await ask(side, 'rewrap', { name, ciphertext }), { ciphertext: /^service:v2:/ });
    }),
    holds('existing ciphertext is still decrypted', async (side) => {
      const name = await freshKey()(side);
      const ciphertext = await member('encrypt', { name, plaintext: b64('x') }, 'ciphertext')(side);
      await ask(side, 'rotate', { name });
      expectLike(await ask(side, 'decrypt', { name, ciphertext }), { plaintext: b64('x') });
    }),
    refuses('a key that is not there does not rotate', 'rotate', { name: freeName }),
  ],
};

const isBase64 =
  (bytes: number) =>
  (value: unknown): boolean =>
    Buffer.from(String(value), 'base64').length === bytes;

const exportKeys: Chapter = {
  title: 'Export key',
  rows: [
    gives(
      'the name is answered',
      'export',
      { key_type: 'encryption-key', name: key('aes256-gcm96', { exportable: true }) },
      {
        name: exists,
      },
    ),
    ...(
      [
        ['aes128-gcm96', 16],
        ['aes256-gcm96', 32],
        ['chacha20-poly1305', 32],
      ] as const
    ).map(([type, bytes]) =>
      gives(
        `encryption-key of ${type} is the key in base64`,
        'export',
        {
          key_type: 'encryption-key',
          name: key(type, { exportable: true }),
        },
        { keys: { 1: isBase64(bytes) } },
      ),
    ),
    ...['ed25519', 'ecdsa-p256', 'ecdsa-p384', 'ecdsa-p521'].map((type) =>
      gives(
        `signing-key of ${type} is exported`,
        'export',
        { key_type: 'signing-key', name: key(type, { exportable: true }) },
        {
          keys: { 1: exists },
        },
      ),
    ),
    ...['aes256-gcm96', 'ed25519'].map((type) =>
      gives(
        `hmac-key of ${type} is exported`,
        'export',
        { key_type: 'hmac-key', name: key(type, { exportable: true }) },
        {
          keys: { 1: isBase64(32) },
        },
      ),
    ),
    gives(
      'without a version all are answered',
      'export',
      { key_type: 'encryption-key', name: freshKey({ exportable: true }, 3) },
      {
        keys: (keys: unknown) => Object.keys(keys as object).join() === '1,2,3',
      },
    ),
    gives(
      'a version is answered alone',
      'export',
      {
        key_type: 'encryption-key',
        name: freshKey({ exportable: true }, 3),
        'url:version': 2,
      },
      { keys: (keys: unknown) => Object.keys(keys as object).join() === '2' },
    ),
    gives(
      'latest is the current key',
      'export',
      {
        key_type: 'encryption-key',
        name: freshKey({ exportable: true }, 3),
        'url:version': 'latest',
      },
      { keys: (keys: unknown) => Object.keys(keys as object).join() === '3' },
    ),
    refuses(
      'a key that is not exportable is refused',
      'export',
      { key_type: 'encryption-key', name: key('aes256-gcm96') },
      /not exportable/,
    ),
    holds('a version that is no longer valid is refused', async (side) => {
      const name = await freshKey({ exportable: true }, 2)(side);
      await ask(side, 'config', { name, min_decryption_version: 2 });
      ok(
        'refusal' in
          (await outcomeOf(side, 'export', { key_type: 'encryption-key', name, 'url:version': 1 })),
      );
      expectLike(await ask(side, 'export', { key_type: 'encryption-key', name }), {
        keys: (keys: unknown) => Object.keys(keys as object).join() === '2',
      });
    }),
    refuses('a kind of key that there is not is refused', 'export', {
      key_type: 'other-key',
      name: key('aes256-gcm96', { exportable: true }),
    }),
    refuses('a key that is not there cannot be exported', 'export', {
      key_type: 'encryption-key',
      name: freeName,
    }),
  ],
};

export const transitKeyChanges: readonly Chapter[] = [deleteKey, configure, rotate, exportKeys];
