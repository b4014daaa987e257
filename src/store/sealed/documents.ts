import type { KeyObject } from 'node:crypto';
import { checkedRef } from '../draft.ts';
import type { BlobIdentity } from '../root-key.ts';
import type { DocumentRef, ListOptions, View } from '../store.ts';
import type { BlobReader } from './blob-reader.ts';
import { hasId, listIds } from './collection-index.ts';

/** Documents of one version of the store. */
export class DocumentView implements View {
  readonly #reader: BlobReader;

  constructor(reader: BlobReader) {
    this.#reader = reader;
  }

  async get<T>(ref: DocumentRef): Promise<T | undefined> {
    const identity = identityOf(checkedRef(ref));
    const value = await this.#reader.load(identity);
    // The index lists the document, so it was deleted by something other than this store.
    if (value === undefined && (await hasId(this.#reader, ref.collection, ref.id))) {
      throw this.#reader.missing(identity);
    }
    return value as T | undefined;
  }

  async list(collection: string, options: ListOptions = {}): Promise<string[]> {
    return listIds(this.#reader, collection, options);
  }

  key(purpose: string): KeyObject {
    return this.#reader.root.derive(purpose);
  }
}

export const identityOf = ({ collection, id }: DocumentRef): BlobIdentity => ({
  space: 'document',
  collection,
  id,
});
