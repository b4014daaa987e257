import { connect } from 'node:net';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { anyText } from '../../any-text.ts';
import { rounds } from '../../long.ts';
import { chat, type Step } from '../../servers/raw-http.ts';
import { cleanUpAfterAll, issueToken, send, startServer, type TestServer } from '../../servers/serving.ts';

const LIMIT = 64 * 1024;

let server: TestServer;
let port: number;
const afterwards = cleanUpAfterAll();
beforeAll(async () => {
  server = await startServer({ maxRequestBytes: LIMIT }, afterwards);
  port = Number(new URL(server.address).port);
});

const call = (method: string, path: string, body?: unknown) =>
  send(server.address, method, path, { token: server.token, body });

/** Nothing that was sent may have hurt: the server goes on, and nothing went wrong that nobody foresaw. */
const expectUnharmed = async () => {
  expect(await send(server.address, 'GET', '/v1/sys/health')).toMatchObject({ status: 200 });
  expect(server.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
};

const post = (body: string, headers = ''): string =>
  `POST /v1/transit/hash HTTP/1.1\r\nHost: x\r\n${headers}` +
  `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

describe('bodies of bad requests', () => {
  it.each<[string, string, number, string | undefined]>([
    ['malformed JSON', '{"input":', 400, 'failed to decode JSON input: the body is not valid JSON'],
    ['two objects', '{}{}', 400, 'failed to decode JSON input: the body is not valid JSON'],
    ['an array', '[]', 400, 'failed to decode JSON input: the body is not an object'],
    [
      'deep nesting',
      `{"a":${'['.repeat(30_000)}`,
      400,
      'failed to decode JSON input: nested more than 300 levels deep',
    ],
    ['invalid UTF-8 in a name', '{"\uFFFD":1,"input":""}', 200, undefined],
    ['a member twice', '{"input":"!","input":""}', 200, undefined],
    ['unknown members', '{"input":"","x":{"y":[1]}}', 200, undefined],
    ['__proto__', '{"__proto__":{"input":"AA=="},"constructor":{"prototype":1},"input":""}', 200, undefined],
    ['a gigantic number', '{"input":"","format":1e999}', 400, undefined],
    ['an object for a text', '{"input":{}}', 400, undefined],
    ['null', '{"input":null}', 200, undefined],
  ])('with %s get their status', async (_what, body, status, text) => {
    const reply = await call('POST', '/v1/transit/hash', body);
    expect(reply.status).toBe(status);
    if (text !== undefined) expect(reply.json).toEqual({ errors: [text] });
    expect(reply.text).not.toMatch(/\bat \w|\.ts:|node_modules/);
    await expectUnharmed();
  });

  it('give no key a version or a name of their own', async () => {
    await call('POST', '/v1/transit/keys/polluted', '{"__proto__":{"exportable":true},"derived":false}');
    const { json } = await call('GET', '/v1/transit/keys/polluted');
    expect([json.data.exportable, json.data.name]).toEqual([false, 'polluted']);
  });

  it.each<[string, unknown]>([
    ['12345678901234567890', 12345678901234567890n],
    ['1e400', Number.POSITIVE_INFINITY],
    ['-1', -1],
    ['1.5', 1.5],
    ['"0x"', '0x'],
    ['{}', {}],
  ])('with the number %s where a small one belongs are refused', async (text) => {
    const reply = await call('POST', '/v1/transit/random', `{"bytes":${text}}`);
    expect(reply.status).toBe(400);
    await expectUnharmed();
  });

  it('are read up to the limit, and refused with 413 from one byte more', async () => {
    const sized = (bytes: number) => {
      const frame = '{"input":""}';
      return `{"input":"${'A'.repeat(bytes - frame.length)}"}`;
    };
    const fits = sized(LIMIT - ((LIMIT - 12) % 4));
    expect((await call('POST', '/v1/transit/hash', fits)).status).toBe(200);
    const over = await call('POST', '/v1/transit/hash', `${sized(LIMIT)} `);
    expect(over).toMatchObject({ status: 413, json: { errors: ['http: request body too large'] } });
    const much = await call('POST', '/v1/transit/hash', sized(8_000_000));
    expect(much).toMatchObject({ status: 413, json: { errors: ['http: request body too large'] } });
    const document = await send(server.address, 'POST', '/api/v2/organizations', {
      token: server.token,
      body: 'x'.repeat(LIMIT + 1),
      headers: { 'content-type': 'application/vnd.api+json' },
    });
    expect(document).toMatchObject({ status: 413, json: { errors: [{ status: '413' }] } });
    await expectUnharmed();
  });

  it('that come in chunks are held to the same limit', async () => {
    const chunk = `${(0x4000).toString(16)}\r\n${'a'.repeat(0x4000)}\r\n`;
    const token = `X-Service-Token: ${server.token}`;
    const head = `POST /v1/transit/hash HTTP/1.1\r\nHost: x\r\n${token}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const { answers } = await chat([head + chunk.repeat(5)], { port, answers: 1 });
    expect(answers[0]).toMatchObject({ status: 413, body: '{"errors":["http: request body too large"]}\n' });
    await expectUnharmed();
  });
});

describe('requests that are no HTTP', () => {
  const both = 'Transfer-Encoding: chunked\r\n';
  it.each<[string, Step]>([
    ['with both ways to give a length', post('{}', both)],
    ['with two lengths', post('{}', 'Content-Length: 7\r\n')],
    ['with a length that is no number', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1x\r\n\r\n'],
    ['with a negative length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
    ['with a length in hexadecimal', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x2\r\n\r\n{}'],
    ['with a space before a colon', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['with a bare line feed in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX: a\nY: b\r\n\r\n'],
    ['with a NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n'],
    ['with a folded line', 'GET /v1/sys/health HTTP/1.1\r\nHost: x\r\nX-Vault-Token: a\r\n b\r\n\r\n'],
    ['without a host', 'GET /v1/sys/health HTTP/1.1\r\n\r\n'],
    ['of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['of TLS', Buffer.from('16030100fa010000f60303', 'hex')],
    ['of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['with a chunk that is no number', `POST / HTTP/1.1\r\nHost: x\r\n${both}\r\nzz\r\n\r\n`],
  ])('%s are refused and cut off', async (_what, bytes) => {
    const { answers, closed } = await chat([bytes], { port });
    expect(answers.map(({ status }) => status)).toEqual([400]);
    expect(closed).toBe(true);
    await expectUnharmed();
  });

  it('with heads that are too long get 431 in the form of other errors', async () => {
    const { answers } = await chat([`GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`], {
      port,
    });
    expect(answers).toMatchObject([
      { status: 431, body: '{"errors":["request header fields too large"]}\n' },
    ]);
    await expectUnharmed();
  });

  it('never smuggle a second request in the body of the first', async () => {
    const hidden = 'GET /v1/sys/leader HTTP/1.1\r\nHost: x\r\n\r\n';
    const token = `X-Service-Token: ${server.token}\r\n`;
    for (const [headers, status] of [
      [token, 400],
      ['', 403],
    ] as const) {
      const request = post(JSON.stringify({ input: '' }) + hidden, headers);
      const { answers } = await chat([request], { port, finish: true });
      expect(answers.map((answer) => answer.status)).toEqual([status]);
    }
  });

  it('may have a target of another scheme, for which nothing is there', async () => {
    const { answers } = await chat([`GET ftp://other/v1/sys/health HTTP/1.1\r\nHost: x\r\n\r\n`], {
      port,
      answers: 1,
    });
    expect(answers.map(({ status }) => status)).toEqual([404]);
  });
});

describe('callers that do not wait', () => {
  it('may hang up in the middle of a request or before the answer', async () => {
    for (const bytes of [
      post('{"input":""}').slice(0, 60),
      post('{"input":""}').slice(0, -3),
      post('{"input":""}'),
    ]) {
      const socket = connect(port, '127.0.0.1');
      await new Promise((written) => socket.write(bytes, written));
      // What came before this request has then been read.
      await expectUnharmed();
      socket.resetAndDestroy();
    }
    await expectUnharmed();
  });

  it('may bring an expired or a revoked token', async () => {
    const brief = await issueToken(server.directory, { ttl: '1s' });
    const revoked = await issueToken(server.directory, {});
    expect((await send(server.address, 'GET', '/v1/sys/mounts', { token: revoked })).status).toBe(200);
    await send(server.address, 'POST', '/v1/auth/token/revoke', {
      token: server.token,
      body: { token: revoked },
    });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1_001 });
    onTestFinished(() => void vi.useRealTimers());
    for (const token of [brief, revoked]) {
      expect(await send(server.address, 'GET', '/v1/sys/mounts', { token })).toMatchObject({
        status: 403,
        json: { errors: ['permission denied'] },
      });
      const document = await send(server.address, 'GET', '/api/v2/organizations', { token });
      expect(document.status).toBe(401);
    }
  });
});

describe('whatever bytes come', () => {
  it('the server answers with a status below 500, or hangs up, and goes on', async () => {
    const word = fc.oneof(
      fc.constantFrom(
        'GET',
        'LIST',
        'POST',
        'LI',
        'ST',
        ' ',
        '/v1/',
        '/api/v2/',
        'transit/keys',
        '\r\n',
        ':',
        '\0',
      ),
      fc.constantFrom(
        'HTTP/1.1',
        'Host: x',
        'Content-Length: 5',
        'Transfer-Encoding: chunked',
        '{"',
        '%',
        '..',
      ),
      anyText({ maxLength: 20 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 30 }), async (words) => {
        const { answers } = await chat([Buffer.from(words.join(''))], {
          port,
          gapMs: 0,
          patienceMs: 25,
          finish: true,
        });
        for (const { status } of answers) expect(status).toBeLessThan(500);
      }),
      { numRuns: 100 },
    );
    await expectUnharmed();
  });

  it('a path of any form gets an answer below 500', async () => {
    const segment = fc.oneof(
      fc.constantFrom(
        'v1',
        'api',
        'v2',
        'transit',
        'keys',
        'sys',
        'mounts',
        'encrypt',
        '..',
        '.',
        '',
        '%2e',
        '%00',
      ),
      fc.webSegment(),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'DELETE', 'LIST', 'PATCH'),
        fc.array(segment, { maxLength: 6 }),
        fc.constantFrom('', '?list=true', '?list=x', '?a=1&a=2&__proto__=3'),
        async (method, segments, query) => {
          const reply = await call(method, `/${segments.join('/')}${query}`);
          expect(reply.status).toBeLessThan(500);
        },
      ),
      { numRuns: rounds(300) },
    );
    await expectUnharmed();
  });
});
