import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Answer } from '../../../src/doors/http/exchange.ts';
import type { ClientError } from '../../../src/doors/http/list-method.ts';
import { answerAndHangUp, type BusySocket, hangUp, sendAnswer } from '../../../src/doors/http/send-answer.ts';

/** What a server sends, in the slices in which it does. */
class FakeResponse extends Writable {
  status = 0;
  head: Readonly<Record<string, unknown>> = {};
  readonly slices: number[] = [];
  socket: object | null = null;

  writeHead(status: number, head: Readonly<Record<string, unknown>>): this {
    this.status = status;
    this.head = head;
    return this;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.slices.push(chunk.length);
    done();
  }
}

const asResponse = (response: FakeResponse) => response as unknown as ServerResponse;

async function sent(answer: Answer, isLast = false): Promise<FakeResponse> {
  const response = new FakeResponse();
  sendAnswer(asResponse(response), answer, isLast);
  await vi.waitUntil(() => response.writableFinished, { timeout: 20_000 });
  return response;
}

afterEach(() => {
  vi.useRealTimers();
});

const MIB = 1 << 20;

describe('an answer', () => {
  it('has type and length, and closes the connection if it is the last', async () => {
    const { status, head, slices } = await sent({ status: 201, body: 'é', contentType: 'text/plain' });
    expect([status, head, slices]).toEqual([201, { 'content-type': 'text/plain', 'content-length': 2 }, [2]]);
    const last = await sent({ status: 200, body: 'a', headers: { vary: 'Origin' } }, true);
    expect(last.head).toEqual({ vary: 'Origin', 'content-length': 1, connection: 'close' });
    expect((await sent({ status: 204 })).head).toEqual({});
    expect((await sent({ status: 200, body: '' })).head).toEqual({ 'content-length': 0 });
  });

  it.each<[string, NonNullable<Answer['body']>, number[]]>([
    ['a text of a mebibyte', 'x'.repeat(MIB), [MIB]],
    ['a longer text', 'x'.repeat(MIB + 1), [MIB, 1]],
    ['pieces', [Buffer.alloc(2 * MIB), Buffer.alloc(0), Buffer.alloc(MIB + 2)], [MIB, MIB, MIB, 2]],
    ['no piece', [], []],
  ])('is sent in slices of a mebibyte at most: %s', async (_, body, slices) => {
    const response = await sent({ status: 200, body });
    expect(response.slices).toEqual(slices);
    expect(response.head['content-length']).toBe(slices.reduce((sum, slice) => sum + slice, 0));
  });
});

describe('an answer to a request that is not read to its end', () => {
  function refused(answer: Answer, isBusy = false) {
    const response = new FakeResponse();
    const written: string[] = [];
    const closing: (() => void)[] = [];
    const socket = {
      _httpMessage: isBusy ? {} : response,
      end: (bytes: Buffer) => written.push(bytes.toString()),
      destroy: vi.fn(),
      once: (_event: string, listener: () => void) => closing.push(listener),
    };
    response.socket = socket;
    answerAndHangUp(asResponse(response), answer);
    const close = () => {
      for (const listener of closing) listener();
    };
    return { response, written, socket, close };
  }

  it.each<[Answer, string, string]>([
    [{ status: 413, body: 'é' }, '413 Payload Too Large', 'connection: close\r\ncontent-length: 2\r\n'],
    [{ status: 403, body: [Buffer.from('a'), Buffer.from('b')] }, '403 Forbidden', 'content-length: 2\r\n'],
    [{ status: 404 }, '404 Not Found', 'connection: close\r\ncontent-length: 0\r\n'],
    [{ status: 204, body: '' }, '204 No Content', 'connection: close\r\ncontent-length: 0\r\n'],
    [{ status: 403, contentType: 'text/plain' }, '403 Forbidden', 'content-type: text/plain\r\n'],
    [{ status: 599 }, '599 ', 'connection: close\r\n'],
  ])('is %j as it stands on the wire', (answer, line, head) => {
    const { written } = refused(answer);
    expect(written).toEqual([expect.stringMatching(/\r\nDate: [^\r]+ GMT\r\n\r\n(?:é|ab)?$/)]);
    expect(written[0]).toContain(`HTTP/1.1 ${line}\r\n`);
    expect(written[0]).toContain(head);
  });

  it('has no length where the status has no body', () => {
    expect(refused({ status: 204 }).written[0]).not.toContain('content-length');
  });

  it('waits its turn behind an earlier one, and is the last then', async () => {
    const { response, written, socket } = refused({ status: 403, body: 'no' }, true);
    await vi.waitUntil(() => response.writableFinished, { timeout: 20_000 });
    expect([written, response.status, response.head['connection']]).toEqual([[], 403, 'close']);
    expect(socket.destroy).not.toHaveBeenCalled();
    const gone = new FakeResponse();
    answerAndHangUp(asResponse(gone), { status: 403, body: 'no' });
    expect(gone.status).toBe(403);
  });

  it('may be read for a second, and no longer', () => {
    vi.useFakeTimers();
    const { socket } = refused({ status: 403 });
    vi.advanceTimersByTime(999);
    expect(socket.destroy).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(socket.destroy).toHaveBeenCalledOnce();
    const other = refused({ status: 403 });
    other.close();
    expect(vi.getTimerCount()).toBe(0);
    expect(other.socket.destroy).not.toHaveBeenCalled();
  });
});

describe('a connection with bytes that are no request', () => {
  function ended(error: Partial<ClientError>, socket: object = {}) {
    const written: string[] = [];
    const destroy = vi.fn();
    const whole = { writable: true, write: (text: string) => written.push(text), destroy, ...socket };
    hangUp({ name: 'Error', message: 'no', ...error }, whole as unknown as BusySocket);
    expect(destroy).toHaveBeenCalledOnce();
    return written;
  }
  const busy = (headersSent: boolean, complete: boolean) => ({
    _httpMessage: { headersSent, req: { complete } },
  });

  it.each<[string | undefined, number]>([
    ['HPE_HEADER_OVERFLOW', 431],
    ['ERR_HTTP_REQUEST_TIMEOUT', 408],
    ['HPE_INVALID_METHOD', 400],
    ['EPIPE', 400],
    [undefined, 400],
  ])('is told so before it ends: %s with %i', (code, status) => {
    const [answer = ''] = ended(code === undefined ? {} : { code });
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z].*\r\nConnection: close\r\n`));
    const [, body = ''] = answer.split('\r\n\r\n');
    expect(answer).toContain(`Content-Length: ${Buffer.byteLength(body)}\r\n`);
    expect(JSON.parse(body)).toEqual({ errors: [expect.stringMatching(/^[a-z ]+$/)] });
  });

  it.each<[string, Partial<ClientError>, object]>([
    ['it is reset', { code: 'ECONNRESET' }, {}],
    ['nobody hears', {}, { writable: false }],
    ['an answer has begun', {}, busy(true, false)],
    ['an earlier request is being answered', {}, busy(false, true)],
    ['an answer has begun to a whole request', {}, busy(true, true)],
  ])('ends without a word where %s', (_, error, socket) => {
    expect(ended(error, socket)).toEqual([]);
  });

  it('is told so if the bytes stand in the body of the request at hand, or after all answers', () => {
    expect(ended({}, busy(false, false))).toHaveLength(1);
    expect(ended({}, { _httpMessage: null })).toHaveLength(1);
  });

  it.each<[string | undefined, boolean]>([
    ['GET /api/v2/x HTTP/1.1', true],
    ['LIST /v1/api/v2/x HTTP/1.1', false],
    ['GET  /api/v2/x', false],
    [`${'X'.repeat(60)} /api/v2/x`, false],
    ['', false],
    [undefined, false],
  ])('gets a document of the JSON:API by what it began with: %j', (line, isDocument) => {
    const [answer = ''] = ended(line === undefined ? {} : { rawPacket: Buffer.from(line) });
    expect(answer.includes('Content-Type: application/vnd.api+json')).toBe(isDocument);
  });
});
