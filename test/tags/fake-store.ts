import { createSecretKey } from 'node:crypto';
import type { DocumentRef, ListOptions, Store, Transaction, View } from '../../src/store/store.ts';

type Documents = ReadonlyMap<string, ReadonlyMap<string, unknown>>;

/** A store in plain maps, with the promises of the real one: frozen documents, transactions one after the other. */
export class FakeStore implements Store {
  readonly id = 'fake';
  #documents: Documents = new Map();
  #revision = 0;
  #last: Promise<unknown> = Promise.resolve();
  /** Documents written by each transaction that wrote any. */
  readonly written: number[] = [];

  async read<T>(read: (view: View) => T | Promise<T>): Promise<T> {
    return read(viewOf(() => this.#documents));
  }

  transact<T>(change: (tx: Transaction) => T | Promise<T>): Promise<T> {
    const result = this.#last.then(() => this.#run(change));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #run<T>(change: (tx: Transaction) => T | Promise<T>): Promise<T> {
    let documents = this.#documents;
    const touched = new Set<string>();
    const set = ({ collection, id }: DocumentRef, value: unknown): void => {
      touched.add(`${collection}/${id}`);
      const inCollection = new Map(documents.get(collection));
      if (value === undefined) inCollection.delete(id);
      else inCollection.set(id, frozen(JSON.parse(JSON.stringify(value))));
      documents = new Map(documents).set(collection, inCollection);
    };
    const result = await change({
      ...viewOf(() => documents),
      put: (ref, value) => set(ref, value),
      delete: (ref) => set(ref, undefined),
      forgetReplaced: () => undefined,
    });
    if (touched.size > 0) {
      this.#documents = documents;
      this.#revision++;
      this.written.push(touched.size);
    }
    return result;
  }

  async revision(): Promise<string> {
    return String(this.#revision);
  }

  limitCache(): void {}

  close(): void {}

  /** How many documents there are. */
  get size(): number {
    let size = 0;
    for (const inCollection of this.#documents.values()) size += inCollection.size;
    return size;
  }

  /** Every document, for looking at sizes. */
  *all(): Generator<{ readonly collection: string; readonly id: string; readonly value: unknown }> {
    for (const [collection, inCollection] of this.#documents) {
      for (const [id, value] of inCollection) yield { collection, id, value };
    }
  }
}

const KEY = createSecretKey(Buffer.alloc(32));

const viewOf = (documents: () => Documents): View => ({
  get: async <T>({ collection, id }: DocumentRef) => documents().get(collection)?.get(id) as T | undefined,
  list: async (collection, { after, limit }: ListOptions = {}) =>
    [...(documents().get(collection)?.keys() ?? [])]
      .sort()
      .filter((id) => after === undefined || id > after)
      .slice(0, limit),
  key: () => KEY,
});

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) frozen(member);
    Object.freeze(value);
  }
  return value;
}
