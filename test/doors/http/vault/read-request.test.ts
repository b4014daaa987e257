import { describe, expect, it } from 'vitest';
import { type Answer, type Exchange, settled, tokenOf } from '../../../../src/doors/http/exchange.ts';
import { heldBody } from '../../../../src/doors/http/incoming-body.ts';
import { ofWebPage } from '../../../../src/doors/http/vault/cors.ts';
import { keptOf, parameterNotes, printOutcome } from '../../../../src/doors/http/vault/envelope.ts';
import { readParameters, readVaultRequest, refusedHeader } from '../../../../src/doors/http/vault/request.ts';
import { unavailable } from '../../../../src/ground/errors.ts';
import type { Operation, Outcome } from '../../../../src/operations/declaration/operation.ts';
import type { Store } from '../../../../src/store/store.ts';

const exchange = (method: string, target: string, headers: Exchange['headers'] = {}): Exchange => ({
  method,
  target,
  headers,
  body: heldBody(undefined),
  remoteAddress: '',
  origin: 'http://localhost',
});
const read = (method: string, path: string, headers: Exchange['headers'] = {}) =>
  readVaultRequest(exchange(method, `/v1/${path}`, headers), '/v1/');

describe('what a request asks for', () => {
  it.each<[string, string, object]>([
    ['GET', 'transit/keys', { method: 'GET', path: 'transit/keys', query: '' }],
    ['PUT', 'transit/keys/a', { method: 'POST', path: 'transit/keys/a', query: '' }],
    ['DELETE', 'transit/keys/a?list=true', { method: 'DELETE', path: 'transit/keys/a', query: 'list=true' }],
    ['LIST', 'transit/keys/', { method: 'LIST', path: 'transit/keys', query: '' }],
    ['LIST', 'transit/keys//', { method: 'LIST', path: 'transit/keys/', query: '' }],
    ['GET', 'transit/keys?list=1', { method: 'LIST', path: 'transit/keys', query: 'list=1' }],
    ['GET', 'transit/keys/?list=T', { method: 'LIST', path: 'transit/keys', query: 'list=T' }],
    ['GET', 'transit/keys?list=0', { method: 'GET', path: 'transit/keys', query: 'list=0' }],
    ['GET', 'transit/keys?list=False', { method: 'GET', path: 'transit/keys', query: 'list=False' }],
    ['GET', 'transit/keys?list', { method: 'GET', path: 'transit/keys', query: 'list' }],
    ['GET', 'transit/keys?nolist=x', { method: 'GET', path: 'transit/keys', query: 'nolist=x' }],
    ['HEAD', 'sys/health', { method: 'GET', path: 'sys/health', query: '' }],
    ['POST', 'a?help=1', { method: 'GET', path: 'a', query: 'help=1', isForHelp: true }],
    ['PATCH', 'a?help=false', { method: 'GET', path: 'a', query: 'help=false', isForHelp: true }],
    ['POST', 'a?help=', { method: 'POST', path: 'a', query: 'help=' }],
    ['POST', 'a?nohelp=1', { method: 'POST', path: 'a', query: 'nohelp=1' }],
    ['GET', 'a%2Fb/c%25', { method: 'GET', path: 'a/b/c%', query: '' }],
    ['GET', 'a..b/..c/d../...', { method: 'GET', path: 'a..b/..c/d../...', query: '' }],
    ['GET', 'a?b=../c', { method: 'GET', path: 'a', query: 'b=../c' }],
    ['POST', 'sys/revoke-prefix/a/', { method: 'POST', path: 'sys/revoke-prefix/a', query: '' }],
    [
      'PUT',
      'sys/leases/revoke-force/a/b//',
      { method: 'POST', path: 'sys/leases/revoke-force/a/b', query: '' },
    ],
  ])('by %s %s is read in one way', (method, path, request) => {
    expect(read(method, path)).toEqual(request);
  });

  it.each<[string, string, number, string?]>([
    ['HEAD', 'sys/healthy', 405, 'unsupported operation'],
    ['PATCH', 'transit/keys/a', 405, 'unsupported operation'],
    ['get', 'transit/keys', 405, 'unsupported operation'],
    ['GET', 'transit/keys?list=yes', 400],
    ['GET', 'transit/keys?list=', 400],
    ['GET', '..', 400, 'relative paths not supported'],
    ['GET', '../a', 400, 'relative paths not supported'],
    ['GET', 'a/..', 400, 'relative paths not supported'],
    ['LIST', 'a/%2e%2E/b', 400, 'relative paths not supported'],
    ['GET', 'a/../b?help=1', 400, 'relative paths not supported'],
    ['GET', 'a%ff', 400, 'the path is not percent-encoded UTF-8'],
    ['GET', 'a%', 400, 'the path is not percent-encoded UTF-8'],
    ['POST', 'transit/keys/', 400, "cannot write to a path ending in '/'"],
    ['PUT', 'sys/revoke-prefix/', 400, "cannot write to a path ending in '/'"],
    ['PUT', 'sys/leases/revoke/a/', 400, "cannot write to a path ending in '/'"],
    ['PUT', 'x/sys/revoke-prefix/a/', 400, "cannot write to a path ending in '/'"],
  ])('by %s %s is refused with %i', (method, path, status, text) => {
    const answer = read(method, path) as Answer;
    expect(answer.status).toBe(status);
    const { errors } = JSON.parse(String(answer.body)) as { errors: readonly string[] };
    if (text === undefined) expect(errors).toEqual([]);
    else expect(errors).toEqual([expect.stringContaining(text)]);
  });

  it.each<[string, object]>([
    ['0', {}],
    ['', {}],
    ['0s', {}],
    ['1', { wrapTtl: 1 }],
    ['1m', { wrapTtl: 60 }],
    ['59.1s', { wrapTtl: 60 }],
  ])('is wrapped for %j, in whole seconds, whatever the method', (ttl, wrapping) => {
    for (const method of ['GET', 'LIST', 'POST', 'DELETE'] as const) {
      expect(read(method, 'a', { 'x-vault-wrap-ttl': ttl })).toEqual({
        method,
        path: 'a',
        query: '',
        ...wrapping,
      });
    }
    expect(read('POST', 'sys/revoke-prefix/a/', { 'x-vault-wrap-ttl': ttl })).toMatchObject(wrapping);
    const both = { 'x-service-wrap-ttl': ttl, 'x-vault-wrap-ttl': '9' };
    expect(read('GET', 'a', both)).toMatchObject(ttl === '' ? { wrapTtl: 9 } : wrapping);
  });

  it.each(['-1', '-0.5s', '-1ns'])('is not answered unwrapped where the time is %s', (ttl) => {
    expect(read('GET', 'a', { 'x-vault-wrap-ttl': ttl })).toMatchObject({
      status: 400,
      body: expect.stringContaining('requested wrap ttl cannot be negative'),
    });
  });

  it('is in no other namespace than the root', () => {
    const of = (namespace: string) => refusedHeader(exchange('GET', '/', { 'x-vault-namespace': namespace }));
    for (const root of ['', 'root', 'root/', '/']) expect(of(root)).toBeUndefined();
    for (const other of ['team', 'root/a', '//', 'Root']) expect(of(other)).toMatchObject({ status: 404 });
  });

  it('has its parameters in the body of a write, and in the query of everything else', () => {
    const of = (method: 'GET' | 'LIST' | 'POST' | 'DELETE', body?: string) =>
      readParameters(
        { method, path: 'a', query: 'list=true&b=1' },
        exchange(method, '/v1/a'),
        body === undefined ? undefined : Buffer.from(body),
      );
    for (const method of ['GET', 'LIST', 'DELETE'] as const) {
      expect(of(method, '{"c":2}')).toEqual({ b: '1' });
    }
    expect([of('POST', '{"c":2}'), of('POST'), of('POST', '')]).toEqual([{ c: 2 }, {}, {}]);
  });

  it.each<[Exchange['headers'], string | undefined]>([
    [{}, undefined],
    [{ 'x-service-token': '', 'x-vault-token': 'b' }, undefined],
    [{ 'x-service-token': 'a', 'x-vault-token': 'b', authorization: 'Bearer c' }, 'a'],
    [{ 'x-vault-token': 'b', authorization: 'Bearer c' }, 'b'],
    [{ 'x-vault-token': '', authorization: 'bEARER  c ' }, 'c'],
    [{ authorization: 'Basic c' }, undefined],
    [{ authorization: 'Bearerc' }, undefined],
    [{ authorization: 'Bearer  ' }, undefined],
  ])('brings with %j the token %j', (headers, token) => {
    expect(tokenOf(exchange('GET', '/', headers))).toBe(token);
  });
});

describe('a request of a web page', () => {
  const usual = { status: 200, body: 'usual', headers: { 'cache-control': 'no-store' } };
  const taken: Exchange[] = [];
  const answerTo = (store: () => Store | undefined) =>
    ofWebPage(exchange('GET', '/v1/a', { origin: 'https://page' }), 'https://page', store, (seen) => {
      taken.push(seen);
      return { ...settled(usual), failed: () => ({ status: 500 }) };
    }).answer();

  it('is one like others while the store is sealed', async () => {
    expect(await answerTo(() => undefined)).toEqual(usual);
    expect(taken.some(({ isOfAllowedPage }) => isOfAllowedPage)).toBe(false);
  });

  it('is not answered where nobody can tell whether the page is allowed', async () => {
    const broken = { read: () => Promise.reject(unavailable('the disk is gone')) } as unknown as Store;
    expect(await answerTo(() => broken)).toEqual({ status: 500 });
    const failing = (): Store => {
      throw unavailable('the disk is gone');
    };
    expect(await answerTo(failing)).toEqual({ status: 500 });
  });
});

describe('an answer of /v1', () => {
  const print = (outcome: Outcome<unknown>, notes: readonly string[] = [], more: object = {}) =>
    printOutcome({ id: 'i', mountType: 'transit' }, { ...more } as Operation, outcome, notes);
  const HEAD = '{"request_id":"i","lease_id":"","renewable":false,"lease_duration":0';

  it('is empty only where there is neither result nor warning', () => {
    const empty = { status: 204, contentType: 'application/json', headers: { 'cache-control': 'no-store' } };
    expect(print({})).toEqual(empty);
    expect(print({ warnings: [] }, ['lost'])).toEqual(empty);
    expect(print({ warnings: ['w'] }, ['n']).body).toBe(
      `${HEAD},"data":null,"wrap_info":null,"warnings":["w","n"],"auth":null,"mount_type":"transit"}\n`,
    );
    expect(print({ data: null }, ['n']).body).toContain('"data":null,"wrap_info":null,"warnings":["n"]');
    expect(print({ data: {}, statusCode: 202 })).toMatchObject({ status: 202 });
  });

  it.each([204, 304])('has no body with the status %i that a caller chose for failures', (statusCode) => {
    const answer = print({ data: { a: 1 }, failedItems: { statusCode } } as Outcome<unknown>);
    expect(answer.status).toBe(statusCode);
    expect(answer).not.toHaveProperty('body');
  });

  it('has the whole result with every other status, and no final newline', () => {
    for (const statusCode of [200, 207, 400]) {
      const answer = print({ data: { b: 1, a: 2 }, failedItems: { statusCode } } as Outcome<unknown>);
      expect(answer).toMatchObject({
        status: statusCode,
        body: expect.stringMatching(/"data":\{"a":2,"b":1\}.*"mount_type":"transit"\}$/),
      });
    }
  });

  it('of an empty list is a miss, and of a wrapped one shows nothing of it', () => {
    expect(print({ data: { keys: [] }, nothingListed: true })).toMatchObject({
      status: 404,
      body: '{"errors":[]}\n',
    });
    const wrapInfo = { token: 't' } as unknown as Exclude<Outcome<unknown>['wrapInfo'], undefined>;
    const { status, body } = print({ data: { secret: 's' }, nothingListed: true, wrapInfo });
    expect(status).toBe(200);
    expect(body).toContain('"data":null,"wrap_info":{"token":"t"}');
    expect(body).not.toContain('secret');
  });

  it('is kept for unwrapping as a text, whatever it consists of', () => {
    const pieces = [Buffer.from('a'), Buffer.from('b\n')];
    expect([keptOf({ status: 200, body: 'a\n' }), keptOf({ status: 200, body: pieces })]).toEqual([
      'a',
      'ab',
    ]);
    expect(keptOf({ status: 204 })).toBeUndefined();
  });

  it('names what was ignored, and what the path replaced, each where there is some', () => {
    expect(parameterNotes([], { name: 'a' }, { other: 1 })).toEqual([]);
    expect(parameterNotes(['x', 'y'], { name: 'a', kind: 'b' }, { name: 1, kind: 2 })).toEqual([
      'Endpoint ignored these unrecognized parameters: [x y]',
      "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [kind name]",
    ]);
  });
});
