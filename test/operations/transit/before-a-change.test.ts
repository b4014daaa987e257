import { describe, expect, it } from 'vitest';
import { CofferError, type ErrorKind } from '../../../src/ground/errors.ts';
import type { CliShape, Runner } from '../../../src/operations/declaration/operation.ts';
import { refused } from '../../refusal.ts';
import { declarationOf, type Raw } from './operations.ts';

const KEY = {
  name: 'k',
  latest_version: 4,
  min_available_version: 2,
  min_encryption_version: 3,
  min_decryption_version: 3,
  deletion_allowed: false,
  exportable: false,
  allow_plaintext_backup: false,
  soft_deleted: false,
  revoked_versions: [2],
  destroyed_versions: [3],
};

/** Reads a key that is like this one, or fails. */
const where = (key: object | ErrorKind | Error, asked: unknown[] = []): Runner =>
  ({
    run: async (...all: unknown[]) => {
      asked.push(all);
      if (key instanceof Error) throw key;
      if (typeof key === 'string') throw new CofferError(key, 'on purpose');
      return { data: { ...KEY, ...key } };
    },
  }) as unknown as Runner;

const shape = async (words: string): Promise<CliShape<unknown>> => (await declarationOf(words)).cli ?? {};
const foreseen = async (words: string, raw: Raw, key: object | ErrorKind = {}) =>
  (await shape(words)).foresee?.({ name: 'k', ...raw }, where(key));
const already = async (words: string, version: number, key: object | ErrorKind | Error = {}) =>
  (await shape(words)).unchanged?.({ name: 'k', version }, where(key));

describe('a key that a command is about to change', () => {
  it.each<[string, Raw, object]>([
    ['keys delete', {}, {}],
    ['keys destroy', { version: 4 }, {}],
    ['keys destroy', { version: 5 }, {}],
    ['keys destroy', { version: 1 }, {}],
    ['keys destroy', { version: 0 }, { min_available_version: 0 }],
    ['keys trim', { min_available_version: 1 }, {}],
    ['keys trim', { min_available_version: 4 }, {}],
    ['keys trim', { min_available_version: 3 }, { min_encryption_version: 0 }],
    ['keys trim', { min_available_version: 3 }, { min_encryption_version: 2 }],
    ['keys trim', { min_available_version: 3 }, { min_decryption_version: 2 }],
    ['keys export', { key_type: 'encryption-key' }, {}],
    ['keys export', { key_type: 'signing-key' }, {}],
    ['keys export', { key_type: 'hmac-key' }, {}],
    ['backup', {}, {}],
    ['backup', {}, { exportable: true }],
    ['backup', {}, { allow_plaintext_backup: true }],
  ])('refuses %s with %j before anything is asked, if it is like %j', async (words, raw, key) => {
    expect(['invalid', 'conflict']).toContain((await refused(foreseen(words, raw, key))).kind);
  });

  it.each<[string, Raw, object | ErrorKind]>([
    ['keys delete', {}, { deletion_allowed: true }],
    ['keys delete', {}, { deletion_allowed: null }],
    ['keys destroy', { version: 3 }, {}],
    ['keys destroy', { version: 2 }, {}],
    ['keys destroy', { version: 1 }, { min_available_version: 0 }],
    ['keys trim', { min_available_version: 2 }, {}],
    ['keys trim', { min_available_version: 3 }, {}],
    ['keys export', { key_type: 'encryption-key' }, { exportable: true }],
    ['keys export', { key_type: 'encryption-key' }, { exportable: null }],
    ['keys export', { key_type: 'public-key' }, 'denied'],
    ['keys export', { key_type: 'certificate-chain' }, 'denied'],
    ['backup', {}, { exportable: true, allow_plaintext_backup: true }],
    ['backup', {}, { exportable: null, allow_plaintext_backup: null }],
  ])('lets %s with %j be asked for, if it is like %j', async (words, raw, key) => {
    await foreseen(words, raw, key);
  });

  it.each(['keys delete', 'keys destroy', 'keys trim', 'keys config', 'backup'])(
    'that is not there is missed by %s',
    async (words) => {
      expect(await refused(foreseen(words, { version: 3 }, 'not-found'))).toMatchObject({
        kind: 'not-found',
      });
    },
  );

  it.each<[string, number, number, object]>([
    ['keys revoke', 2, 1, {}],
    ['keys revoke', 3, 0, {}],
    ['keys revoke', 2, 0, { revoked_versions: null }],
    ['keys destroy', 3, 1, {}],
    ['keys destroy', 2, 0, {}],
    ['keys reinstate', 1, 1, {}],
    ['keys reinstate', 2, 0, {}],
    ['keys reinstate', 3, 0, {}],
    ['keys soft-delete', 0, 0, {}],
    ['keys soft-delete', 0, 0, { soft_deleted: null }],
    ['keys soft-delete', 0, 1, { soft_deleted: true }],
    ['keys soft-delete-restore', 0, 1, {}],
    ['keys soft-delete-restore', 0, 0, { soft_deleted: true }],
  ])('is already as %s of version %i leaves it: %i, if it is like %j', async (words, version, count, key) => {
    expect(await already(words, version, key)).toBe(count);
  });

  it.each(['revoke', 'reinstate', 'destroy', 'soft-delete', 'soft-delete-restore'])(
    'that cannot be read is changed by keys %s as if it were otherwise, but not after a defect',
    async (word) => {
      for (const kind of ['denied', 'not-found', 'unavailable'] as const) {
        expect(await already(`keys ${word}`, 2, kind)).toBe(0);
      }
      await expect(already(`keys ${word}`, 2, new TypeError('a defect'))).rejects.toThrow('a defect');
    },
  );

  it.each(['soft-delete', 'soft-delete-restore'])(
    'that nobody has is missed by keys %s, unless nobody can say so',
    async (word) => {
      const resolved = async (key: object | ErrorKind, asked: unknown[] = []) =>
        (await shape(`keys ${word}`)).resolve?.({ name: 'k' }, where(key, asked));
      expect(await refused(resolved('not-found') as Promise<unknown>)).toMatchObject({
        kind: 'not-found',
        message: 'key "k" not found',
      });
      const asked: unknown[] = [];
      for (const key of [{}, 'denied', 'unavailable'] as const) {
        expect(await resolved(key, asked)).toEqual({ name: 'k' });
      }
      expect(asked[0]).toEqual(['transit keys read', { name: 'k' }]);
    },
  );
});
