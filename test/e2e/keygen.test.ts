import { statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyPlace, type Place, removePlace } from './harness.ts';

let bare: Place;

beforeEach(() => {
  bare = emptyPlace();
});
afterEach(() => removePlace(bare));

describe('coffer keygen', () => {
  it('prints 32 random bytes in base64, another key each time', async () => {
    const [first, second] = [await bare.ok('keygen'), await bare.ok('keygen')];
    expect(Buffer.from(first, 'base64')).toHaveLength(32);
    expect(first).not.toBe(second);
  });

  it('writes it to a file that only the owner can read', async () => {
    expect(await bare.ok('keygen --out master.key')).toBe('');
    expect(statSync(bare.file('master.key')).mode & 0o777).toBe(0o600);
  });
});
