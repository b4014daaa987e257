import type { Access } from '../access/access.ts';
import { type Clock, systemClock } from '../ground/clock.ts';
import { type Random, systemRandom } from '../ground/random.ts';
import { type Mount, Mounts } from '../mounts/mounts.ts';
import { DEFAULT_MOUNT } from '../mounts/paths.ts';
import type { Store } from '../store/store.ts';
import type { Tags } from '../tags/tags.ts';
import { type Dialect, type Engine, engineOf } from '../transit/engine.ts';
import type { Core, ServerState } from './declaration/operation.ts';
import { MOUNT_TYPES } from './mount-types.ts';

export interface CoreOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly server?: ServerState;
  /** Overrides the dialect of the default mount for as long as this core lives (`serve --dialect`). */
  readonly dialect?: Dialect;
}

/** Wires the rooms over one opened store. Each room's module is loaded when it is first asked for. */
export function openCore(store: Store, options: CoreOptions = {}): Core {
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const mounts = new Mounts(store, random, MOUNT_TYPES);
  const engines = new Map<string, { mount: Mount; engine: Engine }>();
  let tags: Promise<Tags> | undefined;
  let access: Promise<Access> | undefined;

  async function engine(path: string): Promise<Engine> {
    const mount = withDialect(await mounts.get(path, 'transit'), options.dialect);
    const known = engines.get(path);
    if (known?.mount.uuid === mount.uuid && known.mount.options['dialect'] === mount.options['dialect']) {
      return known.engine;
    }
    const made = engineOf({ store, clock, random, mount });
    engines.set(path, { mount, engine: made });
    return made;
  }

  return {
    store,
    clock,
    random,
    mounts,
    engine,
    tags: () => (tags ??= import('../tags/tags.ts').then(({ Tags }) => new Tags({ store, clock, random }))),
    access: () =>
      (access ??= import('../access/access.ts').then(({ Access }) => new Access({ store, clock, random }))),
    ...(options.server === undefined ? {} : { server: options.server }),
  };
}

const withDialect = (mount: Mount, dialect: Dialect | undefined): Mount =>
  dialect === undefined || mount.path !== DEFAULT_MOUNT
    ? mount
    : { ...mount, options: { ...mount.options, dialect } };
