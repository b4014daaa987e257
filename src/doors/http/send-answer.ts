import { type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Answer } from './exchange.ts';
import { errorDocument, JSON_API_PREFIX } from './json-api/json-api.ts';
import type { ClientError } from './list-method.ts';
import { errorBody, JSON_TYPE } from './vault/envelope.ts';

/**
 * Size of slices in which larger responses are sent, in bytes, so that encrypting them for TLS does not block other
 * requests.
 */
const SLICE_BYTES = 1 << 20;

/**
 * Sends a response.
 * @param isLast whether to close the connection after it
 */
export function sendAnswer(response: ServerResponse, answer: Answer, isLast: boolean): void {
  const { status, body } = answer;
  const head = headOf(answer);
  if (isLast) head['connection'] = 'close';
  if (typeof body === 'string' && body.length <= SLICE_BYTES) {
    head['content-length'] = Buffer.byteLength(body);
    response.writeHead(status, head).end(body);
  } else if (body === undefined) {
    response.writeHead(status, head).end();
  } else {
    const pieces = typeof body === 'string' ? [Buffer.from(body)] : body;
    head['content-length'] = pieces.reduce((sum, piece) => sum + piece.length, 0);
    response.writeHead(status, head);
    // If the client disconnects, the rest is discarded; nothing else is affected.
    pipeline(Readable.from(slicesOf(pieces)), response).catch(() => undefined);
  }
}

function headOf({ contentType, headers }: Answer): OutgoingHttpHeaders {
  return contentType === undefined ? { ...headers } : { ...headers, 'content-type': contentType };
}

function* slicesOf(pieces: readonly Buffer[]): Generator<Buffer> {
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += SLICE_BYTES) {
      yield piece.subarray(start, start + SLICE_BYTES);
    }
  }
}

/**
 * Time in milliseconds for a client to read its response before the connection is closed; Go's servers use half of it.
 */
const LINGER_MS = 1000;

/**
 * Answers a request without reading the rest of a large body, and closes the connection. Closing it at once would reset
 * it, because of the unread bytes, and the response might be lost; so only our side is closed first.
 * @see docs/decisions/0068
 */
export function answerAndHangUp(response: ServerResponse, answer: Answer): void {
  const socket: BusySocket | null = response.socket;
  // An earlier request on the same connection has not been answered yet.
  if (socket === null || socket._httpMessage !== response) {
    sendAnswer(response, answer, true);
    return;
  }
  socket.end(printWhole(answer));
  const linger = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(linger));
}

function printWhole(answer: Answer): Buffer {
  const { status, body = '' } = answer;
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.concat(body);
  const head: OutgoingHttpHeaders = { ...headOf(answer), connection: 'close' };
  if (answer.body !== undefined || status !== 204) head['content-length'] = bytes.length;
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  const date = new Date().toUTCString();
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}Date: ${date}\r\n\r\n`),
    bytes,
  ]);
}

const STATUS_OF: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Connection with its current response, an internal property of Node. */
export interface BusySocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
}

/** Responds to malformed HTTP in the form of every other error, then closes the connection. */
export function hangUp(error: ClientError, socket: BusySocket): void {
  const canAnswer = socket.writable && isOurTurn(socket) && error.code !== 'ECONNRESET';
  if (canAnswer) socket.write(printAnswer(STATUS_OF[error.code ?? ''] ?? 400, isForDocuments(error)));
  socket.destroy(error);
}

/**
 * Whether a response written now would belong to the malformed request: not while an earlier one is still being
 * answered, unless the malformed bytes are in its body.
 */
function isOurTurn({ _httpMessage: answer }: BusySocket): boolean {
  return !answer || (!answer.headersSent && !answer.req.complete);
}

/** Whether a client of the JSON:API reads the response, by the first line of the request as far as received. */
const isForDocuments = ({ rawPacket }: ClientError): boolean =>
  rawPacket?.subarray(0, FIRST_LINE_BYTES).toString('latin1').split(' ')[1]?.startsWith(JSON_API_PREFIX) ??
  false;

const FIRST_LINE_BYTES = 64;

function printAnswer(status: number, isDocument: boolean): string {
  const reason = STATUS_CODES[status] ?? '';
  const answer = isDocument ? errorDocument(status) : errorBody(status, [reason.toLowerCase()]);
  const body = String(answer.body);
  return [
    `HTTP/1.1 ${status} ${reason}`,
    'Connection: close',
    `Content-Type: ${answer.contentType ?? JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
