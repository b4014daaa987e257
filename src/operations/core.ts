import type { Access } from '../access/access.ts';
import { type Clock, systemClock } from '../ground/clock.ts';
import { type Random, systemRandom } from '../ground/random.ts';
import { Mounts } from '../mounts/mounts.ts';
import type { Store } from '../store/store.ts';
import type { Tags } from '../tags/tags.ts';
import { type Dialect, dialectOf, type Engine, engineOf } from '../transit/engine.ts';
import type { MessageCounts } from '../transit/message-counts.ts';
import type { Core, ServerState } from './declaration/operation.ts';
import { MOUNT_TYPES } from './mount-types.ts';

interface CoreOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly server?: ServerState;
  /** Dialect for all callers on mounts that set none, for the lifetime of this core (`serve --dialect`). */
  readonly dialect?: Dialect | undefined;
  readonly messages?: MessageCounts | undefined;
  readonly auditFile?: string | undefined;
}

/** Creates a core over one open store. Each module is loaded on first use. */
export function openCore(store: Store, options: CoreOptions = {}): Core {
  const clock = options.clock ?? systemClock;
  const random = options.random ?? systemRandom;
  const mounts = new Mounts(store, random, MOUNT_TYPES);
  let tags: Promise<Tags> | undefined;
  let access: Promise<Access> | undefined;
  const cores = new Map<Dialect, Core>();

  /** Returns the core for a dialect of callers, used if neither mount nor server sets one. */
  function speaking(caller: Dialect): Core {
    const known = cores.get(caller);
    if (known !== undefined) return known;
    const engines = new Map<string, { readonly uuid: string; readonly dialect: Dialect; engine: Engine }>();
    const core: Core = {
      store,
      clock,
      random,
      mounts,
      async engine(path) {
        const mount = await mounts.get(path, 'transit');
        const dialect = dialectOf({ mount, server: options.dialect, caller });
        const made = engines.get(path);
        if (made?.uuid === mount.uuid && made.dialect === dialect) return made.engine;
        const engine = engineOf({ store, clock, random, mount, dialect, messages: options.messages });
        engines.set(path, { uuid: mount.uuid, dialect, engine });
        return engine;
      },
      speaking,
      tags: () => (tags ??= import('../tags/tags.ts').then(({ Tags }) => new Tags({ store, clock, random }))),
      access: () =>
        (access ??= import('../access/access.ts').then(({ Access }) => new Access({ store, clock, random }))),
      server: options.server,
      auditFile: options.auditFile,
    };
    cores.set(caller, core);
    return core;
  }

  return speaking('service');
}
