import { describe, expect, it } from 'vitest';
import { signingKeys } from '../../../src/cli/signatures/signing-keys.ts';
import { corrupt, denied, notFound } from '../../../src/ground/errors.ts';
import type { Runner } from '../../../src/operations/declaration/operation.ts';

/** Runner with keys; reading one of them may fail. */
const runnerWith = (keys: Readonly<Record<string, object | Error>>): Runner =>
  ({
    run: async (operation: unknown, { name }: { readonly name?: string }) => {
      if (operation === 'transit keys list') return { data: { keys: Object.keys(keys) } };
      const found = keys[name ?? ''];
      if (found instanceof Error) throw found;
      return { data: found };
    },
  }) as unknown as Runner;

const SIGNS = { supports_signing: true, derived: false };

describe('the keys that sign', () => {
  it('are those whose signatures others can verify', async () => {
    const keys = { release: SIGNS, orders: { supports_signing: false }, apart: { ...SIGNS, derived: true } };
    expect(await signingKeys(runnerWith(keys))).toEqual(['release']);
  });

  it.each([
    ['may not be read', denied('permission denied')],
    ['is damaged', corrupt('key "odd" is damaged')],
    ['was deleted a moment ago', notFound('key not found')],
  ])('include a key that %s, which hides no other one', async (_, error) => {
    expect(await signingKeys(runnerWith({ odd: error, release: SIGNS }))).toEqual(['odd', 'release']);
  });

  it("are not offered after an error that is nobody's doing", async () => {
    const keys = { odd: new TypeError('a defect'), release: SIGNS };
    await expect(signingKeys(runnerWith(keys))).rejects.toThrow('a defect');
  });
});
