import type { Clock } from '../../ground/clock.ts';
import { collectionOf, loginMount, type Mount } from '../../mounts/mounts.ts';
import { deleteIfThere } from '../../store/delete-if-there.ts';
import type { DocumentRef, Store, Transaction, View } from '../../store/store.ts';
import { LOCKED } from './collections.ts';

/** As the family, where nothing else was set: five failures within a quarter of an hour lock a name for as long. */
const FAILURES = 5;
const WITHIN_SECONDS = 15 * 60;
const LOCKED_SECONDS = 15 * 60;
/** Names whose failures are remembered; only names that exist come in. */
const REMEMBERED = 10_000;

interface Lock {
  /** Milliseconds since the epoch. */
  readonly untilMs: number;
}

const locksNobody = ({ config }: Mount): boolean =>
  config?.user_lockout_config?.user_lockout_disable === true;

function rulesOf({ config }: Mount) {
  const set = config?.user_lockout_config;
  return {
    failures: set?.user_lockout_threshold || FAILURES,
    withinMs: (set?.user_lockout_counter_reset_duration || WITHIN_SECONDS) * 1000,
    lockedMs: (set?.user_lockout_duration || LOCKED_SECONDS) * 1000,
  };
}

const lockOf = (mount: Mount, name: string): DocumentRef => ({
  collection: collectionOf(mount, LOCKED),
  id: name,
});

/**
 * Locks names out after failures. Each process counts its own; the lock lies in the store, so that every process and server
 * keeps it, and a stranger has at most one thing written for a name and a quarter of an hour.
 * @see docs/decisions/0174
 */
export class Lockout {
  readonly #failures = new Map<string, { readonly count: number; readonly sinceMs: number }>();

  async isLocked(view: View, mount: Mount, name: string, clock: Clock): Promise<boolean> {
    if (locksNobody(mount)) return false;
    const lock = await view.get<Lock>(lockOf(mount, name));
    return lock !== undefined && lock.untilMs > clock.now();
  }

  /** A login with a name failed that exists. */
  async failed(store: Store, mount: Mount, name: string, clock: Clock): Promise<void> {
    if (locksNobody(mount)) return;
    const { failures, withinMs, lockedMs } = rulesOf(mount);
    const key = `${mount.uuid} ${name}`;
    const now = clock.now();
    const known = this.#failures.get(key);
    const isRecent = known !== undefined && now - known.sinceMs < withinMs;
    const count = isRecent ? known.count + 1 : 1;
    this.#failures.delete(key);
    if (count >= failures) {
      const lock: Lock = { untilMs: now + lockedMs };
      await store.transact(async (tx) => {
        if ((await loginMount(tx, mount.uuid)) !== undefined) tx.put(lockOf(mount, name), lock);
      });
      return;
    }
    if (this.#failures.size >= REMEMBERED) this.#failures.clear();
    this.#failures.set(key, { count, sinceMs: isRecent ? known.sinceMs : now });
  }

  /** Somebody got in by that name. */
  async succeeded(tx: Transaction, mount: Mount, name: string): Promise<void> {
    this.#failures.delete(`${mount.uuid} ${name}`);
    await unlock(tx, mount, name);
  }
}

/** The names of a mount that are locked now, sorted. */
export async function lockedNames(view: View, mount: Mount, clock: Clock): Promise<readonly string[]> {
  const names = await view.list(collectionOf(mount, LOCKED));
  const locks = await Promise.all(names.map((name) => view.get<Lock>(lockOf(mount, name))));
  return names.filter((_, index) => (locks[index]?.untilMs ?? 0) > clock.now());
}

export async function unlock(tx: Transaction, mount: Mount, name: string): Promise<void> {
  await deleteIfThere(tx, lockOf(mount, name));
}
