import { describe, expect, it } from 'vitest';
import { policiesHint, readAnswer, readAnyAnswer } from '../../src/client/answer.ts';
import type { WireAnswer } from '../../src/client/request.ts';
import { metrics as showMetrics } from '../../src/operations/sys/server.ts';
import { list as listTags } from '../../src/operations/tags/tags.ts';
import { declaration as decrypt } from '../../src/operations/transit/decrypt.ts';
import { declaration as encrypt } from '../../src/operations/transit/encrypt.ts';
import { remove as deleteKey } from '../../src/operations/transit/keys.ts';
import { declaration as verify } from '../../src/operations/transit/verify.ts';
import { thrownBy } from '../reference/thrown.ts';
import { refusal } from '../refusal.ts';

const JSON_TYPE = 'application/json';
const answered = (status: number, body: string, contentType = JSON_TYPE): WireAnswer => ({
  status,
  contentType,
  body,
});

describe('an answer with a good status', () => {
  const strange: readonly (readonly [string, WireAnswer])[] = [
    ['a page', answered(200, '<h1>Please log in</h1>', 'text/html')],
    ['plain text', answered(200, 'ok', 'text/plain')],
    ['nothing', answered(200, '')],
    ['nothing, as a page', answered(200, '', 'text/html')],
    ['an object of another kind', answered(200, '{}')],
    ['another object of another kind', answered(200, '{"valid":true}')],
    ['a list', answered(200, '[]')],
  ];

  describe.each([
    ['verify', verify],
    ['encrypt', encrypt],
    ['decrypt', decrypt],
    ['delete', deleteKey],
    ['list tags', listTags],
  ] as const)('to %s', (_, operation) => {
    it.each(strange)('is none when it is %s', (_what, answer) => {
      expect(refusal(() => readAnswer(operation, answer))).toMatchObject({
        kind: 'unavailable',
        message: `the server gave an unexpected response (status ${answer.status})`,
      });
    });
  });

  it.each([
    ['without a result', answered(204, '')],
    ['with another result', answered(200, '{"data":{"ciphertext":"service:v1:AAAA"}}')],
    ['with the result in another place', answered(200, '{"valid":true,"data":null}')],
    ['with a result of another form', answered(200, '{"data":["valid"]}')],
  ])('%s does not verify', (_, answer) => {
    expect(refusal(() => readAnswer(verify, answer))).toMatchObject({
      kind: 'unavailable',
      message: `the server gave an unexpected response (status ${answer.status})`,
    });
  });

  it('has a status from 200 to 299: what another one brings is no result', () => {
    const body = '{"data":{"valid":true}}';
    expect(readAnswer(verify, answered(299, body))).toMatchObject({ data: { valid: true } });
    expect(readAnyAnswer({ method: 'POST' } as never, answered(299, body))).toMatchObject({
      data: { valid: true },
    });
    for (const status of [199, 300, 304]) {
      expect(refusal(() => readAnswer(verify, answered(status, body))).kind).toBe('unavailable');
      const ofPath = () => readAnyAnswer({ method: 'POST' } as never, answered(status, body));
      expect(refusal(ofPath).kind).toBe('unavailable');
    }
  });

  it('is read when it is one', () => {
    expect(readAnswer(verify, answered(200, '{"data":{"valid":false}}'))).toEqual({ data: { valid: false } });
    const batch = { batch_results: [{ valid: true }] };
    expect(readAnswer(verify, answered(200, JSON.stringify({ data: batch })))).toEqual({ data: batch });
    expect(readAnswer(deleteKey, answered(204, ''))).toEqual({});
    expect(readAnswer(showMetrics, answered(200, 'up 1\n', 'text/plain'))).toEqual({
      text: { contentType: 'text/plain', body: 'up 1\n' },
    });
  });
});

describe('an answer about a path', () => {
  const read = { method: 'GET', path: 'sys/health', parameters: {} } as const;
  const list = { ...read, method: 'LIST' } as const;

  it('is what stands in its data, or all of it where the server speaks about itself', () => {
    expect(readAnyAnswer(read, answered(200, '{"data":{"a":1}}'))).toMatchObject({ data: { a: 1 } });
    const lease = { request_id: 'r', lease_id: 'database/creds/a/b', lease_duration: 60, renewable: true };
    expect(readAnyAnswer(read, answered(200, JSON.stringify({ data: {}, ...lease })))).toMatchObject({
      envelope: lease,
    });
    expect(readAnyAnswer(read, answered(200, '{"sealed":false}'))).toEqual({ data: { sealed: false } });
    expect(readAnyAnswer(read, answered(200, '{}'))).toEqual({});
    expect(readAnyAnswer(read, answered(204, ''))).toEqual({});
    expect(readAnyAnswer(read, answered(200, 'up 1\n', 'text/plain'))).toEqual({
      text: { contentType: 'text/plain', body: 'up 1\n' },
    });
    expect(readAnyAnswer(read, answered(200, '', 'text/plain'))).toEqual({});
  });

  it('is a list of nothing for a list alone, and only with no reason given', () => {
    const nothing = answered(404, '{"errors":[]}');
    expect(readAnyAnswer(list, nothing)).toEqual({ data: { keys: [] }, nothingListed: true });
    expect(refusal(() => readAnyAnswer(read, nothing))).toMatchObject({ kind: 'not-found' });
    for (const other of [answered(404, '{"errors":["no handler"]}'), answered(403, '{"errors":[]}')])
      expect(refusal(() => readAnyAnswer(list, other))).not.toBeUndefined();
  });

  it('is refused with the text of a page, and with the kind that the server gives', () => {
    expect(refusal(() => readAnyAnswer(read, answered(502, '<h1>Bad</h1>', 'text/html')))).toMatchObject({
      kind: 'unavailable',
      message: 'the server gave an unexpected response (status 502)',
    });
    const told = (coffer: object) => answered(400, JSON.stringify({ errors: ['of the family'], coffer }));
    const detailed = { kind: 'conflict', message: 'ours', field: 'name', hint: 'look' };
    expect(refusal(() => readAnyAnswer(read, told(detailed)))).toMatchObject({
      kind: 'conflict',
      message: 'ours',
      field: 'name',
    });
    for (const other of [{ ...detailed, kind: 'odd' }, { ...detailed, message: 7 }, {}])
      expect(refusal(() => readAnyAnswer(read, told(other)))).toMatchObject({
        kind: 'invalid',
        message: 'of the family',
      });
  });

  it('is a batch with all its results whatever its status, but where there are errors', () => {
    const data = { batch_results: [{ error: 'no' }] };
    expect(readAnyAnswer({ ...read, method: 'POST' }, answered(400, JSON.stringify({ data })))).toMatchObject(
      {
        data,
        failedItems: { statusCode: 400 },
      },
    );
    for (const body of [{ data, errors: ['no'] }, { data: { batch_results: {} } }, { data: [] }]) {
      expect(refusal(() => readAnyAnswer(read, answered(400, JSON.stringify(body)))).kind).toBe('invalid');
    }
    expect(readAnyAnswer(read, answered(299, JSON.stringify({ data }))).failedItems).toBeUndefined();
    expect(readAnyAnswer(read, answered(300, JSON.stringify({ data })))).toMatchObject({
      failedItems: { statusCode: 300 },
    });
  });

  it('has its wrapped answer, its token and its warnings where they are what they are called', () => {
    const told = (members: object) =>
      readAnyAnswer(read, answered(200, JSON.stringify({ data: {}, ...members })));
    const [wrapInfo, auth] = [{ token: 't' }, { client_token: 't' }];
    expect(told({ wrap_info: wrapInfo, auth, warnings: ['w', 1] })).toMatchObject({
      wrapInfo,
      auth,
      warnings: ['w', '1'],
    });
    const without = told({ wrap_info: 'x', auth: [], warnings: 'w', coffer: 'x' });
    expect([without.wrapInfo, without.auth, without.warnings]).toEqual([undefined, undefined, undefined]);
    expect(told({ coffer: { existing: 1, created: true } })).toMatchObject({
      existing: undefined,
      created: true,
    });
  });

  it.each([
    [400, 'cipher: message authentication failed', 'inauthentic'],
    [400, 'path is already in use at a/', 'exists'],
    [400, 'key "a" already exists', 'exists'],
    [400, 'the key "a" already exists', 'invalid'],
    [403, 'x', 'denied'],
    [405, 'x', 'unsupported'],
    [413, 'x', 'too-large'],
    [418, 'x', 'unavailable'],
  ])('is refused by status %i and %j as %s', (status, text, kind) => {
    const error = refusal(() => readAnyAnswer(read, answered(status, JSON.stringify({ errors: [text] }))));
    expect([error.kind, error.message]).toEqual([kind, text]);
  });

  it('is refused with the hint what shows the rights, where a shell takes the path as it is', () => {
    expect(policiesHint('"read"', 'transit/keys/a.b-c_d')).toContain(
      '; "coffer token capabilities transit/keys/a.b-c_d" shows what they grant',
    );
    for (const path of ['a b', 'a$b', "a'b", 'a\nb', '']) {
      expect(policiesHint('"read"', path)).toBe(
        `the token's policies must grant "read" on ${path} for this request`,
      );
    }
  });

  it.each([
    [503, ['Vault is sealed'], 'sealed', 'the server is sealed'],
    [503, ['overloaded'], 'unavailable', 'overloaded'],
    [500, ['Vault is sealed'], 'unavailable', 'Vault is sealed'],
  ])('is refused for status %i and %j as %s', (status, errors, kind, message) => {
    const answer = answered(status, JSON.stringify({ errors }));
    expect(refusal(() => readAnyAnswer(read, answer))).toMatchObject({ kind, message });
  });
});

describe('a refusal of one request too many', () => {
  const asked = { method: 'GET', path: 'transit/keys/a', parameters: {} } as const;

  it.each([
    [{ waitMs: 3_600_000 }, 3600],
    [{ waitMs: 1001 }, 2],
    [{ waitMs: 0 }, 1],
    [{}, 1],
  ])('says when to try again: %j', (told, seconds) => {
    const hint = `try again in ${seconds} s: the server limits the rate of requests`;
    const told429 = (body: string) => ({ ...answered(429, body), ...told });
    const ofData = told429('{"errors":["rate limit quota exceeded"]}');
    const unavailable = { kind: 'unavailable', message: 'rate limit quota exceeded', hint };
    expect(thrownBy(() => readAnyAnswer(asked, ofData))).toMatchObject(unavailable);
    expect(thrownBy(() => readAnswer(encrypt, ofData))).toMatchObject(unavailable);
    const document = told429('{"errors":[{"status":"429","title":"too many requests"}]}');
    expect(thrownBy(() => readAnswer(listTags, document))).toMatchObject({
      message: 'too many requests',
      hint,
    });
    const page = told429('<h1>Slow down</h1>');
    expect(thrownBy(() => readAnswer(encrypt, page))).toMatchObject({
      message: 'the server gave an unexpected response (status 429)',
      hint,
    });
  });
});

describe('a refusal of a request that is too large', () => {
  it('says what is for data of any size', () => {
    const answer = answered(413, '{"errors":["http: request body too large"]}');
    expect(() => readAnswer(encrypt, answer)).toThrow(
      expect.objectContaining({
        kind: 'too-large',
        message: 'http: request body too large',
        hint: expect.stringContaining('coffer transit envelope encrypt'),
      }),
    );
  });
});

describe('an error of a server of another make, about an organization', () => {
  const errorOf = (status: number, body: string) =>
    thrownBy(() => readAnswer(listTags, answered(status, body)));

  it('is told by its detail, or else its title, or else its status', () => {
    const both = '{"errors":[{"status":"422","title":"invalid attribute","detail":"Name is taken"}]}';
    expect(errorOf(422, both)).toMatchObject({ kind: 'invalid', message: 'Name is taken' });
    expect(errorOf(422, '{"errors":[{"title":"invalid attribute"}]}')).toMatchObject({
      message: 'invalid attribute',
    });
    for (const body of ['{}', '{"errors":"none"}', '{"errors":["none"]}', '']) {
      expect(errorOf(500, body)).toMatchObject({
        kind: 'unavailable',
        message: 'the server responded with status 500',
      });
    }
  });

  it('says of what is missing that the token may not be allowed to see it, and of a bad token nothing else', () => {
    const body = '{"errors":[{"title":"not found"}]}';
    expect(errorOf(404, body)).toMatchObject({
      message: 'not found',
      hint: 'it does not exist, or the token is not allowed to see it',
    });
    expect(errorOf(409, body)).toMatchObject({ hint: undefined });
    expect(errorOf(401, body)).toMatchObject({ message: 'the token is missing or not valid' });
  });
});
