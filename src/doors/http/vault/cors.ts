import { allowedHeaders, allowsOrigin, type CorsSettings, readCors } from '../../../access/cors.ts';
import type { Store } from '../../../store/store.ts';
import type { Answer, Exchange, PendingRequest } from '../exchange.ts';
import { errorBody } from './envelope.ts';

/** Values of CORS headers, the same as in Vault. */
const METHODS = ['DELETE', 'GET', 'OPTIONS', 'POST', 'PUT', 'LIST', 'SCAN'];
const REMEMBERED_SECONDS = 300;
/** Coffer's own headers for `X-Vault-Token` and `X-Vault-Wrap-TTL`. */
const OWN_HEADERS = ['X-Service-Token', 'X-Service-Wrap-TTL'];

const NOT_ALLOWED = errorBody(403, ['origin not allowed']);

/**
 * Handles CORS for a request that a web page may have sent: if CORS is enabled, allowed origins get the required
 * headers, and others are refused. Otherwise it is a normal request.
 * @param store undefined while it is sealed
 * @param take answers the request
 */
export function ofWebPage(
  exchange: Exchange,
  origin: string,
  store: () => Store | undefined,
  take: (exchange: Exchange) => PendingRequest,
): PendingRequest {
  const usual = take(exchange);
  return {
    ...usual,
    async answer() {
      try {
        const opened = store();
        const settings = opened && (await readCors(opened));
        return settings === undefined
          ? await usual.answer()
          : await answerPage(exchange, origin, settings, take);
      } catch (error) {
        return usual.failed(error);
      }
    },
  };
}

async function answerPage(
  exchange: Exchange,
  origin: string,
  settings: CorsSettings,
  take: (exchange: Exchange) => PendingRequest,
): Promise<Answer> {
  if (!allowsOrigin(settings, origin)) return NOT_ALLOWED;
  const headers: Record<string, string> = { 'access-control-allow-origin': origin, vary: 'Origin' };
  if (settings.allowsCredentials) headers['access-control-allow-credentials'] = 'true';
  if (exchange.method === 'OPTIONS') return preflight(exchange, settings, headers);
  const answer = await take({ ...exchange, isOfAllowedPage: true }).answer();
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

/** Answers a preflight request. */
function preflight(
  { headers }: Exchange,
  settings: CorsSettings,
  told: Readonly<Record<string, string>>,
): Answer {
  const method = headers['access-control-request-method'] ?? '';
  if (!METHODS.includes(method)) return { status: 405 };
  return {
    status: 200,
    headers: {
      ...told,
      'access-control-allow-methods': METHODS.join(','),
      'access-control-allow-headers': [...allowedHeaders(settings), ...OWN_HEADERS].join(','),
      'access-control-max-age': String(REMEMBERED_SECONDS),
    },
  };
}
