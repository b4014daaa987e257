import { invalid, ownWords } from '../ground/errors.ts';
import type { DocumentRef } from '../store/store.ts';
import type { Engine } from './engine.ts';

/** Settings of a mount. */
interface TransitMountSettings {
  /** Whether encryption must not create keys. */
  readonly disableUpsert: boolean;
  /** Number of keys that a server caches, from its next reload on; 0 for unlimited. */
  readonly cacheSize: number;
}

const INITIAL: TransitMountSettings = { disableUpsert: false, cacheSize: 0 };
const SMALLEST_CACHE = 10;

const settingsRef = (engine: Engine): DocumentRef => ({ collection: engine.settings, id: 'settings' });

export async function readSettings(engine: Engine): Promise<TransitMountSettings> {
  return (await engine.store.read((view) => view.get<TransitMountSettings>(settingsRef(engine)))) ?? INITIAL;
}

/**
 * Changes the settings.
 * @throws `invalid` for a cache size that is neither 0 nor at least 10
 */
export async function changeSettings(
  engine: Engine,
  change: Partial<TransitMountSettings>,
): Promise<TransitMountSettings> {
  const { cacheSize } = change;
  if (cacheSize !== undefined && cacheSize !== 0 && cacheSize < SMALLEST_CACHE) {
    throw invalid(ownWords('size must be 0 or a value greater or equal to 10'), {
      field: 'size',
      hint: '0 sets no limit',
    });
  }
  return engine.store.transact(async (tx) => {
    const settings = { ...((await tx.get<TransitMountSettings>(settingsRef(engine))) ?? INITIAL), ...change };
    tx.put(settingsRef(engine), settings);
    return settings;
  });
}

/** Applies the configured cache size in this process. */
export async function applyCacheSize(engine: Engine): Promise<void> {
  engine.store.limitCache(engine.keys, (await readSettings(engine)).cacheSize);
}
