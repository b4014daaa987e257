import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../../src/doors/http/exchange.ts';
import { heldBody } from '../../../../src/doors/http/incoming-body.ts';
import { readParameters, readVaultRequest } from '../../../../src/doors/http/vault/request.ts';

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

describe('the time for a wrapped answer', () => {
  const wrapping = (ttl: string) =>
    readVaultRequest(
      {
        method: 'GET',
        target: '/v1/transit/keys/orders',
        headers: { 'x-vault-wrap-ttl': ttl },
        body: heldBody(Buffer.alloc(0)),
        remoteAddress: '',
        origin: 'http://localhost',
      },
      '/v1/',
    );

  it('is as long as durations are in Go, and rounded up to seconds', () => {
    expect(wrapping('9223372036')).toMatchObject({ wrapTtl: 9_223_372_036 });
    expect(wrapping('1ns')).toMatchObject({ wrapTtl: 1 });
    for (const ttl of ['9223372037', '9223372036.1s', 'x']) {
      expect(wrapping(ttl)).toMatchObject({
        status: 400,
        body: `${JSON.stringify({ errors: [`error parsing X-Vault-Wrap-TTL header: time: invalid duration "${ttl}"`] })}\n`,
      });
    }
  });
});

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
