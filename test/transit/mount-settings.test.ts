import { describe, expect, it } from 'vitest';
import { changeSettings, readSettings } from '../../src/transit/mount-settings.ts';
import { rejectionOf } from '../reference/thrown.ts';
import { freshEngine } from './fresh-engine.ts';

describe('the settings of a mount', () => {
  it('let encryption create keys, and set no limit to the cache, until they are changed', async () => {
    expect(await readSettings(await freshEngine())).toEqual({ disableUpsert: false, cacheSize: 0 });
  });

  it('change one by one', async () => {
    const engine = await freshEngine();
    await changeSettings(engine, { disableUpsert: true });
    await changeSettings(engine, { cacheSize: 10 });
    expect(await readSettings(engine)).toEqual({ disableUpsert: true, cacheSize: 10 });
  });

  it.each([-1, 1, 9])('refuse a cache of %i entries', async (cacheSize) => {
    const engine = await freshEngine();
    expect(await rejectionOf(changeSettings(engine, { cacheSize }))).toMatchObject({
      kind: 'invalid',
      field: 'size',
      message: 'size must be 0 or a value greater or equal to 10',
    });
  });
});
