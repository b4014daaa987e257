import type { Store } from '../store/store.ts';

/** The organization tag pool. */
export class Tags {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get storeId(): string {
    return this.#store.id;
  }
}
