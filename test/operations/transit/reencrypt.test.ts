import { beforeEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/operations/declaration/operation.ts';
import { goEntry } from '../../reference/go-backup.ts';
import { refused } from '../../refusal.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';
import {
  CIPHERTEXT_OF_0_6_1,
  CONTEXT,
  FOX,
  KEY,
  NONCE,
  PLAIN,
  POLICY_OF_0_6_1,
  WITH_AAD,
} from './vectors.ts';

const AAD = Buffer.from('aad').toString('base64');
const OTHER = Buffer.from('other').toString('base64');

let operations: Operations;
const reencrypt = (raw: Raw) =>
  operations.ask('reencrypt', { name: 'orders', destination: 'archive', ...raw });
/** Moves it, and decrypts what that gave. */
async function moved(sealed: Raw, opening: Raw = {}): Promise<unknown> {
  const raw = { name: 'orders', destination: 'archive', ...sealed };
  const ciphertext = await operations.text('reencrypt', raw, 'ciphertext');
  return operations.ask('decrypt', { name: 'archive', ...opening, ciphertext });
}

beforeEach(async () => {
  operations = await freshOperations();
  await operations.restore('orders', [goEntry({ key: KEY })]);
});

describe('reencrypt', () => {
  it('answers under the latest version of the other key what a ciphertext of this one holds, and no plaintext', async () => {
    await operations.ask('keys create', { name: 'archive' });
    await operations.ask('keys rotate', { name: 'archive' });
    expect(await reencrypt({ ciphertext: PLAIN })).toEqual({
      ciphertext: expect.stringMatching(/^service:v2:/),
      key_version: 2,
    });
    expect(await moved({ ciphertext: PLAIN })).toEqual({ plaintext: FOX });
    expect(await reencrypt({ ciphertext: PLAIN, key_version: 1 })).toMatchObject({ key_version: 1 });
    await expect(operations.ask('decrypt', { name: 'archive', ciphertext: PLAIN })).rejects.toThrow();
  });

  it('keeps context and associated data, unless it is told those of the new ciphertext', async () => {
    await operations.ask('keys create', { name: 'archive', derived: true });
    const old = { ciphertext: WITH_AAD, associated_data: AAD };
    expect(await moved({ ...old, context: CONTEXT }, { context: CONTEXT, associated_data: AAD })).toEqual({
      plaintext: FOX,
    });
    const bound = { encrypt_context: OTHER, encrypt_associated_data: OTHER };
    expect(await moved({ ...old, ...bound }, { context: OTHER, associated_data: OTHER })).toEqual({
      plaintext: FOX,
    });
    const unbound = { encrypt_context: OTHER, encrypt_associated_data: '' };
    expect(await moved({ ...old, ...unbound }, { context: OTHER })).toEqual({ plaintext: FOX });
    expect(await refused(reencrypt({ ...old, encrypt_context: 'n!t' }))).toMatchObject({
      kind: 'invalid',
      field: 'encrypt_context',
    });
    expect(await refused(reencrypt(old))).toMatchObject({ kind: 'invalid', field: 'context' });
  });

  it('moves data from and to convergent keys of release 0.6.1, by their nonces', async () => {
    const old = goEntry({ key: KEY, convergent_version: 1 });
    await operations.restore('old', [old], POLICY_OF_0_6_1);
    await operations.restore('archive', [goEntry({ key: KEY, convergent_version: 1 })], POLICY_OF_0_6_1);
    const sealed = { name: 'old', ciphertext: CIPHERTEXT_OF_0_6_1, context: CONTEXT, nonce: NONCE };
    expect(await moved(sealed, { context: CONTEXT, nonce: NONCE })).toEqual({ plaintext: FOX });
    const nonce = Buffer.alloc(12, 9).toString('base64');
    const told = { ciphertext: PLAIN, context: CONTEXT, encrypt_nonce: nonce };
    expect(await moved(told, { context: CONTEXT, nonce })).toEqual({ plaintext: FOX });
  });

  it('moves data to and from RSA, with the hash and padding of each side', async () => {
    await operations.ask('keys create', { name: 'archive', type: 'rsa-2048' });
    const padding = { encrypt_padding_scheme: 'oaep', encrypt_hash_algorithm: 'sha2-512' };
    const raw = { name: 'orders', destination: 'archive', ciphertext: PLAIN, ...padding };
    const ciphertext = await operations.text('reencrypt', raw, 'ciphertext');
    const back = { name: 'archive', destination: 'orders', ciphertext, decrypt_padding_scheme: 'oaep' };
    const again = await operations.text(
      'reencrypt',
      { ...back, decrypt_hash_algorithm: 'sha2-512' },
      'ciphertext',
    );
    expect(await operations.ask('decrypt', { name: 'orders', ciphertext: again })).toEqual({
      plaintext: FOX,
    });
  });

  it('answers each item of a batch at its place, bad ones alone, and none of the plaintexts', async () => {
    await operations.ask('keys create', { name: 'archive' });
    const batch_input = [
      { ciphertext: PLAIN, reference: 'a' },
      null,
      'x',
      [],
      { ciphertext: 'vault:v1:AAAA' },
      { ciphertext: 7 },
      {},
      { ciphertext: PLAIN, encrypt_associated_data: 'n!t' },
      { ciphertext: PLAIN, encrypt_nonce: NONCE },
      { ciphertext: PLAIN, key_version: 9 },
      { ciphertext: PLAIN },
    ];
    const answer = (await reencrypt({ batch_input })) as { batch_results: Record<string, unknown>[] };
    const wrong = { error: expect.any(String) };
    const good = { ciphertext: expect.stringMatching(/^service:v1:/), key_version: 1 };
    expect(answer.batch_results).toMatchObject([{ ...good, reference: 'a' }, ...Array(9).fill(wrong), good]);
    expect(JSON.stringify(answer)).not.toContain(FOX);
  });

  it('needs both keys, one that decrypts and one that encrypts', async () => {
    expect(await refused(reencrypt({ ciphertext: PLAIN }))).toMatchObject({ kind: 'not-found' });
    await operations.ask('keys create', { name: 'archive', type: 'ed25519' });
    expect(await refused(reencrypt({ ciphertext: PLAIN }))).toMatchObject({ kind: 'unsupported' });
    expect(await refused(reencrypt({ name: 'nobody', ciphertext: PLAIN }))).toMatchObject({
      kind: 'not-found',
    });
    for (const destination of ['', '../x', 'a/b', ['x', 'y']]) {
      expect(await refused(reencrypt({ ciphertext: PLAIN, destination }))).toMatchObject({
        field: 'destination',
      });
    }
    await operations.ask('keys create', { name: 'stopped' });
    await operations.ask('keys soft-delete', { name: 'stopped' });
    expect(await refused(reencrypt({ ciphertext: PLAIN, destination: 'stopped' }))).toMatchObject({
      kind: 'conflict',
    });
  });

  const SOURCE = 'transit/rewrap/orders';
  const DESTINATION = 'transit/encrypt/archive';
  it.each([
    [[SOURCE, DESTINATION], true],
    [[SOURCE, DESTINATION, 'transit/decrypt/orders', 'transit/decrypt/archive'], true],
    [[SOURCE, DESTINATION, 'transit/decrypt/archive'], false],
    [[SOURCE], false],
    [[DESTINATION], false],
    [['transit/decrypt/orders', DESTINATION], false],
    [['transit/rewrap/archive', 'transit/encrypt/orders'], false],
    [['other/rewrap/orders', 'other/encrypt/archive'], false],
    ...['export/encryption-key/archive', 'export/signing-key/archive', 'backup/archive', 'restore'].map(
      (way): [string[], boolean] => [[SOURCE, DESTINATION, `transit/${way}`], false],
    ),
    ...['keys/archive/import', 'keys/archive/import_version', 'byok-export'].map(
      (way): [string[], boolean] => [[SOURCE, DESTINATION, `transit/${way}`], false],
    ),
    [[SOURCE, DESTINATION, 'transit/backup/archive', 'transit/decrypt/orders'], true],
    [[SOURCE, DESTINATION, 'transit/backup/orders', 'transit/export/public-key/archive'], true],
  ])('is done for who may update %j, as far as policies say so: %s', async (paths, isAllowed) => {
    await operations.ask('keys create', { name: 'archive' });
    const caller: Caller = {
      id: 'clerk',
      may: (path, capability) => capability === 'update' && paths.includes(path),
      reaches: () => false,
    };
    const raw = { name: 'orders', destination: 'archive', ciphertext: PLAIN };
    const asked = operations.outcome('reencrypt', raw, caller);
    if (isAllowed) expect((await asked).data).toMatchObject({ key_version: 1 });
    else expect(await refused(asked)).toMatchObject({ kind: 'denied', message: 'permission denied' });
  });

  it.each<[string, Partial<Caller>]>([
    ['read', { may: (path, wanted) => wanted === 'read' && path === 'transit/export/signing-key/archive' }],
    ['reach', { reaches: (path) => path === 'transit/backup/archive' }],
  ])('is not done for who may %s the other key in any way that shows it', async (_, more) => {
    await operations.ask('keys create', { name: 'archive' });
    const { may = () => false, reaches = () => false } = more;
    const caller: Caller = {
      id: 'clerk',
      may: (path, wanted) => [SOURCE, DESTINATION].includes(path) || may(path, wanted),
      reaches,
    };
    const raw = { name: 'orders', destination: 'archive', ciphertext: PLAIN };
    expect(await refused(operations.outcome('reencrypt', raw, caller))).toMatchObject({ kind: 'denied' });
  });

  it('shows nobody who may not decrypt which plaintexts are equal: into a convergent key', async () => {
    await operations.ask('keys create', { name: 'archive', derived: true, convergent_encryption: true });
    const clerk = (...more: string[]): Caller => ({
      id: 'clerk',
      may: (path) => [SOURCE, DESTINATION, ...more].includes(path),
      reaches: () => false,
    });
    const raw = { name: 'orders', destination: 'archive', ciphertext: PLAIN, context: CONTEXT };
    expect(await refused(operations.outcome('reencrypt', raw, clerk()))).toMatchObject({ kind: 'denied' });
    const { data } = await operations.outcome('reencrypt', raw, clerk('transit/decrypt/orders'));
    expect(data).toMatchObject({ key_version: 1 });
  });
});
