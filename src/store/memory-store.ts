import { wipe } from '../ground/bytes.ts';
import { type Clock, systemClock } from '../ground/clock.ts';
import { type Random, systemRandom } from '../ground/random.ts';
import { newStore } from './administration/initial-content.ts';
import { MemoryBackend } from './backends/memory.ts';
import { MASTER_KEY_BYTES } from './master-key.ts';
import { openBackend } from './open.ts';
import type { SealedStore } from './sealed/sealed-store.ts';

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
