import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../../src/doors/http/exchange.ts';
import { baseUrlOf, refusedMediaType } from '../../../../src/doors/http/json-api/json-api.ts';

const TYPE = 'application/vnd.api+json';
const exchange = (method: string, headers: Exchange['headers']) =>
  ({ method, headers, origin: 'https://127.0.0.1:8200' }) as unknown as Exchange;
const refusedWith = (method: string, headers: Exchange['headers']) => {
  const answer = refusedMediaType(exchange(method, headers));
  return answer && [answer.status, JSON.parse(String(answer.body)).errors[0].detail];
};

describe('the media type of a document that is sent', () => {
  it.each([
    TYPE,
    TYPE.toUpperCase(),
    `${TYPE}; charset=utf-8`,
    `${TYPE};charset="UTF-8"; profile="a"`,
    `${TYPE}; profile=a`,
  ])('may be %s', (type) => {
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      expect(refusedWith(method, { 'content-type': type })).toBeUndefined();
    }
  });

  it.each([
    ['application/json', `Send ${TYPE}.`],
    [`${TYPE}x`, `Send ${TYPE}.`],
    [undefined, `Send ${TYPE}.`],
    [`${TYPE}; charset=latin1`, `Send ${TYPE} without "charset": JSON:API allows no such parameter here.`],
    [`${TYPE}; profile=a; EXT=b`, `Send ${TYPE} without "ext": JSON:API allows no such parameter here.`],
  ])('is refused as %s, with what to send', (type, detail) => {
    expect(refusedWith('POST', { 'content-type': type })).toEqual([415, detail]);
    expect(refusedWith('GET', { 'content-type': type })).toBeUndefined();
  });

  it('may be left out by a deletion without a body, and by nothing else', () => {
    for (const headers of [{}, { 'content-length': '0' }])
      expect(refusedWith('DELETE', headers)).toBeUndefined();
    for (const headers of [
      { 'content-length': '2' },
      { 'transfer-encoding': 'chunked' },
      { 'content-type': 'text/plain' },
    ]) {
      expect(refusedWith('DELETE', headers)?.[0]).toBe(415);
    }
    expect(refusedWith('POST', { 'content-length': '0' })?.[0]).toBe(415);
  });
});

describe('the media types that an answer may have', () => {
  it.each([
    [undefined, undefined],
    ['*/*', undefined],
    ['text/html', undefined],
    [TYPE, undefined],
    [`${TYPE}; q=0.5`, undefined],
    [`${TYPE}; profile=a`, undefined],
    [`${TYPE}; ext=a, ${TYPE}`, undefined],
    [`${TYPE}; ext=a`, 406],
    [`${TYPE}; q=1; ext=a, ${TYPE}; charset=utf-8, */*`, 406],
  ])('are %s: refused with %s', (accept, status) => {
    expect(refusedWith('GET', { accept })?.[0]).toBe(status);
  });
});

describe('the links of a document', () => {
  it.each<[Exchange['headers'], string]>([
    [{ host: 'tags.example:8443' }, 'https://tags.example:8443'],
    [{ host: '[::1]:1' }, 'https://[::1]:1'],
    [{}, 'https://127.0.0.1:8200'],
    [{ host: 'a b' }, 'https://127.0.0.1:8200'],
    [{ host: 'x/evil' }, 'https://127.0.0.1:8200'],
    [{ host: 'x"onclick=' }, 'https://127.0.0.1:8200'],
    [{ host: 'x@y' }, 'https://127.0.0.1:8200'],
    [{ host: 'x', 'x-forwarded-proto': 'http' }, 'http://x'],
    [{ host: 'x', 'x-forwarded-proto': 'HTTP, https' }, 'http://x'],
    [{ host: 'x', 'x-forwarded-proto': 'javascript' }, 'https://x'],
    [{ host: 'x', forwarded: 'for=1.2.3.4;proto="http";by=2' }, 'http://x'],
    [{ host: 'x', forwarded: 'for=1.2.3.4' }, 'https://x'],
  ])('begin, with the headers %j, with %s', (headers, base) => {
    expect(baseUrlOf(exchange('GET', headers))).toBe(base);
  });
});
