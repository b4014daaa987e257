import { systemRandom } from '../../src/ground/random.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { type Dialect, type Engine, type EngineOptions, engineOf } from '../../src/transit/engine.ts';
import { Transit } from '../../src/transit/transit.ts';

/** 2026-03-01T08:00:00.5Z */
export const FIXED_TIME_MS = 1_772_352_000_500;

async function options(dialect: Dialect): Promise<EngineOptions> {
  const clock = { now: () => FIXED_TIME_MS };
  const mount = {
    type: 'transit',
    path: 'transit',
    description: '',
    accessor: 'transit_00000000',
    uuid: 'test',
    options: { dialect },
  };
  return { store: await memoryStore({ clock }), clock, random: systemRandom, mount };
}

/** A transit engine on a store of its own, in memory, whose clock stands still. */
export const freshEngine = async (dialect: Dialect = 'service'): Promise<Engine> =>
  engineOf(await options(dialect));

/** The same behind its face. */
export const freshTransit = async (dialect: Dialect = 'service'): Promise<Transit> =>
  new Transit(await options(dialect));
