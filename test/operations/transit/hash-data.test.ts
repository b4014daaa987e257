import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations, type Operations, type Raw } from './operations.ts';
import { FOX } from './vectors.ts';

let operations: Operations;
beforeAll(async () => {
  operations = await freshOperations();
});
const hash = (raw: Raw) => operations.ask('hash', raw);

/** FIPS 180-4's example for the empty message. */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('hash', () => {
  it('hashes the input with SHA-256, in hexadecimal digits', async () => {
    const sum = '9ecb36561341d18eb65484e833efea61edc74b84cf5e6ae1b81c63533e25fc8f';
    expect(await hash({ input: FOX })).toEqual({ sum });
  });

  it.each(['', null])('takes %j for the empty input', async (input) => {
    expect(await hash({ input })).toEqual({ sum: EMPTY });
  });

  it('refuses no input, and one that is not base64', async () => {
    expect(await rejectionOf(hash({}))).toMatchObject({ kind: 'invalid', message: 'input missing' });
    expect(await rejectionOf(hash({ input: 'n!t' }))).toMatchObject({
      kind: 'invalid',
      field: 'input',
      message: 'unable to decode input as base64: illegal base64 data at input byte 1',
    });
  });

  it.each([
    ['sha2-224', 'sha224'],
    ['sha2-256', 'sha256'],
    ['sha2-384', 'sha384'],
    ['sha2-512', 'sha512'],
    ['sha3-224', 'sha3-224'],
    ['sha3-256', 'sha3-256'],
    ['sha3-384', 'sha3-384'],
    ['sha3-512', 'sha3-512'],
  ])('hashes with the algorithm %s', async (algorithm, openssl) => {
    const sum = createHash(openssl).update('the quick brown fox').digest('hex');
    expect(await hash({ input: FOX, algorithm })).toEqual({ sum });
  });

  it.each(['sha1', 'none', 'md5', 'SHA2-256', '', null])(
    'refuses the algorithm %j, which there is not',
    async (algorithm) => {
      expect(await rejectionOf(hash({ input: FOX, algorithm }))).toMatchObject({
        kind: 'invalid',
        field: 'algorithm',
        message: `unsupported algorithm ${algorithm ?? ''}`,
      });
    },
  );

  it('prints in base64 as well, and in no other format', async () => {
    const sum = Buffer.from(EMPTY, 'hex').toString('base64');
    expect(await hash({ input: '', format: 'base64' })).toEqual({ sum });
    for (const format of ['binary', '', null]) {
      expect(await rejectionOf(hash({ input: '', format }))).toMatchObject({
        kind: 'invalid',
        field: 'format',
        message: `unsupported encoding format ${format ?? ''}; must be "hex" or "base64"`,
      });
    }
  });
});
