import type { CofferError } from '../../ground/errors.ts';
import type { Mount } from '../../mounts/mount.ts';
import { collectionOf, requireLoginMount } from '../../mounts/mounts.ts';
import {
  type DocumentRef,
  deleteIfThere,
  type ListOptions,
  type Store,
  type Transaction,
} from '../../store/store.ts';

/** Login method of a store. */
interface MethodStore {
  readonly store: Store;
  readonly mount: Mount;
}

/** Returns the reference to a document of a mount. */
export const refBelow = (mount: Mount, name: string, id: string): DocumentRef => ({
  collection: collectionOf(mount, name),
  id,
});

/**
 * Changes data of a login method, if the mount still exists: data written after its removal would never be deleted.
 * @throws `not-found` once it was removed
 */
export function changeBelow<T>(
  { store, mount }: MethodStore,
  change: (tx: Transaction) => T | Promise<T>,
): Promise<T> {
  return store.transact(async (tx) => {
    await requireLoginMount(tx, mount);
    return change(tx);
  });
}

/** Preconditions for writing a role. */
export interface WriteOptions {
  /** Returns the error for a role that does not exist. If undefined, the role is created. */
  readonly missing?: (() => CofferError) | undefined;
}

/** Roles or users of a login method: one document each, by name. */
export class RoleTable<R extends object> {
  readonly #method: MethodStore;
  readonly #collection: string;

  /** @param name collection in the mount's type */
  constructor(method: MethodStore, name: string) {
    this.#method = method;
    this.#collection = collectionOf(method.mount, name);
  }

  ref(name: string): DocumentRef {
    return { collection: this.#collection, id: name };
  }

  list(options: ListOptions): Promise<readonly string[]> {
    return this.#method.store.read((view) => view.list(this.#collection, options));
  }

  /** Reads a role; undefined if it does not exist. */
  read(name: string): Promise<R | undefined> {
    return this.#method.store.read((view) => view.get<R>(this.ref(name)));
  }

  /**
   * Creates or changes a role.
   * @param change returns the new role from the old one, undefined for a new role; it may run again
   * @throws as `change` and `missing`; `not-found` once the method was removed
   */
  write(
    name: string,
    change: (before: R | undefined, tx: Transaction) => R | Promise<R>,
    { missing }: WriteOptions = {},
  ): Promise<R> {
    return changeBelow(this.#method, async (tx) => {
      const before = await tx.get<R>(this.ref(name));
      if (before === undefined && missing !== undefined) throw missing();
      const after = await change(before, tx);
      tx.put(this.ref(name), after);
      return after;
    });
  }

  /** Deletes a role; succeeds if it does not exist. Its tokens stay valid until they expire, and cannot be renewed. */
  async remove(name: string): Promise<void> {
    await this.#method.store.transact((tx) => deleteIfThere(tx, this.ref(name)));
  }
}
