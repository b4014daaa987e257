import { beforeEach, describe, expect, it } from 'vitest';
import { type Caller, owner } from '../../../src/operations/declaration/operation.ts';
import { goEntry } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';
import {
  CIPHERTEXT_OF_0_6_1,
  CONTEXT,
  CONVERGENT,
  CONVERGENT_ENTRY,
  CONVERGENT_POLICY,
  FOX,
  KEY,
  NONCE,
  ours,
  POLICY_OF_0_6_1,
} from './vectors.ts';

let operations: Operations;
const encrypt = (raw: Raw) => operations.ask('encrypt', { name: 'orders', ...raw });
const decrypt = (raw: Raw) => operations.ask('decrypt', { name: 'orders', ...raw });

/** Two versions, of which the first is the known key. */
const twoVersions = [goEntry({ key: KEY }), goEntry({ key: Buffer.alloc(32, 2).toString('base64') })];

beforeEach(async () => {
  operations = await freshOperations();
});

describe('encrypt', () => {
  it('answers the ciphertext and its version, and decrypt the plaintext', async () => {
    await operations.restore('orders', twoVersions);
    const data = await encrypt({ plaintext: FOX });
    expect(data).toEqual({ ciphertext: expect.stringMatching(/^service:v2:/), key_version: 2 });
    const { ciphertext } = data as { ciphertext: string };
    expect(await decrypt({ ciphertext })).toEqual({ plaintext: FOX });
  });

  it.each(['', null])('takes %j for an empty plaintext', async (plaintext) => {
    const ciphertext = await operations.text('encrypt', { name: 'orders', plaintext }, 'ciphertext');
    expect(await decrypt({ ciphertext })).toEqual({ plaintext: '' });
  });

  it('refuses no plaintext, and one that is not base64', async () => {
    await operations.ask('keys create', { name: 'orders' });
    expect(await rejectionOf(encrypt({}))).toMatchObject({
      kind: 'invalid',
      field: 'plaintext',
      message: 'missing plaintext to encrypt',
    });
    expect(await rejectionOf(encrypt({ plaintext: 'n!t' }))).toMatchObject({
      kind: 'invalid',
      field: 'plaintext',
      message: 'illegal base64 data at input byte 1',
    });
  });

  it('derives the key from the context', async () => {
    await operations.restore('orders', [goEntry(CONVERGENT_ENTRY)], CONVERGENT_POLICY);
    expect(await encrypt({ plaintext: FOX, context: CONTEXT })).toEqual({
      ciphertext: ours(CONVERGENT),
      key_version: 1,
    });
    expect(await encrypt({ plaintext: FOX, context: 'b3RoZXI=' })).not.toMatchObject({
      ciphertext: ours(CONVERGENT),
    });
    expect(await rejectionOf(encrypt({ plaintext: FOX }))).toMatchObject({
      kind: 'invalid',
      field: 'context',
    });
  });

  it.each([
    [1, 1],
    ['1', 1],
    [2, 2],
    [0, 2],
    ['', 2],
    [null, 2],
  ])('encrypts, for key_version %j, with the version %j', async (key_version, used) => {
    await operations.restore('orders', twoVersions);
    expect(await encrypt({ plaintext: FOX, key_version })).toEqual({
      ciphertext: expect.stringMatching(`^service:v${used}:`),
      key_version: used,
    });
  });

  it.each([
    [-1, 'requested version for encryption is negative'],
    [1, 'requested version for encryption is less than the minimum encryption key version'],
    [3, 'requested version for encryption is higher than the latest key version'],
  ])('refuses the key_version %j', async (key_version, message) => {
    await operations.restore('orders', twoVersions, { min_encryption_version: 2 });
    expect(await rejectionOf(encrypt({ plaintext: FOX, key_version }))).toMatchObject({
      kind: 'invalid',
      field: 'key_version',
      message,
    });
  });

  it('takes a nonce for convergent keys of release 0.6.1, and for no other', async () => {
    await operations.restore('orders', [goEntry({ key: KEY })], POLICY_OF_0_6_1);
    const nonce = NONCE;
    expect(await encrypt({ plaintext: FOX, context: CONTEXT, nonce })).toEqual({
      ciphertext: ours(CIPHERTEXT_OF_0_6_1),
      key_version: 1,
    });
    for (const wrong of [{}, { nonce: 'AAAA' }]) {
      expect(await rejectionOf(encrypt({ plaintext: FOX, context: CONTEXT, ...wrong }))).toMatchObject({
        kind: 'invalid',
        field: 'nonce',
        message: 'base64-decoded nonce must be 12 bytes long when using convergent encryption with this key',
      });
    }
    await operations.restore('other', twoVersions);
    const attempt = operations.ask('encrypt', { name: 'other', plaintext: FOX, nonce });
    expect(await rejectionOf(attempt)).toMatchObject({ message: 'provided nonce not allowed for this key' });
    await operations.ask('encrypt', { name: 'other', plaintext: FOX, nonce: '' });
  });

  it('authenticates associated data, which decrypt must be given again', async () => {
    await operations.restore('orders', twoVersions);
    const sealed = { name: 'orders', plaintext: FOX, associated_data: 'YWFk' };
    const ciphertext = await operations.text('encrypt', sealed, 'ciphertext');
    expect(await decrypt({ ciphertext, associated_data: 'YWFk' })).toEqual({ plaintext: FOX });
    expect(await rejectionOf(decrypt({ ciphertext }))).toMatchObject({
      kind: 'inauthentic',
      message: 'cipher: message authentication failed',
    });
  });

  it('refuses associated data where they would be lost or do harm', async () => {
    await operations.ask('keys create', { name: 'rsa', type: 'rsa-2048' });
    const rsa = operations.ask('encrypt', { name: 'rsa', plaintext: FOX, associated_data: 'YWFk' });
    expect(await rejectionOf(rsa)).toMatchObject({
      kind: 'unsupported',
      message: "'[0].associated_data' provided for non-AEAD cipher suite rsa-2048",
    });
    const upserted = { name: 'equal', plaintext: FOX, context: CONTEXT, convergent_encryption: true };
    await operations.ask('encrypt', upserted);
    expect(
      await rejectionOf(operations.ask('encrypt', { ...upserted, associated_data: 'YWFk' })),
    ).toMatchObject({
      kind: 'unsupported',
      field: 'associated_data',
    });
  });
});

describe('encrypt with a key that is not there', () => {
  const read = () => operations.ask('keys read', { name: 'orders' });

  it('makes one with the defaults, derived when a context is given', async () => {
    await encrypt({ plaintext: FOX });
    expect(await read()).toMatchObject({
      type: 'aes256-gcm96',
      derived: false,
      exportable: false,
      allow_plaintext_backup: false,
    });
    await operations.ask('encrypt', { name: 'derived', plaintext: FOX, context: CONTEXT });
    expect(await operations.ask('keys read', { name: 'derived' })).toMatchObject({
      derived: true,
      convergent_encryption: false,
    });
  });

  it('makes one of the type that is asked for; a key that exists keeps its own', async () => {
    await encrypt({ plaintext: FOX, type: 'chacha20-poly1305' });
    expect(await read()).toMatchObject({ type: 'chacha20-poly1305' });
    await encrypt({ plaintext: FOX, type: 'aes128-gcm96' });
    expect(await read()).toMatchObject({ type: 'chacha20-poly1305', latest_version: 1 });
  });

  it.each([
    ['ecdsa-p256', 'key type ecdsa-p256 not supported for this operation'],
    ['rot13', 'unknown key type rot13'],
  ])('makes none of the type %s', async (type, message) => {
    expect(await rejectionOf(encrypt({ plaintext: FOX, type }))).toMatchObject({ field: 'type', message });
    expect(await rejectionOf(read())).toMatchObject({ kind: 'not-found' });
  });

  it.each([true, 'true', 1])('makes a convergent one when convergent_encryption is %j', async (given) => {
    await encrypt({ plaintext: FOX, context: CONTEXT, convergent_encryption: given });
    expect(await read()).toMatchObject({ derived: true, convergent_encryption: true });
  });

  it('makes no convergent one for "", nor for a key that exists, nor without a context', async () => {
    await encrypt({ plaintext: FOX, context: CONTEXT, convergent_encryption: '' });
    await encrypt({ plaintext: FOX, context: CONTEXT, convergent_encryption: true });
    expect(await read()).toMatchObject({ derived: true, convergent_encryption: false });
    const attempt = operations.ask('encrypt', { name: 'equal', plaintext: FOX, convergent_encryption: true });
    expect(await rejectionOf(attempt)).toMatchObject({
      kind: 'invalid',
      message: 'convergent encryption requires derivation to be enabled, so context is required',
    });
  });

  it('makes none when no_create says so, or when the caller may not', async () => {
    expect(await rejectionOf(encrypt({ plaintext: FOX, no_create: true }))).toMatchObject({
      kind: 'not-found',
      field: 'name',
      message: 'encryption key not found',
    });
    const updater: Caller = {
      ...owner,
      may: (_path, capability) => capability === 'update',
    };
    const attempt = operations.outcome('encrypt', { name: 'orders', plaintext: FOX }, updater);
    expect(await rejectionOf(attempt)).toMatchObject({ kind: 'not-found' });
    expect(await rejectionOf(read())).toMatchObject({ kind: 'not-found' });
    const creator: Caller = {
      ...owner,
      may: (_path, capability) => capability === 'create',
    };
    const message = { name: 'orders', plaintext: FOX };
    await operations.outcome('encrypt', message, creator);
    expect(await rejectionOf(operations.outcome('encrypt', message, creator))).toMatchObject({
      kind: 'denied',
    });
  });
});

describe('encrypt with batch_input', () => {
  const items = [
    { plaintext: FOX, key_version: 1, reference: 'one' },
    { reference: 'two' },
    { plaintext: 'n!t' },
    { plaintext: 17, reference: 4 },
  ];

  it('answers each item at its place, and lets one fail alone', async () => {
    await operations.restore('orders', twoVersions);
    const outcome = await operations.outcome('encrypt', {
      name: 'orders',
      plaintext: 'overlooked, so this need not be base64',
      context: 'n!t',
      nonce: 'n!t',
      associated_data: 'n!t',
      batch_input: items,
    });
    expect(outcome).toEqual({
      data: {
        batch_results: [
          { ciphertext: expect.stringMatching(/^service:v1:/), key_version: 1, reference: 'one' },
          { error: 'missing plaintext to encrypt', reference: 'two' },
          { error: 'illegal base64 data at input byte 1', reference: '' },
          { error: 'illegal base64 data at input byte 0', reference: '4' },
        ],
      },
      failedItems: { statusCode: 400 },
    });
  });

  it('uses the key_version beside it for items that say none', async () => {
    await operations.restore('orders', twoVersions);
    const batch_input = [
      { plaintext: FOX },
      { plaintext: FOX, key_version: 2 },
      { plaintext: FOX, key_version: 0 },
    ];
    expect(await encrypt({ key_version: 1, batch_input })).toMatchObject({
      batch_results: [{ key_version: 1 }, { key_version: 2 }, { key_version: 2 }],
    });
  });

  it('answers each item, whatever contexts its items have', async () => {
    const mixed = [{ plaintext: FOX, context: CONTEXT }, { plaintext: FOX }];
    const missing = { error: expect.stringContaining("missing 'context' for key derivation") };
    const ciphertext = expect.stringMatching(/^service:v1:/);
    await operations.ask('keys create', { name: 'orders' });
    expect(await encrypt({ batch_input: mixed })).toMatchObject({
      batch_results: [{ ciphertext }, { ciphertext }],
    });
    await operations.ask('keys create', { name: 'derived', derived: true });
    const { data, failedItems } = await operations.outcome('encrypt', {
      name: 'derived',
      batch_input: mixed,
    });
    expect(data).toMatchObject({ batch_results: [{ ciphertext }, missing] });
    expect(failedItems).toEqual({ statusCode: 400 });
    const [sealed] = (data as { batch_results: [{ ciphertext: string }] }).batch_results;
    const batch_input = [{ ciphertext: sealed.ciphertext }, { ...sealed, context: CONTEXT }];
    expect(await operations.ask('decrypt', { name: 'derived', batch_input })).toMatchObject({
      batch_results: [missing, { plaintext: FOX }],
    });
  });

  it.each([
    [[{ plaintext: FOX, context: CONTEXT }, { plaintext: FOX }], true],
    [[{ plaintext: FOX }, { plaintext: FOX, context: CONTEXT }], false],
    [[{ plaintext: 'n!t' }, { plaintext: FOX, context: CONTEXT }], true],
    [[{ plaintext: FOX, context: 'n!t' }, null, { plaintext: FOX }], false],
  ])(
    'makes a missing key that fits its first item that can be encrypted: of %j',
    async (batch_input, derived) => {
      await encrypt({ batch_input });
      expect(await operations.ask('keys read', { name: 'orders' })).toMatchObject({ derived });
    },
  );

  it('makes a convergent key that is missing, and lets the items without a context fail alone', async () => {
    const batch_input = [{ plaintext: FOX }, { plaintext: FOX, context: CONTEXT }];
    expect(await encrypt({ batch_input, convergent_encryption: true })).toMatchObject({
      batch_results: [
        { error: 'convergent encryption requires derivation to be enabled, so context is required' },
        { key_version: 1 },
      ],
    });
    expect(await operations.ask('keys read', { name: 'orders' })).toMatchObject({
      derived: true,
      convergent_encryption: true,
    });
  });

  it('has for callers of the family a context for every item, or for none', async () => {
    operations = await freshOperations('vault');
    const batch_input = [{ plaintext: FOX, context: CONTEXT }, { plaintext: FOX }];
    const refusal = {
      kind: 'invalid',
      message: 'context should be set either in all the request blocks or in none',
    };
    expect(await rejectionOf(encrypt({ batch_input }))).toMatchObject(refusal);
    expect(await rejectionOf(decrypt({ batch_input }))).toMatchObject(refusal);
  });

  it.each([null, 'text', 7, [], [{}]])('lets an item that is %j fail alone', async (item) => {
    expect(await encrypt({ batch_input: [item, { plaintext: FOX }] })).toMatchObject({
      batch_results: [{ error: expect.stringContaining('batch_input[0]') }, { key_version: 1 }],
    });
  });

  it.each(['text', 7, true])('refuses a batch_input that is %j', async (batch_input) => {
    expect(await rejectionOf(encrypt({ batch_input }))).toMatchObject({ kind: 'invalid' });
  });

  it('makes a key that is missing, but not when every item fails', async () => {
    expect(await encrypt({ batch_input: [{}, { plaintext: 'n!t' }] })).toMatchObject({
      batch_results: [{}, {}],
    });
    expect(await operations.ask('keys list')).toEqual({ keys: [] });
    await encrypt({ batch_input: [{ plaintext: FOX }], type: 'aes128-gcm96' });
    expect(await operations.ask('keys read', { name: 'orders' })).toMatchObject({ type: 'aes128-gcm96' });
  });

  it('is not there when it is null, and must not be empty', async () => {
    expect(await encrypt({ plaintext: FOX, batch_input: null })).toMatchObject({ key_version: 1 });
    expect(await rejectionOf(encrypt({ batch_input: [] }))).toMatchObject({
      kind: 'invalid',
      message: 'missing batch input to process',
    });
  });

  const partial = (partial_failure_response_code: unknown, batch_input: readonly object[] = items) =>
    operations.outcome('encrypt', { name: 'orders', batch_input, partial_failure_response_code });

  it.each([200, '202', 207, 599])('answers with the status %j when some items fail', async (code) => {
    expect(await partial(code)).toMatchObject({ failedItems: { statusCode: Number(code) } });
  });

  it('answers with 400 when all items fail, and as ever when none does', async () => {
    expect(await partial(200, [{}])).toMatchObject({ failedItems: { statusCode: 400 } });
    expect(await partial(207, [{ plaintext: FOX }])).not.toHaveProperty('failedItems');
  });

  it.each([0, 199, 600, -1])('warns that %j is no status, and answers with 400', async (code) => {
    expect(await partial(code)).toMatchObject({
      failedItems: { statusCode: 400 },
      warnings: ['invalid HTTP response code override from partial_failure_response_code, reverting to 400'],
    });
  });
});
