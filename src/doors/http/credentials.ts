import { asCofferError } from '../../ground/errors.ts';
import type { Dialect } from '../../transit/engine.ts';
import type { Exchange } from './exchange.ts';

/**
 * The token of a request: the product's header, the family's, or a bearer token. The first one there counts.
 * Undefined when there is none.
 */
export function tokenOf({ headers }: Exchange): string | undefined {
  const own = headers['x-service-token'] ?? headers['x-vault-token'];
  if (typeof own === 'string' && own !== '') return own;
  const { authorization = '' } = headers;
  // The name of a scheme is the same in any case (RFC 9110, 11.1).
  if (!/^bearer /i.test(authorization)) return undefined;
  const token = authorization.slice('Bearer '.length).trim();
  return token === '' ? undefined : token;
}

/**
 * Programs of the Vault family expect its prefixes. Our own client, which can talk to Vault as well, brings both headers.
 * @see docs/decisions/0125
 */
export const dialectOf = ({ headers }: Exchange): Dialect =>
  headers['x-service-token'] === undefined &&
  (headers['x-vault-token'] !== undefined || headers['x-vault-request'] !== undefined)
    ? 'vault'
    : 'service';

/**
 * The command's own client asks for what a local error has beside its text; others get the plain body.
 * @see docs/decisions/0065
 */
export const DETAILS_HEADER = 'x-coffer-details';

export const wantsDetails = ({ headers }: Exchange): boolean => headers[DETAILS_HEADER] !== undefined;

export function errorDetails(exchange: Exchange, error: unknown): object | undefined {
  if (!wantsDetails(exchange)) return undefined;
  const known = asCofferError(error);
  if (known === undefined) return undefined;
  const { kind, message, field, hint } = known;
  return { kind, message, field, hint };
}
