import type { KeyObject } from 'node:crypto';
import type { DocumentRef, ListOptions, Transaction, View } from './store.ts';

/**
 * Takes the changes of a transaction before anybody commits them: to see whether there are any, or to drop them if it fails. What
 * was put is read as it was put; lists are those of before.
 */
export class Draft implements Transaction {
  readonly #view: View;
  readonly #changes = new Map<string, { readonly ref: DocumentRef; readonly value: object | undefined }>();

  constructor(view: View) {
    this.#view = view;
  }

  get isChanged(): boolean {
    return this.#changes.size > 0;
  }

  async get<T>(ref: DocumentRef): Promise<T | undefined> {
    const change = this.#changes.get(keyOf(ref));
    return change === undefined ? this.#view.get<T>(ref) : (change.value as T | undefined);
  }

  list(collection: string, options?: ListOptions): Promise<string[]> {
    return this.#view.list(collection, options);
  }

  key(purpose: string): KeyObject {
    return this.#view.key(purpose);
  }

  put(ref: DocumentRef, value: object): void {
    this.#changes.set(keyOf(ref), { ref, value });
  }

  delete(ref: DocumentRef): void {
    this.#changes.set(keyOf(ref), { ref, value: undefined });
  }

  /** Makes the same changes in a transaction that is committed. */
  applyTo(tx: Transaction): void {
    for (const { ref, value } of this.#changes.values()) {
      if (value === undefined) tx.delete(ref);
      else tx.put(ref, value);
    }
  }
}

const keyOf = ({ collection, id }: DocumentRef): string => JSON.stringify([collection, id]);
