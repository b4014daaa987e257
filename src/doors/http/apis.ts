import { asCofferError } from '../../ground/errors.ts';
import type { ServedRoute } from '../../operations/routes.ts';
import type { NoteFailure } from '../../service/outside-view.ts';
import type { Service } from '../../service/service.ts';
import type { Exchange } from './exchange.ts';
import { DISCOVERY, DISCOVERY_PATH } from './json-api/discovery.ts';
import { JsonApi } from './json-api/json-api.ts';
import { JSON_API_PREFIX } from './json-api/prefix.ts';
import { docsPage } from './pages/docs-page.ts';
import { type PendingRequest, settled } from './pending-request.ts';
import { errorBody } from './vault/envelope.ts';
import { VAULT_PREFIX, VaultApi } from './vault/vault-api.ts';

/** API of a request, as labeled in metrics. */
type ApiName = 'vault' | 'json-api' | 'discovery' | 'docs' | 'none';

const DOCS_PATH = '/docs';
const NOWHERE = settled(errorBody(404, []));

/** Both APIs, and the page that documents them. */
export class Apis {
  readonly #vault: VaultApi;
  readonly #jsonApi: JsonApi;
  readonly #describe: () => object;
  /** Cached, because anyone may request it, and formatting takes long. */
  #docsPage: PendingRequest | undefined;

  /** @param byOwner whether only the owner can connect, so that no token is required, and errors contain paths */
  constructor(service: Service, routes: readonly ServedRoute[], describe: () => object, byOwner = false) {
    const served = () => service.served;
    const { sealedCore } = service;
    const failed: NoteFailure = (error) => {
      const shown = service.failed(error);
      return byOwner ? asCofferError(error) : shown;
    };
    this.#vault = new VaultApi({ routes, served, sealedCore, failed, byOwner });
    this.#jsonApi = new JsonApi({ routes, served, failed, byOwner });
    this.#describe = describe;
  }

  /** Reads what is requested, once, without the body. */
  take(exchange: Exchange): PendingRequest {
    switch (apiOf(exchange)) {
      case 'vault':
        return this.#vault.take(exchange);
      case 'json-api':
        return this.#jsonApi.take(exchange);
      case 'discovery':
        return settled(DISCOVERY);
      case 'docs':
        this.#docsPage ??= settled(docsPage(this.#describe()));
        return this.#docsPage;
      case 'none':
        return NOWHERE;
    }
  }
}

export function apiOf({ target, method }: Exchange): ApiName {
  if (target.startsWith(VAULT_PREFIX)) return 'vault';
  if (target.startsWith(JSON_API_PREFIX)) return 'json-api';
  if (method !== 'GET') return 'none';
  if (target === DISCOVERY_PATH) return 'discovery';
  return target === DOCS_PATH ? 'docs' : 'none';
}
