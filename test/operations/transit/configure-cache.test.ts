import { describe, expect, it } from 'vitest';
import { rejectionOf } from '../../reference/thrown.ts';
import { freshOperations } from './operations.ts';

describe('cache-config', () => {
  it.each([10, 1000, '500', 0])('keeps the size %j, which reading answers', async (size) => {
    const { ask } = await freshOperations();
    expect(await ask('read-cache-config')).toEqual({ size: 0 });
    expect(await ask('cache-config', { size })).toEqual({ size: Number(size) });
    expect(await ask('read-cache-config')).toEqual({ size: Number(size) });
  });

  it('sets no limit when the size is left out, or null', async () => {
    const { ask } = await freshOperations();
    for (const raw of [{}, { size: null }]) {
      await ask('cache-config', { size: 20 });
      expect(await ask('cache-config', raw)).toEqual({ size: 0 });
    }
  });

  it.each([1, 9, -1, -10])('refuses the size %j', async (size) => {
    const { ask } = await freshOperations();
    expect(await rejectionOf(ask('cache-config', { size }))).toMatchObject({
      kind: 'invalid',
      field: 'size',
      message: 'size must be 0 or a value greater or equal to 10',
    });
    expect(await ask('read-cache-config')).toEqual({ size: 0 });
  });
});
