import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../../src/doors/http/exchange.ts';
import { heldBody } from '../../../../src/doors/http/incoming-body.ts';
import { readParameters } from '../../../../src/doors/http/vault/request.ts';

const FORM = 'application/x-www-form-urlencoded';

const parametersOf = (body: string, contentType: string): unknown => {
  const exchange: Exchange = {
    method: 'POST',
    target: '/v1/transit/encrypt/orders',
    headers: { 'content-type': contentType },
    body: heldBody(Buffer.from(body)),
    remoteAddress: '',
    origin: 'http://localhost',
  };
  return readParameters(
    { method: 'POST', path: 'transit/encrypt/orders', query: '' },
    exchange,
    Buffer.from(body),
  );
};

describe('a body that is said to be a form', () => {
  it.each(['{"plaintext":"eA=="}', ' {"plaintext":"eA=="}', '\r\n\t{"plaintext":"eA=="}\n'])(
    'is JSON when it looks so, or its text would be the name of a parameter: %j',
    (body) => {
      expect(parametersOf(body, FORM)).toEqual({ plaintext: 'eA==' });
    },
  );

  it('is a form when it looks so', () => {
    expect(parametersOf('plaintext=eA%3D%3D', `${FORM}; charset=utf-8`)).toEqual({ plaintext: 'eA==' });
  });
});
