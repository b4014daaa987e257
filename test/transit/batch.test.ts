import { describe, expect, it } from 'vitest';
import { invalid } from '../../src/ground/errors.ts';
import { diskError } from '../../src/store/backends/files/disk-errors.ts';
import { eachItem } from '../../src/transit/batch.ts';
import { rejectionOf } from '../reference/thrown.ts';

describe('a batch', () => {
  const failingWith = (error: unknown) =>
    eachItem([{}, {}], (_, index) => {
      if (index === 0) throw error;
      return index;
    });

  it('goes on after an item that is refused', async () => {
    const refusal = invalid('no such thing');
    expect(await failingWith(refusal)).toEqual([{ error: refusal }, { value: 1 }]);
  });

  it('ends with an error that is not one of the item: of the disk, and of the program', async () => {
    const cause = Object.assign(new Error('EIO'), { code: 'EIO' });
    for (const error of [diskError(cause, 'read', '/store/file'), new TypeError('a mistake')])
      expect(await rejectionOf(failingWith(error))).toBe(error);
  });
});
