import { systemRandom } from '../../src/ground/random.ts';
import { type Dialect, type Engine, engineOf } from '../../src/transit/engine.ts';
import { memoryStore } from '../store/memory-store.ts';

/** 2026-03-01T08:00:00.5Z */
export const FIXED_TIME_MS = 1_772_352_000_500;

/** Mount that an engine is of. */
export const TEST_MOUNT = {
  type: 'transit',
  path: 'transit',
  description: '',
  accessor: 'transit_00000000',
  uuid: 'test',
  options: {},
};

/** A transit engine on a store of its own, in memory, whose clock stands still. */
export async function freshEngine(dialect: Dialect = 'service'): Promise<Engine> {
  const clock = { now: () => FIXED_TIME_MS };
  return engineOf({
    store: await memoryStore({ clock }),
    clock,
    random: systemRandom,
    mount: TEST_MOUNT,
    dialect,
  });
}
