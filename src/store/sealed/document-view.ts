import { invalid } from '../../ground/errors.ts';
import type { Identity } from '../root-key.ts';
import type { DocumentRef, ListOptions, View } from '../store.ts';
import type { BlobReader } from './blob-reader.ts';
import { hasId, listIds } from './collection-index.ts';

/** The documents of one version of the store. */
export class DocumentView implements View {
  readonly #reader: BlobReader;

  constructor(reader: BlobReader) {
    this.#reader = reader;
  }

  async get<T>(ref: DocumentRef): Promise<T | undefined> {
    const identity = identityOf(ref);
    const value = await this.#reader.load(identity);
    // A document that the index knows was deleted by something else than this store.
    if (value === undefined && (await hasId(this.#reader, ref.collection, ref.id))) {
      throw this.#reader.missing(identity);
    }
    return value as T | undefined;
  }

  async list(collection: string, options: ListOptions = {}): Promise<string[]> {
    return listIds(this.#reader, collection, options);
  }
}

/** @throws `invalid` for names that could not be told apart, or that the store uses itself. */
export function identityOf({ collection, id }: DocumentRef): Identity {
  if (collection === '' || id === '' || !collection.isWellFormed() || !id.isWellFormed()) {
    throw invalid('a document needs a collection and an id, both well-formed Unicode and not empty');
  }
  return { space: 'document', collection, id };
}
