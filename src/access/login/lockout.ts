import { hash } from 'node:crypto';
import type { Clock } from '../../ground/clock.ts';
import type { Mount } from '../../mounts/mount.ts';
import { collectionOf, loginMount } from '../../mounts/mounts.ts';
import { deleteIfThere } from '../../store/delete-if-there.ts';
import type { DocumentRef, Store, Transaction, View } from '../../store/store.ts';
import { LOCKED } from './collections.ts';

/** As the family, where nothing else was set: five failures within a quarter of an hour lock a name for as long. */
const FAILURES = 5;
const WITHIN_SECONDS = 15 * 60;
const LOCKED_SECONDS = 15 * 60;
/** Names of each kind whose failures are remembered; past it the one that failed longest ago goes. */
const REMEMBERED = 10_000;

interface Lock {
  /** Milliseconds since the epoch. */
  readonly untilMs: number;
}

/** What a process knows of a name by itself. */
interface Known {
  readonly count: number;
  readonly sinceMs: number;
  /** Present once the name was locked here. */
  readonly lockedUntilMs?: number;
  /** Whether the lock lies in the store by now, so that it holds no longer than it lies there. */
  isKept?: true;
}

/** How a name stands: `here` means that this process locked it, which is the one case in which it says so. */
export type Standing = 'open' | 'locked here' | 'locked elsewhere';

/** A name of a mount, as somebody sent it. */
export interface NameAtMount {
  readonly mount: Mount;
  readonly name: string;
  /** Whether there is somebody of that name. */
  readonly isThere: boolean;
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

/** Names that nobody has may be of any length. */
const keyOf = (mount: Mount, name: string): string => hash('sha256', `${mount.uuid} ${name}`, 'base64');

/**
 * Locks names out after failures, whether somebody has them or not: else whoever fails on purpose could tell. Each process counts its
 * own. The lock of a name that exists lies in the store besides, so that every process and server keeps it, and a stranger has at
 * most one thing written for a name and a quarter of an hour; a process that did not lock a name itself refuses it as it refuses a
 * wrong password.
 * @see docs/decisions/0276
 */
export class Lockout {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Apart, so that no number of made-up names has the failures of a real one forgotten. */
  readonly #users = new Map<string, Known>();
  readonly #nobodies = new Map<string, Known>();
  #writing: Promise<unknown> = Promise.resolve();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * How a name stands, by a view that is opened after this call: what was written by then, it shows.
   * @returns what to ask of that view, once it is known whether there is somebody of that name.
   */
  recall(mount: Mount, name: string): (view: View, isThere: boolean) => Promise<Standing> {
    if (locksNobody(mount)) return async () => 'open';
    const key = keyOf(mount, name);
    const user = { ...this.#users.get(key) };
    const nobody = { ...this.#nobodies.get(key) };
    return async (view, isThere) => {
      const lock = await view.get<Lock>(lockOf(mount, name));
      const isLocked = lock !== undefined && lock.untilMs > this.#clock.now();
      const { lockedUntilMs = 0, isKept } = isThere ? user : nobody;
      // Somebody may have unlocked the name meanwhile.
      if (lockedUntilMs > this.#clock.now() && (isLocked || !isKept)) return 'locked here';
      return isLocked ? 'locked elsewhere' : 'open';
    };
  }

  /**
   * A login failed. It takes as long for every name: the store is written to by the way, and the process keeps the lock itself until
   * that is done.
   */
  failed({ mount, name, isThere }: NameAtMount): void {
    if (locksNobody(mount)) return;
    const { failures, withinMs, lockedMs } = rulesOf(mount);
    const names = isThere ? this.#users : this.#nobodies;
    const key = keyOf(mount, name);
    const now = this.#clock.now();
    const known = names.get(key);
    const isRecent =
      known !== undefined && known.lockedUntilMs === undefined && now - known.sinceMs < withinMs;
    const count = isRecent ? known.count + 1 : 1;
    const sinceMs = isRecent ? known.sinceMs : now;
    const counted: Known =
      count >= failures ? { count, sinceMs, lockedUntilMs: now + lockedMs } : { count, sinceMs };
    names.delete(key);
    if (names.size >= REMEMBERED) forgetFirst(names);
    names.set(key, counted);
    if (isThere && counted.lockedUntilMs !== undefined) this.#keep(mount, name, counted);
  }

  #keep(mount: Mount, name: string, known: Known): void {
    const lock: Lock = { untilMs: known.lockedUntilMs ?? 0 };
    const written = this.#store.transact(async (tx) => {
      if ((await loginMount(tx, mount.uuid)) !== undefined) tx.put(lockOf(mount, name), lock);
    });
    // Where the store can't be written to, the process keeps the lock alone.
    const noted = written.then(
      () => {
        known.isKept = true;
      },
      () => undefined,
    );
    this.#writing = Promise.all([this.#writing, noted]);
  }

  /** Resolves when every lock of this process lies in the store that can. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /** Somebody unlocked the name. */
  forget(mount: Mount, name: string): void {
    const key = keyOf(mount, name);
    this.#users.delete(key);
    this.#nobodies.delete(key);
  }

  /** Somebody got in by that name. */
  async succeeded(tx: Transaction, mount: Mount, name: string): Promise<void> {
    this.#users.delete(keyOf(mount, name));
    await deleteIfThere(tx, lockOf(mount, name));
  }
}

function forgetFirst(names: Map<string, unknown>): void {
  for (const first of names.keys()) {
    names.delete(first);
    return;
  }
}

/** One for all that a process does with a store. */
const lockouts = new WeakMap<Store, Lockout>();

export function lockoutOf(store: Store, clock: Clock): Lockout {
  const known = lockouts.get(store) ?? new Lockout(store, clock);
  lockouts.set(store, known);
  return known;
}

/** The names of a mount that are locked now, sorted. */
export async function lockedNames(store: Store, mount: Mount, clock: Clock): Promise<readonly string[]> {
  await lockouts.get(store)?.settled();
  return store.read(async (view) => {
    const names = await view.list(collectionOf(mount, LOCKED));
    const locks = await Promise.all(names.map((name) => view.get<Lock>(lockOf(mount, name))));
    return names.filter((_, index) => (locks[index]?.untilMs ?? 0) > clock.now());
  });
}

export async function unlock(store: Store, mount: Mount, name: string): Promise<void> {
  const here = lockouts.get(store);
  await here?.settled();
  await store.transact((tx) => deleteIfThere(tx, lockOf(mount, name)));
  here?.forget(mount, name);
}
