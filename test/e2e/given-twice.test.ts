import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyPlace, MASTER_KEY, type Place, removePlace } from './harness.ts';

let bare: Place;
let here: Place;

beforeEach(async () => {
  bare = emptyPlace();
  here = bare.with({ COFFER_MASTER_KEY: MASTER_KEY });
  await here.ok('init');
});
afterEach(() => removePlace(bare));

describe('an option that takes one value', () => {
  it('is refused with two', async () => {
    for (const name of ['a', 'b']) writeFileSync(here.file(name), name);
    expect(await here.refused('transit encrypt orders --in a --in b', 2)).toBe(
      'coffer: --in: given twice with different values (use it once)',
    );
    expect(await here.refused('transit encrypt orders --in=a --in=b', 2)).toContain('--in: given twice');
    expect(await here.refused('transit keys list -o json -o raw', 2)).toContain('--output: given twice');
    expect(await here.refused('--token=a --token=b transit keys list', 2)).toContain('--token: given twice');
    expect(await here.refused('transit encrypt orders x -key_version=1 --key_version 2', 2)).toContain(
      '--key-version: given twice',
    );
    expect(await here.ok('transit keys list')).toBe('');
  });

  it('may be repeated with the same value, and before the command with another', async () => {
    writeFileSync(here.file('a'), 'a');
    await here.ok('transit encrypt orders --in a --in a');
    expect(await here.ok('-o json transit keys list -o raw')).toBe('orders');
  });
});
