import type { CofferError } from '../../ground/errors.ts';
import type { Mount } from '../../mounts/mount.ts';
import { collectionOf, requireLoginMount } from '../../mounts/mounts.ts';
import { deleteIfThere } from '../../store/delete-if-there.ts';
import type { DocumentRef, ListOptions, Store, Transaction } from '../../store/store.ts';

/** A login method of a store. */
export interface Method {
  readonly store: Store;
  readonly mount: Mount;
}

/**
 * Changes what a login method keeps, as long as it is there: what is written after it was removed nobody would ever clear away.
 * @throws `not-found` once it was removed.
 */
export function changeBelow<T>(
  { store, mount }: Method,
  change: (tx: Transaction) => T | Promise<T>,
): Promise<T> {
  return store.transact(async (tx) => {
    await requireLoginMount(tx, mount);
    return change(tx);
  });
}

/** What is to be so when a role is written. */
export interface WriteOptions {
  /** Makes the error where there is no such role; without it, the role is made. */
  readonly missing?: (() => CofferError) | undefined;
}

/** The roles, or the users, of a login method: one document each, by its name. */
export class RoleTable<R extends object> {
  readonly #method: Method;
  readonly #collection: string;

  /** @param name of the collection, as the mount's type has it. */
  constructor(method: Method, name: string) {
    this.#method = method;
    this.#collection = collectionOf(method.mount, name);
  }

  ref(name: string): DocumentRef {
    return { collection: this.#collection, id: name };
  }

  list(options: ListOptions): Promise<readonly string[]> {
    return this.#method.store.read((view) => view.list(this.#collection, options));
  }

  /** Undefined for one that is not there. */
  read(name: string): Promise<R | undefined> {
    return this.#method.store.read((view) => view.get<R>(this.ref(name)));
  }

  /**
   * Makes or changes one.
   * @param change makes what it is to be of what it is, undefined for a new one; it may run again.
   * @throws what `change` and `missing` do; `not-found` once the method was removed.
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

  /** One that is not there is no error. Its tokens live until they end, and are not renewed. */
  async remove(name: string): Promise<void> {
    await this.#method.store.transact((tx) => deleteIfThere(tx, this.ref(name)));
  }
}
