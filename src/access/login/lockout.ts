import { hash } from 'node:crypto';
import type { Clock } from '../../ground/clock.ts';
import { madeOnce, setAmong } from '../../ground/objects.ts';
import type { Mount } from '../../mounts/mount.ts';
import { collectionOf, loginMount } from '../../mounts/mounts.ts';
import {
  type DocumentRef,
  deleteIfThere,
  type Store,
  type Transaction,
  type View,
} from '../../store/store.ts';
import { LOCKED } from './collections.ts';
import { refBelow } from './role-table.ts';

/** Defaults, the same as in Vault: five failures within a quarter of an hour lock a name for as long. */
const FAILURES = 5;
const WITHIN_SECONDS = 15 * 60;
const LOCKED_SECONDS = 15 * 60;
/**
 * Maximum number of names of each kind whose failures are tracked; beyond it the one that failed longest ago is
 * evicted.
 */
const REMEMBERED = 10_000;

interface Lock {
  /** End of the lock, in milliseconds since the epoch. */
  readonly untilMs: number;
}

/** Failures of a name in this process. */
interface KnownName {
  readonly count: number;
  readonly sinceMs: number;
  /** Present if the name was locked by this process. */
  readonly lockedUntilMs?: number;
  /** Whether the lock was already written to the store, so that it ends when it is removed there. */
  isKept?: true;
}

/**
 * State of a name; `locked here` means that this process locked it, which is the only case that is reported to the
 * client.
 */
export type LockState = 'open' | 'locked here' | 'locked elsewhere';

/** Name at a mount, as sent by a client. */
interface NameAtMount {
  readonly mount: Mount;
  readonly name: string;
  /** Whether the name exists. */
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

const lockOf = (mount: Mount, name: string): DocumentRef => refBelow(mount, LOCKED, name);

/** Unknown names may be of any length, so they are hashed. */
const keyOf = (mount: Mount, name: string): string => hash('sha256', `${mount.uuid} ${name}`, 'base64');

/**
 * Locks names after failures, whether they exist or not: otherwise an attacker could find out which exist. Each process
 * counts separately. The lock of an existing name is also written to the store, so that every process and server
 * enforces it, and an attacker causes at most one write per name and lock period; a process that did not lock a name
 * itself refuses it like a wrong password.
 * @see docs/decisions/0276
 */
export class Lockout {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Separate maps, so that made-up names cannot evict the failures of a real one. */
  readonly #users = new Map<string, KnownName>();
  readonly #nobodies = new Map<string, KnownName>();
  #writing: Promise<unknown> = Promise.resolve();

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * Prepares to check whether a name is locked. Uses the failures counted until this call, and a view opened after it,
   * which therefore includes every lock written before.
   * @returns function that checks it in that view, called once it is known whether the name exists
   */
  recall(mount: Mount, name: string): (view: View, isThere: boolean) => Promise<LockState> {
    if (locksNobody(mount)) return async () => 'open';
    const key = keyOf(mount, name);
    const user = { ...this.#users.get(key) };
    const nobody = { ...this.#nobodies.get(key) };
    return async (view, isThere) => {
      const lock = await view.get<Lock>(lockOf(mount, name));
      const isLocked = lock !== undefined && lock.untilMs > this.#clock.now();
      const { lockedUntilMs = 0, isKept } = isThere ? user : nobody;
      // Another caller may have unlocked the name in the meantime.
      if (lockedUntilMs > this.#clock.now() && (isLocked || !isKept)) return 'locked here';
      return isLocked ? 'locked elsewhere' : 'open';
    };
  }

  /**
   * Counts a failed login. Its timing is the same for every name: the store is written in the background, and the
   * process enforces the lock itself until that is done.
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
    const counted: KnownName =
      count >= failures ? { count, sinceMs, lockedUntilMs: now + lockedMs } : { count, sinceMs };
    setAmong(names, REMEMBERED, key, counted);
    if (isThere && counted.lockedUntilMs !== undefined) this.#keep(mount, name, counted);
  }

  #keep(mount: Mount, name: string, known: KnownName): void {
    const lock: Lock = { untilMs: known.lockedUntilMs ?? 0 };
    const written = this.#store.transact(async (tx) => {
      if ((await loginMount(tx, mount.uuid)) !== undefined) tx.put(lockOf(mount, name), lock);
    });
    // If the store cannot be written, only this process enforces the lock.
    const noted = written.then(
      () => {
        known.isKept = true;
      },
      () => undefined,
    );
    this.#writing = Promise.all([this.#writing, noted]);
  }

  /** Resolves when all pending locks of this process are written, as far as possible. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /** Forgets the failures of a name that was unlocked. */
  forget(mount: Mount, name: string): void {
    const key = keyOf(mount, name);
    this.#users.delete(key);
    this.#nobodies.delete(key);
  }

  /** Forgets the failures of a name after a successful login. */
  async succeeded(tx: Transaction, mount: Mount, name: string): Promise<void> {
    this.#users.delete(keyOf(mount, name));
    await deleteIfThere(tx, lockOf(mount, name));
  }
}

/** One instance per store and process. */
const lockouts = new WeakMap<Store, Lockout>();

export const lockoutOf = (store: Store, clock: Clock): Lockout =>
  madeOnce(lockouts, store, () => new Lockout(store, clock));

/** Lists the names of a mount that are currently locked, sorted. */
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
