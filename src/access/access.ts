import type { Store } from '../store/store.ts';

/** Tokens and policies. */
export class Access {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get storeId(): string {
    return this.#store.id;
  }
}
