import { expect, it } from 'vitest';
import { dialectOf, type Exchange, tokenOf } from '../../../src/doors/http/exchange.ts';

const exchange = (headers: Exchange['headers']) => ({ headers }) as unknown as Exchange;

it.each<[Exchange['headers'], string | undefined]>([
  [{}, undefined],
  [{ 'x-service-token': 'a', 'x-vault-token': 'b', authorization: 'Bearer c' }, 'a'],
  [{ 'x-vault-token': 'b', authorization: 'Bearer c' }, 'b'],
  [{ 'x-vault-token': '', authorization: 'Bearer c' }, 'c'],
  [{ authorization: 'bearer  c ' }, 'c'],
  [{ authorization: 'Bearer ' }, undefined],
  [{ authorization: 'Bearer' }, undefined],
  [{ authorization: 'Basic c' }, undefined],
  [{ authorization: 'c' }, undefined],
])('a request with the headers %j has the token %j', (headers, token) => {
  expect(tokenOf(exchange(headers))).toBe(token);
});

it.each<[Exchange['headers'], string]>([
  [{}, 'service'],
  [{ authorization: 'Bearer c' }, 'service'],
  [{ 'x-vault-token': 'b' }, 'vault'],
  [{ 'x-vault-request': 'true' }, 'vault'],
  [{ 'x-service-token': 'a', 'x-vault-token': 'b', 'x-vault-request': 'true' }, 'service'],
])('a request with the headers %j is answered in the dialect %s', (headers, dialect) => {
  expect(dialectOf(exchange(headers))).toBe(dialect);
});
