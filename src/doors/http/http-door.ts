import { idOf } from '../../access/access.ts';
import { asCofferError } from '../../ground/errors.ts';
import { madeOnce } from '../../ground/objects.ts';
import { catalogue } from '../../operations/catalogue.ts';
import { METRICS_CONTENT_TYPE } from '../../operations/declaration/operation.ts';
import { loadRoutes, type ServedRoute } from '../../operations/routes.ts';
import type { DoorKind } from '../../service/door.ts';
import type { LaneReservation } from '../../service/lanes.ts';
import type { Job } from '../../service/rpc.ts';
import type { NoteFailure } from '../../service/served-core.ts';
import type { Service } from '../../service/service.ts';
import { type Answer, type Exchange, type PendingRequest, settled } from './exchange.ts';
import { Listeners, type TlsCertificate } from './http-server.ts';
import { heldBody, LARGE_BODY_BYTES } from './incoming-body.ts';
import { JSON_API_PREFIX, JsonApi } from './json-api/json-api.ts';
import type { ListenAddress } from './listen-address.ts';
import { describeApi } from './openapi.ts';
import { docsPage } from './pages/docs-page.ts';
import { TrustedProxies } from './trusted-proxies.ts';
import { errorBody, JSON_TYPE } from './vault/envelope.ts';
import { VAULT_PREFIX, VaultApi } from './vault/vault-api.ts';

/** HTTP frontend of a service: listeners and APIs. */

const METRICS_PATH = `${VAULT_PREFIX}sys/metrics`;

/** Plain JSON. */
export interface HttpSettings {
  readonly listen: readonly ListenAddress[];
  readonly tls?: TlsCertificate | undefined;
  /** As returned by `parseTrustedProxies`. */
  readonly trustedProxies?: readonly string[] | undefined;
}

/** Request for another process, without its body. */
type SentExchange = Omit<Exchange, 'body' | 'onGone'>;
type AnswerHead = Omit<Answer, 'body'>;

/** HTTP frontend, which also answers the same requests from other protocols. */
export interface HttpDoorKind extends Required<DoorKind<HttpSettings>> {
  answer(service: Service, exchange: Exchange): Promise<Answer>;
}

/**
 * Creates the HTTP frontend for every operation of the catalogue.
 * @param callers clients: bearers of tokens, or only the owner, who needs none
 */
export async function httpDoor(callers: 'bearers' | 'owner' = 'bearers'): Promise<HttpDoorKind> {
  const routes = await loadRoutes(catalogue);
  let document: object | undefined;
  const describe = (): object => {
    document ??= describeApi(routes);
    return document;
  };
  const made = new WeakMap<Service, Apis>();
  const apisOf = (service: Service): Apis =>
    madeOnce(made, service, () => new Apis(service, routes, describe, callers === 'owner'));
  return {
    async open(service, { listen, tls, trustedProxies = [] }) {
      const apis = apisOf(service);
      service.metrics.certificateEnds = tls?.ends;
      const listeners = await Listeners.open(listen, {
        tls,
        proxies: new TrustedProxies(trustedProxies),
        answer: (exchange, { openMetrics }) =>
          answer(service, openMetrics && isForMetrics(exchange) ? openly(service) : apis, exchange),
      });
      return {
        addresses: listeners.addresses,
        renew({ tls: renewed }) {
          if (renewed === undefined) return;
          listeners.renewCertificate(renewed);
          service.metrics.certificateEnds = renewed.ends;
        },
        close: () => listeners.close(),
      };
    },
    async work(service, { head, body }) {
      const exchange = { ...(head as SentExchange), body: heldBody(Buffer.concat(body)) };
      const { body: bytes = [], ...sent } = await apisOf(service).take(exchange).answer();
      return { head: sent, body: typeof bytes === 'string' ? [Buffer.from(bytes)] : bytes };
    },
    answer: (service, exchange) => answer(service, apisOf(service), exchange),
    describe,
  };
}

async function answer(service: Service, apis: Pick<Apis, 'take'>, exchange: Exchange): Promise<Answer> {
  const { metrics } = service;
  const start = performance.now();
  metrics.begin();
  const pending = apis.take(exchange);
  const given = await (pending.weight === 'light'
    ? pending.answer()
    : answerBeside(service, exchange, pending));
  metrics.end(apiOf(exchange), exchange.method, given.status, (performance.now() - start) / 1000);
  return given;
}

/**
 * Answers a request in the large-request worker pool, once the caller is authenticated and the path may be allowed: the
 * body is not read for anyone else.
 */
async function answerBeside(service: Service, exchange: Exchange, pending: PendingRequest): Promise<Answer> {
  const caller = await pending.caller().catch(() => undefined);
  const { lanes } = service;
  if (caller === undefined || lanes === undefined) return pending.answer();
  const { body, onGone, ...head } = exchange;
  let place: LaneReservation | undefined;
  try {
    place = lanes.enter(idOf(caller), body.mostBytes);
    onGone?.(() => place?.leave());
    const bytes = await Promise.resolve(body.read()).catch(() => undefined);
    const isWorthIt = pending.weight === 'unfolds' || (bytes?.length ?? 0) >= LARGE_BODY_BYTES;
    if (!isWorthIt) return await pending.answer();
    return answerFrom(await place.work({ head, body: bytes === undefined ? [] : [bytes] }));
  } catch (error) {
    return pending.failed(error);
  } finally {
    place?.leave();
  }
}

/**
 * Serves metrics without authentication: while the store is sealed or unavailable, so that tokens cannot be checked,
 * the metrics report that.
 * @see docs/decisions/0241
 */
const openly = (service: Service): Pick<Apis, 'take'> => ({
  take: () => {
    const failed = (error: unknown): Answer => {
      service.failed(error);
      return errorBody(500, ['cannot collect metrics']);
    };
    return {
      ...settled({ status: 200 }),
      failed,
      answer: () =>
        service
          .printMetrics()
          .then((body) => ({ status: 200, contentType: METRICS_CONTENT_TYPE, body }), failed),
    };
  },
});

const isForMetrics = ({ method, target }: Exchange): boolean =>
  method === 'GET' && target.split('?', 1)[0] === METRICS_PATH;

function answerFrom({ head, body }: Job): Answer {
  const sent = head as AnswerHead;
  return body.length === 0 ? sent : { ...sent, body };
}

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

function apiOf({ target, method }: Exchange): ApiName {
  if (target.startsWith(VAULT_PREFIX)) return 'vault';
  if (target.startsWith(JSON_API_PREFIX)) return 'json-api';
  if (method !== 'GET') return 'none';
  if (target === DISCOVERY_PATH) return 'discovery';
  return target === DOCS_PATH ? 'docs' : 'none';
}

/** Path of Terraform's service discovery document. */
const DISCOVERY_PATH = '/.well-known/terraform.json';

/**
 * Tags API under all its service names; later clients use the later names. There is no module registry: requests to it
 * get "not found", but one client library requires its name.
 */
const SERVICES = {
  'modules.v1': '/api/registry/v1/modules/',
  'tfe.v2': '/api/v2/',
  'tfe.v2.1': '/api/v2/',
  'tfe.v2.2': '/api/v2/',
} as const;

/** Discovery document, the same for everyone, with and without a token, sealed or not. */
const DISCOVERY: Answer = {
  status: 200,
  contentType: JSON_TYPE,
  body: JSON.stringify(SERVICES),
};
