import type { Core } from '../../operations/declaration/operation.ts';
import type { ServedRoute } from '../../operations/routes.ts';
import type { NoteFailure } from '../../service/outside-view.ts';
import type { ServedCore } from '../../service/served-core.ts';
import type { Answer, Exchange } from './exchange.ts';
import { DOCUMENT_PREFIX, DocumentApi } from './json-api/json-api.ts';
import { docsPage } from './pages/docs-page.ts';
import { errorBody } from './vault/envelope.ts';
import { DATA_PREFIX, DataApi } from './vault/vault-api.ts';

export interface ApisOptions {
  readonly routes: readonly ServedRoute[];
  /** The core while the server is unsealed. */
  readonly served: () => ServedCore | undefined;
  /** For the few operations that are answered while it is not. */
  readonly sealedCore: Core;
  readonly apiDocument: () => object;
  readonly failed: NoteFailure;
}

export type ApiName = 'data' | 'document' | 'docs' | 'none';

const DOCS_PATH = '/docs';

/** Both APIs and the page that documents them. */
export class Apis {
  readonly #data: DataApi;
  readonly #document: DocumentApi;
  readonly #apiDocument: () => object;

  constructor(options: ApisOptions) {
    this.#data = new DataApi(options);
    this.#document = new DocumentApi(options);
    this.#apiDocument = options.apiDocument;
  }

  /** Never throws. */
  async answer(exchange: Exchange): Promise<Answer> {
    switch (apiOf(exchange)) {
      case 'data':
        return this.#data.answer(exchange);
      case 'document':
        return this.#document.answer(exchange);
      case 'docs':
        return docsPage(this.#apiDocument());
      case 'none':
        return errorBody(404, []);
    }
  }

  /** Whether a request may ask for far more work than its length tells. */
  unfolds(exchange: Exchange): boolean {
    return apiOf(exchange) === 'data' && this.#data.unfolds(exchange);
  }
}

/** Which API a request is for, by its path. */
export function apiOf({ target, method }: Exchange): ApiName {
  if (target.startsWith(DATA_PREFIX)) return 'data';
  if (target.startsWith(DOCUMENT_PREFIX)) return 'document';
  return target === DOCS_PATH && method === 'GET' ? 'docs' : 'none';
}
