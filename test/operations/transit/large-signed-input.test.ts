import { describe, expect, it } from 'vitest';
import { CofferError, type ErrorKind } from '../../../src/ground/errors.ts';
import type { Runner } from '../../../src/operations/declaration/operation.ts';
import { largeSignedInput } from '../../../src/operations/transit/large-signed-input.ts';
import { refused } from '../../refusal.ts';

/** Where a key has a type, or reading it fails. */
const where = (key: string | ErrorKind): Runner =>
  ({
    run: async () => {
      if (['denied', 'not-found', 'unavailable'].includes(key)) throw new CofferError(key as ErrorKind, 'no');
      return { data: { type: key } };
    },
  }) as unknown as Runner;

const hashed = (values: object, key: string = 'rsa-2048') =>
  largeSignedInput.hash?.({ name: 'k', ...values }, where(key));

describe('a large input that is to be signed', () => {
  it.each<[object, string]>([
    [{}, 'sha256'],
    [{ hash_algorithm: '' }, 'sha256'],
    [{ hash_algorithm: 'sha2-512' }, 'sha512'],
    [{ algorithm: 'sha2-384' }, 'sha384'],
    [{ hash_algorithm: 'sha2-512', algorithm: 'sha2-384' }, 'sha512'],
    [{ prehashed: false }, 'sha256'],
  ])('is sent as its hash with %j: by %s', async (values, algorithm) => {
    const hash = await hashed(values);
    expect(hash?.algorithm).toBe(algorithm);
    expect(hash?.of(Buffer.from('digest'))).toEqual({
      input: Buffer.from('digest').toString('base64'),
      prehashed: true,
    });
  });

  it.each<[object]>([
    [{ prehashed: true }],
    [{ hmac: 'x' }],
    [{ hash_algorithm: 'none' }],
    [{ hash_algorithm: 'md4' }],
  ])('is sent as it is with %j', async (values) => {
    expect(await hashed(values)).toBeUndefined();
  });

  it.each(['ed25519', 'no-such-type', 'denied'])(
    'is sent as it is for a key of which is known: %s',
    async (key) => {
      expect(await hashed({}, key)).toBeUndefined();
    },
  );

  it.each(['not-found', 'unavailable'] as const)(
    'is not sent where reading the key fails: %s',
    async (kind) => {
      expect(await refused(hashed({}, kind) ?? Promise.resolve())).toMatchObject({ kind });
    },
  );
});
