import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enableList } from '../../../src/doors/http/list-method.ts';
import { hangUp } from '../../../src/doors/http/send-answer.ts';
import { type Chat, type ChatOptions, chat, type Step } from '../../servers/raw-http.ts';
import { cleanUpAfterAll, selfSigned, temporaryDirectory } from '../../servers/serving.ts';

const digest = (bytes: string | Buffer): string =>
  createHash('sha256').update(bytes).digest('hex').slice(0, 16);

/** Says what it understood: method, path, length and digest of the body, header X-T. */
function echo(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    const body = Buffer.concat(chunks);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const delay = Number(searchParams.get('delay') ?? 0);
    if (delay > 0) await sleep(delay);
    const heard = said(request.method ?? '', pathname, body, String(request.headers['x-t'] ?? ''));
    const text = heard + 'x'.repeat(Number(searchParams.get('big') ?? 0));
    response.setHeader('content-length', text.length);
    response.end(text);
  });
}

const said = (method: string, path: string, body: string | Buffer = '', mark = ''): string =>
  `${method} ${path} ${body.length} ${digest(body)} ${mark};`;

const packet = (method: string, target: string, headers = '', body = ''): string =>
  `${method} ${target} HTTP/1.1\r\nHost: x\r\n${headers}\r\n${body}`;

const withBody = (method: string, target: string, body: string): string =>
  packet(method, target, `Content-Length: ${body.length}\r\n`, body);

const printed = (method: string, target: string, body: string, chunked: boolean): string => {
  if (body === '') return packet(method, target);
  if (!chunked) return withBody(method, target, body);
  const length = body.length.toString(16);
  return packet(method, target, 'Transfer-Encoding: chunked\r\n', `${length}\r\n${body}\r\n0\r\n\r\n`);
};

/** Ends of bodies that may be taken for a part of the word behind them. */
const tails = ['UNLIST', 'LIST'].flatMap((word) => Array.from(word, (_, index) => word.slice(0, index + 1)));

/** What was understood, without the padding of large answers. */
const understood = ({ answers }: Chat): readonly string[] =>
  answers.map(({ status, body }) => (status === 200 ? body.replace(/;x*$/, ';') : String(status)));

describe.each([
  ['HTTP', false],
  ['HTTPS', true],
])('the method LIST over %s', (_name, secure) => {
  const afterwards = cleanUpAfterAll();
  let server: Server;
  let port: number;

  beforeAll(async () => {
    if (secure) {
      const { pem, keyFile } = selfSigned(temporaryDirectory(afterwards));
      server = createSecureServer({ cert: pem, key: readFileSync(keyFile) }, echo);
    } else server = createServer(echo);
    enableList(server, hangUp);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const talk = (steps: readonly Step[], options: Omit<ChatOptions, 'port' | 'secure'> = {}) =>
    chat(steps, { port, secure, ...options });
  const address = () => `${secure ? 'https' : 'http'}://127.0.0.1:${port}`;

  describe('from curl', () => {
    const curl = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)('curl', ['-sk', '-m', '30', '-X', 'LIST', ...args])).stdout;

    it('is understood without a body', async () => {
      expect(await curl(`${address()}/v1/transit/keys`)).toBe(said('LIST', '/v1/transit/keys'));
    });

    it('is understood with a body that waits for 100-continue', async () => {
      expect(await curl('-H', 'Expect: 100-continue', '-d', 'hello', `${address()}/e`)).toBe(
        said('LIST', '/e', 'hello'),
      );
    });

    it('is understood again and again on one connection', async () => {
      // After each answer, how many connections were made for it.
      const both = await curl('-w', '%{num_connects}\n', `${address()}/one`, `${address()}/two`);
      expect(both).toBe(`${said('LIST', '/one')}1\n${said('LIST', '/two')}0\n`);
    });
  });

  it('takes turns with other methods on a kept connection', async () => {
    const methods = ['GET', 'LIST', 'POST', 'LIST', 'GET', 'PUT', 'LIST', 'DELETE'];
    const hasBody = (method: string) => method === 'POST' || method === 'PUT';
    const steps = methods.flatMap((method, index): Step[] => [
      hasBody(method) ? withBody(method, `/k${index}`, 'LIST ') : packet(method, `/k${index}`),
      { untilAnswers: index + 1 },
    ]);
    const talked = await talk(steps, { answers: methods.length, gapMs: 0 });
    expect(understood(talked)).toEqual(
      methods.map((method, index) => said(method, `/k${index}`, hasBody(method) ? 'LIST ' : '')),
    );
    expect(talked.closed).toBe(false);
  });

  const pipelined: readonly (readonly [string, readonly Step[], readonly string[]])[] = [
    [
      'in one packet',
      [packet('GET', '/a') + packet('LIST', '/b') + packet('GET', '/c')],
      [said('GET', '/a'), said('LIST', '/b'), said('GET', '/c')],
    ],
    [
      'behind a slow answer',
      [packet('GET', '/a?delay=100') + packet('LIST', '/b') + packet('GET', '/c')],
      [said('GET', '/a'), said('LIST', '/b'), said('GET', '/c')],
    ],
    [
      'in packets of their own, all slow',
      [packet('GET', '/a?delay=100'), packet('LIST', '/b?delay=40'), packet('GET', '/c')],
      [said('GET', '/a'), said('LIST', '/b'), said('GET', '/c')],
    ],
    [
      'beside LINK, the method that the parser knows',
      [
        withBody('POST', '/a', 'abc LIS') +
          packet('LIST', '/b') +
          packet('LINK', '/l') +
          packet('LIST', '/c'),
      ],
      [said('POST', '/a', 'abc LIS'), said('LIST', '/b'), said('LINK', '/l'), said('LIST', '/c')],
    ],
    [
      'with a body of known length',
      [withBody('LIST', '/b', 'hello LIST x') + packet('GET', '/c')],
      [said('LIST', '/b', 'hello LIST x'), said('GET', '/c')],
    ],
    [
      'with a body in two packets',
      [packet('LIST', '/b', 'Content-Length: 12\r\n', 'hello'), ` LIST x${packet('LIST', '/c')}`],
      [said('LIST', '/b', 'hello LIST x'), said('LIST', '/c')],
    ],
    [
      'with a chunked body',
      [
        packet('LIST', '/b', 'Transfer-Encoding: chunked\r\n', '5\r\nLIST \r\n0\r\n\r\n') +
          packet('GET', '/c'),
      ],
      [said('LIST', '/b', 'LIST '), said('GET', '/c')],
    ],
    [
      'after chunks that look like it',
      [
        packet('POST', '/p', 'Transfer-Encoding: chunked\r\n'),
        '5\r\nLIST \r\n',
        '6\r\nLIST /\r\n',
        `0\r\n\r\n${packet('LIST', '/q')}`,
      ],
      [said('POST', '/p', 'LIST LIST /'), said('LIST', '/q')],
    ],
    [
      'not where a body begins with its letters',
      [packet('POST', '/p', 'Content-Length: 10\r\n'), 'LIST ', 'LIST '],
      [said('POST', '/p', 'LIST LIST ')],
    ],
  ];

  it.each(pipelined)('is found in a stream of requests %s', async (_where, steps, expected) => {
    const talked = await talk(steps, { answers: expected.length });
    expect(understood(talked)).toEqual(expected);
    expect(talked.closed).toBe(false);
  });

  it.each(tails)('is found behind a body that ends in %j, in one packet and over two', async (tail) => {
    for (const body of [tail, `${tail}${tail}`, `{"a":"${tail}"}${tail}`, `\r\n\r\n${tail}`]) {
      const post = withBody('POST', '/p', body);
      const expected = [said('POST', '/p', body), said('LIST', '/b')];
      for (const steps of [
        [post + packet('LIST', '/b')],
        [post.slice(0, -body.length), body + packet('LIST', '/b')],
        [post.slice(0, -1), body.slice(-1) + packet('LIST', '/b')],
      ]) {
        expect(understood(await talk(steps, { answers: 2 }))).toEqual(expected);
      }
    }
  });

  it('is found wherever a stream of requests is cut, but within the first two letters of a word', async () => {
    const requests = fc.array(
      fc.record({
        method: fc.constantFrom('LIST', 'POST', 'GET'),
        body: fc.array(fc.constantFrom(...tails, 'x', '\r\n', '{}'), { maxLength: 3 }),
        chunked: fc.boolean(),
      }),
      { minLength: 2, maxLength: 5 },
    );
    const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(requests, cuts, async (asked, fractions) => {
        let stream = '';
        const hidden = new Set<number>();
        const expected = asked.map(({ method, body, chunked }, index) => {
          const sent = method === 'GET' ? '' : body.join('');
          if (method === 'LIST') for (const letters of [1, 2]) hidden.add(stream.length + letters);
          stream += printed(method, `/${index}`, sent, chunked);
          return said(method, `/${index}`, sent);
        });
        const places = new Set(fractions.map((fraction) => Math.floor(fraction * stream.length)));
        const borders = [0, ...[...places].filter((at) => !hidden.has(at)), stream.length].sort(
          (a, b) => a - b,
        );
        const steps = borders.slice(1).map((end, index) => stream.slice(borders[index], end));
        const talked = await talk(
          steps.filter((step) => step !== ''),
          { answers: expected.length, patienceMs: 15_000 },
        );
        expect(understood(talked)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  it('is found two thousand times in one packet', async () => {
    const talked = await talk([packet('LIST', '/a').repeat(2000)], { answers: 2000, patienceMs: 15_000 });
    expect(talked.answers).toHaveLength(2000);
    expect(new Set(understood(talked))).toEqual(new Set([said('LIST', '/a')]));
  });

  it('alternates with GET a thousand times in one packet', async () => {
    const talked = await talk([(packet('GET', '/a') + packet('LIST', '/a')).repeat(1000)], {
      answers: 2000,
      patienceMs: 15_000,
    });
    expect(understood(talked)).toEqual(
      Array.from({ length: 2000 }, (_, index) => said(index % 2 === 0 ? 'GET' : 'LIST', '/a')),
    );
  });

  it('is found behind answers that fill the connection', async () => {
    const talked = await talk(
      [packet('GET', '/a?big=300000').repeat(40) + packet('LIST', '/b') + packet('GET', '/c')],
      { answers: 42, patienceMs: 15_000 },
    );
    expect(understood(talked).slice(-2)).toEqual([said('LIST', '/b'), said('GET', '/c')]);
    expect(talked.answers).toHaveLength(42);
  });

  it('may itself have answers that fill the connection', async () => {
    const talked = await talk(
      [(packet('GET', '/a?big=300000') + packet('LIST', '/b?big=100000')).repeat(20)],
      {
        answers: 40,
        patienceMs: 15_000,
      },
    );
    expect(understood(talked)).toEqual(
      Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? said('GET', '/a') : said('LIST', '/b'))),
    );
  });

  it.each([3, 4, 5, 6, 12])('is found when its packet is cut after %i bytes', async (cut) => {
    const whole = packet('LIST', '/s', 'X-T: q\r\n');
    const alone = await talk([whole.slice(0, cut), whole.slice(cut)], { answers: 1 });
    expect(understood(alone)).toEqual([said('LIST', '/s', '', 'q')]);
    const between = await talk(
      [packet('GET', '/g') + whole.slice(0, cut), whole.slice(cut) + packet('GET', '/h')],
      {
        answers: 3,
      },
    );
    expect(understood(between)).toEqual([said('GET', '/g'), said('LIST', '/s', '', 'q'), said('GET', '/h')]);
  });

  it.each([1, 2])(
    'is refused when its packet is cut after %i bytes: they can not be seen again',
    async (cut) => {
      const whole = packet('LIST', '/s');
      const talked = await talk([whole.slice(0, cut), whole.slice(cut)]);
      expect(understood(talked)).toEqual(['400']);
      expect(talked.closed).toBe(true);
    },
  );

  it('is not mistaken in a large body that consists of it', async () => {
    const body = packet('LIST', '/v1/x').repeat(40_000);
    const talked = await talk([withBody('POST', '/p', body), packet('LIST', '/z')], {
      answers: 2,
      patienceMs: 15_000,
    });
    expect(understood(talked)).toEqual([said('POST', '/p', body), said('LIST', '/z')]);
  });

  it('obeys HTTP/1.0, Connection: close and the end of the connection as GET does', async () => {
    const closing = await talk([packet('LIST', '/cl', 'Connection: close\r\n')]);
    expect([understood(closing), closing.closed]).toEqual([[said('LIST', '/cl')], true]);
    const ended = await talk([packet('LIST', '/fin')], { finish: true });
    expect(understood(ended)).toEqual([said('LIST', '/fin')]);
    const list = await talk(['LIST /ten HTTP/1.0\r\n\r\n']);
    const get = await talk(['GET /ten HTTP/1.0\r\n\r\n']);
    expect(understood(list)).toEqual([said('LIST', '/ten')]);
    expect(list.closed).toBe(get.closed);
  });

  it('is served when it asks for an upgrade that nobody offers', async () => {
    const talked = await talk([packet('LIST', '/up', 'Connection: Upgrade\r\nUpgrade: foo\r\n')], {
      answers: 1,
    });
    expect(understood(talked)).toEqual([said('LIST', '/up')]);
  });

  it.each([
    'LISTX /a',
    'UNLIST /a',
    'LISK /a',
    'LIS /a',
    'list /a',
    'GEST /a',
    'XLIST /a',
    'LIST\t/a',
    'LISTST /a',
    'LIST',
    'BIST /a',
    'COST /a',
  ])('is not what %j says', async (line) => {
    const talked = await talk([`${line} HTTP/1.1\r\nHost: x\r\n\r\n`]);
    expect(understood(talked)).toEqual(['400']);
    expect(talked.closed).toBe(true);
  });

  it.each(['abcd', 'abUN', 'UNUN', '\r\n'])('is not what UNLIST behind the body %j says', async (body) => {
    const talked = await talk([`${withBody('POST', '/p', body)}UNLIST /a HTTP/1.1\r\nHost: x\r\n\r\n`]);
    expect(understood(talked)).not.toContainEqual(expect.stringMatching(/^LIST/));
    expect(talked.closed).toBe(true);
  });

  it.each([
    ['LISTX', ' /a HTTP/1.1\r\n\r\n'],
    ['LIS', 'K /a HTTP/1.1\r\n\r\n'],
    ['LIST', 'ST /a HTTP/1.1\r\n\r\n'],
    ['GE', `ST /a HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['GE', `LIST /a HTTP/1.1\r\nHost: x\r\n\r\n`],
  ])('is not what %j followed by %j says', async (first, second) => {
    const talked = await talk([first, second]);
    expect(understood(talked)).not.toContain(expect.stringMatching(/^LIST/));
    expect(talked.closed).toBe(true);
  });

  it('is refused like any other method without Host, with too many headers, or with two lengths', async () => {
    expect(understood(await talk(['LIST /nohost HTTP/1.1\r\n\r\n']))).toEqual(['400']);
    const long = await talk([packet('LIST', '/big', `X-T: ${'y'.repeat(20_000)}\r\n`)]);
    expect(understood(long)).toEqual(['431']);
    const both = 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n';
    const smuggled = await talk([packet('LIST', '/sm', both, '0\r\n\r\n')]);
    expect(understood(smuggled)).toEqual(['400']);
    expect(smuggled.closed).toBe(true);
  });
});

it('a connection is idle after an answer to LIST, so that closing the server closes it', async () => {
  const server = createServer(echo);
  enableList(server, hangUp);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  let closed: Promise<unknown> | undefined;
  const closeServer = () => {
    closed = new Promise((resolve) => server.close(resolve));
  };
  const talked = await chat([packet('LIST', '/idle'), { untilAnswers: 1 }, { run: closeServer }], { port });
  expect(talked.closed).toBe(true);
  await closed;
});
