import { beforeEach, describe, expect, it } from 'vitest';
import { goEntry } from '../../reference/go-backup.ts';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';
import { FOX, HMACS, KEY, KNOWN_HMAC_KEY } from './vectors.ts';

let operations: Operations;
const hmac = (raw: Raw = {}) => operations.ask('hmac', { name: 'orders', input: FOX, ...raw });
const known = goEntry({ key: KEY, hmac_key: KNOWN_HMAC_KEY });

/** Two versions with the same key for HMACs. */
beforeEach(async () => {
  operations = await freshOperations();
  await operations.restore('orders', [known, known]);
});

describe('hmac', () => {
  it('answers the HMAC of the input with the latest version, and nothing beside it', async () => {
    expect(await hmac()).toEqual({ hmac: `service:v2:${HMACS['sha2-256']}` });
  });

  it('takes the empty input, but not none', async () => {
    expect(await hmac({ input: '' })).toEqual(await hmac({ input: null }));
    expect(await rejectionOf(operations.ask('hmac', { name: 'orders' }))).toMatchObject({
      kind: 'invalid',
      field: 'input',
      message: 'missing input for HMAC',
    });
    expect(await rejectionOf(hmac({ input: 'n!t' }))).toMatchObject({
      message: 'unable to decode input as base64: illegal base64 data at input byte 1',
    });
  });

  it('needs a key of the name, of any type', async () => {
    expect(await rejectionOf(hmac({ name: 'nobody' }))).toMatchObject({
      kind: 'not-found',
      message: 'encryption key not found',
    });
    await operations.ask('keys create', { name: 'signing', type: 'ed25519' });
    expect(await hmac({ name: 'signing' })).toEqual({ hmac: expect.stringMatching(/^service:v1:/) });
  });

  it.each(Object.entries(HMACS))('makes HMACs with the algorithm %s', async (algorithm, payload) => {
    expect(await hmac({ algorithm })).toEqual({ hmac: `service:v2:${payload}` });
  });

  it.each(['none', 'md5', 'SHA2-256', '', null])(
    'refuses the algorithm %j, which there is not',
    async (algorithm) => {
      expect(await rejectionOf(hmac({ algorithm }))).toMatchObject({
        kind: 'invalid',
        field: 'algorithm',
        message: `unsupported algorithm "${algorithm ?? ''}"`,
      });
    },
  );

  it.each([
    [0, 2],
    [null, 2],
    [1, 1],
    ['2', 2],
  ])('makes, for key_version %j, the HMAC with the version %j', async (key_version, used) => {
    expect(await hmac({ key_version })).toEqual({ hmac: `service:v${used}:${HMACS['sha2-256']}` });
  });

  it.each([
    [{}, -1, 'key version does not exist (cannot be negative)'],
    [{}, 3, 'key version does not exist; latest key version is 2'],
    [{ min_decryption_version: 2 }, 1, 'no such key version'],
    [{ min_encryption_version: 2 }, 1, 'cannot generate HMAC: version is too old (disallowed by policy)'],
  ])('refuses, when the key is configured as %j, the version %j', async (settings, key_version, message) => {
    await operations.ask('keys config', { name: 'orders', ...settings });
    expect(await rejectionOf(hmac({ key_version }))).toMatchObject({
      kind: 'invalid',
      field: 'key_version',
      message,
    });
  });
});

describe('hmac with batch_input', () => {
  it('answers each item at its place; a failed one does not change the status', async () => {
    const request = {
      name: 'orders',
      input: 'overlooked!',
      algorithm: 'sha1',
      key_version: 1,
      batch_input: [
        { input: FOX, reference: 'one' },
        { reference: 'two' },
        { input: 'n!t' },
        { input: FOX, algorithm: 'sha2-512', key_version: 2 },
      ],
    };
    expect(await operations.outcome('hmac', request)).toEqual({
      data: {
        batch_results: [
          { hmac: `service:v1:${HMACS['sha1']}`, reference: 'one' },
          { error: 'missing input for HMAC', reference: 'two' },
          {
            error: 'unable to decode input as base64: illegal base64 data at input byte 1',
            reference: '',
          },
          { hmac: `service:v1:${HMACS['sha1']}`, reference: '' },
        ],
      },
    });
    expect(await rejectionOf(hmac({ batch_input: [] }))).toMatchObject({
      message: 'missing batch input to process',
    });
  });
});
