import type { ServedRoute } from '../../operations/routes.ts';
import type { Service } from '../../service/service.ts';
import type { Exchange } from './exchange.ts';
import { JSON_API_PREFIX, JsonApi } from './json-api/json-api.ts';
import { docsPage } from './pages/docs-page.ts';
import { type PendingRequest, settled } from './pending-request.ts';
import { errorBody } from './vault/envelope.ts';
import { VAULT_PREFIX, VaultApi } from './vault/vault-api.ts';

/** Which API a request is for, as the metrics call it. */
export type ApiName = 'vault' | 'json-api' | 'docs' | 'none';

const DOCS_PATH = '/docs';
const NOWHERE = settled(errorBody(404, []));

/** Both APIs, and the page that documents them. */
export class Apis {
  readonly #vault: VaultApi;
  readonly #jsonApi: JsonApi;
  readonly #describe: () => object;

  constructor(service: Service, routes: readonly ServedRoute[], describe: () => object) {
    const served = () => service.served;
    const { failed, sealedCore } = service;
    this.#vault = new VaultApi({ routes, served, sealedCore, failed });
    this.#jsonApi = new JsonApi({ routes, served, failed });
    this.#describe = describe;
  }

  /** Reads what is asked for, once, and nothing of the body. */
  take(exchange: Exchange): PendingRequest {
    switch (apiOf(exchange)) {
      case 'vault':
        return this.#vault.take(exchange);
      case 'json-api':
        return this.#jsonApi.take(exchange);
      case 'docs':
        return settled(docsPage(this.#describe()));
      case 'none':
        return NOWHERE;
    }
  }
}

export function apiOf({ target, method }: Exchange): ApiName {
  if (target.startsWith(VAULT_PREFIX)) return 'vault';
  if (target.startsWith(JSON_API_PREFIX)) return 'json-api';
  return target === DOCS_PATH && method === 'GET' ? 'docs' : 'none';
}
