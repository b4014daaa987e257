import { idOf } from '../../access/access.ts';
import { catalogue } from '../../operations/catalogue.ts';
import { METRICS_CONTENT_TYPE } from '../../operations/declaration/operation.ts';
import { loadRoutes } from '../../operations/routes.ts';
import type { DoorKind } from '../../service/door.ts';
import type { Job } from '../../service/frames.ts';
import type { LaneReservation } from '../../service/lanes.ts';
import type { Service } from '../../service/service.ts';
import { Apis, apiOf } from './apis.ts';
import type { Answer, Exchange } from './exchange.ts';
import type { TlsCertificate } from './http-server.ts';
import { heldBody, LARGE_BODY_BYTES } from './incoming-body.ts';
import type { ListenAddress } from './listen-address.ts';
import { Listeners } from './listeners.ts';
import { describeApi } from './openapi.ts';
import { type PendingRequest, settled } from './pending-request.ts';
import { errorBody } from './vault/envelope.ts';
import { VAULT_PREFIX } from './vault/vault-api.ts';

/** HTTP frontend of a service: listeners and APIs. */

const METRICS_PATH = `${VAULT_PREFIX}sys/metrics`;

/** Plain JSON. */
export interface HttpSettings {
  readonly listen: readonly ListenAddress[];
  readonly tls?: TlsCertificate | undefined;
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
  const apisOf = remembered((service: Service) => new Apis(service, routes, describe, callers === 'owner'));
  return {
    async open(service, { listen, tls }) {
      const apis = apisOf(service);
      service.metrics.certificateEnds = tls?.ends;
      const listeners = await Listeners.open(listen, tls, (exchange, { openMetrics }) =>
        answer(service, openMetrics && isForMetrics(exchange) ? openly(service) : apis, exchange),
      );
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

function remembered<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    const value = made.get(key) ?? make(key);
    made.set(key, value);
    return value;
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
