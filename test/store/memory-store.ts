import { wipe } from '../../src/ground/bytes.ts';
import { type Clock, systemClock } from '../../src/ground/clock.ts';
import { type Random, systemRandom } from '../../src/ground/random.ts';
import { newStore } from '../../src/store/administration/init.ts';
import { MemoryBackend } from '../../src/store/backends/memory.ts';
import { MASTER_KEY_BYTES } from '../../src/store/master-key.ts';
import { openBackend } from '../../src/store/open.ts';
import type { SealedStore } from '../../src/store/sealed/sealed-store.ts';

/** A new unlocked store that lives in memory and is gone with the process; sealed all the same. */
export async function memoryStore(options: { clock?: Clock; random?: Random } = {}): Promise<SealedStore> {
  const random = options.random ?? systemRandom;
  const key = random.bytes(MASTER_KEY_BYTES);
  const { content } = await newStore([{ kind: 'raw', key }], options.clock ?? systemClock, random);
  const backend = await MemoryBackend.create(content);
  const store = await openBackend(backend, [
    { kind: 'raw', source: 'its own key', reveal: () => Buffer.from(key) },
  ]);
  wipe(key);
  return store;
}
