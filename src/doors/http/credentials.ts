import { asCofferError } from '../../ground/errors.ts';
import type { Dialect } from '../../transit/engine.ts';
import type { Exchange } from './exchange.ts';

/**
 * Returns the token of a request: from Coffer's header, Vault's, or a bearer token, the first one present. Undefined if
 * there is none.
 */
export function tokenOf({ headers }: Exchange): string | undefined {
  const own = headers['x-service-token'] ?? headers['x-vault-token'];
  if (typeof own === 'string' && own !== '') return own;
  const { authorization = '' } = headers;
  // Scheme names are case-insensitive (RFC 9110, 11.1).
  if (!/^bearer /i.test(authorization)) return undefined;
  const token = authorization.slice('Bearer '.length).trim();
  return token === '' ? undefined : token;
}

/**
 * Returns the dialect: Vault clients expect its prefixes. Coffer's own client, which also supports Vault servers, sends
 * both headers.
 * @see docs/decisions/0125
 */
export const dialectOf = ({ headers }: Exchange): Dialect =>
  headers['x-service-token'] === undefined &&
  (headers['x-vault-token'] !== undefined || headers['x-vault-request'] !== undefined)
    ? 'vault'
    : 'service';

/**
 * Header of Coffer's own client, which requests the details of an error besides its text; others get the plain body.
 * @see docs/decisions/0065
 */
const DETAILS_HEADER = 'x-coffer-details';

export const wantsDetails = ({ headers }: Exchange): boolean => headers[DETAILS_HEADER] !== undefined;

export function errorDetails(exchange: Exchange, error: unknown): object | undefined {
  if (!wantsDetails(exchange)) return undefined;
  const known = asCofferError(error);
  if (known === undefined) return undefined;
  const { kind, message, field, hint } = known;
  return { kind, message, field, hint };
}
