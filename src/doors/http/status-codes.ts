import type { CofferError, ErrorKind } from '../../ground/errors.ts';
import type { Method } from '../../operations/declaration/route.ts';

/**
 * Status codes of `/v1`. Client errors are never 5xx, because Vault clients retry those; nor are errors after a change
 * was made, which must not be repeated.
 * @see docs/decisions/0012
 * @see docs/decisions/0119
 */
const DATA_STATUS: Readonly<Record<ErrorKind, number>> = {
  invalid: 400,
  unsupported: 400,
  'not-found': 400,
  denied: 403,
  sealed: 503,
  conflict: 400,
  exists: 400,
  inauthentic: 400,
  corrupt: 500,
  unavailable: 503,
  unconfirmed: 409,
  'too-large': 413,
};

/** Status codes of `/api/v2`. Forbidden resources have the same status as missing ones. */
const DOCUMENT_STATUS: Readonly<Record<ErrorKind, number>> = {
  ...DATA_STATUS,
  invalid: 422,
  unsupported: 422,
  'not-found': 404,
  denied: 404,
  conflict: 422,
  exists: 422,
  inauthentic: 422,
};

/** Returns the status of an error: a missing resource is 404 for reads, and a client error for changes. */
export function dataStatus(error: CofferError, method: Method): number {
  const isLooking = method === 'GET' || method === 'LIST';
  return error.kind === 'not-found' && (isLooking || error.isGone) ? 404 : DATA_STATUS[error.kind];
}

export const documentStatus = (error: CofferError): number => DOCUMENT_STATUS[error.kind];

/** Titles of errors, required by JSON:API; known texts of HashiCorp's service are the same. */
export const DOCUMENT_TITLES: Readonly<Record<number, string>> = {
  400: 'bad request',
  401: 'unauthorized',
  404: 'not found',
  405: 'method not allowed',
  406: 'not acceptable',
  408: 'request timeout',
  409: 'conflict',
  413: 'payload too large',
  415: 'unsupported media type',
  422: 'invalid attribute',
  431: 'request header fields too large',
  500: 'internal server error',
  503: 'service unavailable',
};
